package kill

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

const (
	hookViewers = 8
	hookLimit   = 100 // views of a push
)

// TestEachCountedViewIsReportedAndNoOther kills a server PUSHBOX_TEST_HOOK_KILLS times
// while pushes are viewed. In the end the webhook's receiver must have a message about
// each counted view, and about no other.
func TestEachCountedViewIsReportedAndNoOther(t *testing.T) {
	t.Parallel()
	kills, seed := env.Length(t, "PUSHBOX_TEST_HOOK_KILLS"), env.Seed(t)
	heard := &hookReceiver{rng: rand.New(rand.NewPCG(seed, 2)), reported: make(map[string]map[int]string)}
	receiver := httptest.NewServer(heard)
	defer receiver.Close()
	dir := t.TempDir()
	environ := []string{"PUSHBOX_WEBHOOKS_ALLOW=127.0.0.0/8", "PUSHBOX_LIMITS_TOKEN_PER_MINUTE=0", "PUSHBOX_LIMITS_ANONYMOUS_PER_MINUTE=0"}
	bearer := proctest.APIToken(t, dir)
	addHook(t, dir, environ, receiver.URL)

	a := &viewers{bearer: bearer, views: make(map[string]int)}
	rng := rand.New(rand.NewPCG(seed, 1))
	for range kills {
		server := proctest.StartServer(t, dir, environ...)
		a.Reach(server.URL)
		var all sync.WaitGroup
		for range hookViewers {
			all.Go(func() {
				if err := a.watch(); !errors.Is(err, proctest.ErrCut) {
					t.Error(err)
				}
			})
		}
		before := a.delivered()
		env.Eventually(t, "a view is delivered", func() bool { return a.delivered() > before })
		time.Sleep(time.Duration(rng.Int64N(int64(400 * time.Millisecond)))) // so that the load continues
		a.Killed.Store(true)
		server.KillNow()
		all.Wait()
		if t.Failed() {
			return
		}
	}
	server := proctest.StartServer(t, dir, environ...)
	a.Reach(server.URL)
	counted := a.counted(t)
	heard.wait(counted)
	server.Stop()
	proctest.CheckFile(t, dir)
	heard.compare(t, counted)
}

// addHook adds a webhook for views to the account of proctest.APIToken.
func addHook(t *testing.T, dir string, environ []string, url string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "pushbox", "webhook", "add", "ann@example.com", url, "--event", "view")
	cmd.Dir, cmd.Env = dir, append(proctest.LoadEnviron(), environ...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// viewers create pushes and view them.
type viewers struct {
	proctest.Caller
	bearer string

	mu    sync.Mutex
	views map[string]int // delivered views, by url_token
}

// delivered is how many views were delivered so far.
func (a *viewers) delivered() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, views := range a.views {
		n += views
	}
	return n
}

// watch creates and views pushes until the server is cut off.
func (a *viewers) watch() error {
	for {
		var made, got proctest.Record
		in := map[string]proctest.NewPush{"push": {Payload: "seen", Views: hookLimit}}
		if err := a.Call(http.MethodPost, proctest.PushesPath, a.bearer, in, http.StatusCreated, &made); err != nil {
			return err
		}
		token := made.Token
		a.mu.Lock()
		a.views[token] = 0
		a.mu.Unlock()
		for range 20 {
			if err := a.Call(http.MethodGet, proctest.PushesPath+"/"+token, "", nil, http.StatusOK, &got); err != nil {
				return err
			}
			a.mu.Lock()
			a.views[token]++
			a.mu.Unlock()
		}
	}
}

// counted returns the views that each push counts: at least those that were delivered.
func (a *viewers) counted(t *testing.T) map[string]int {
	t.Helper()
	counted, delivered, all := make(map[string]int), 0, 0
	for token, views := range a.views {
		var p struct {
			Remaining int `json:"views_remaining"`
		}
		env.OK(t, a.Call(http.MethodGet, proctest.PushesPath+"/"+token, a.bearer, nil, http.StatusOK, &p))
		counted[token] = hookLimit - p.Remaining
		if counted[token] < views {
			t.Errorf("P3: %d views are counted, %d were delivered", counted[token], views)
		}
		delivered, all = delivered+views, all+counted[token]
	}
	t.Logf("%d pushes, %d views delivered, %d counted", len(counted), delivered, all)
	return counted
}

// A hookReceiver receives the messages of a webhook and keeps them. It refuses one of
// them at first.
type hookReceiver struct {
	mu       sync.Mutex
	rng      *rand.Rand
	reported map[string]map[int]string // url_token → number of the view → ID of the message
	repeated int                       // repeated messages
	odd      []string

	failed string // ID of the message that was refused at first
}

// ServeHTTP receives a message.
func (h *hookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var m struct {
		Event string
		Token string `json:"url_token"`
		Views int
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil { // the server was killed
		return
	}
	if err := json.Unmarshal(body, &m); err != nil || m.Event != "view" || m.Token == "" {
		h.odd = append(h.odd, string(body))
		return
	}
	id := r.Header.Get("Webhook-Id")
	if h.reported[m.Token] == nil {
		h.reported[m.Token] = make(map[int]string)
	}
	switch before, again := h.reported[m.Token][m.Views]; {
	case !again:
		h.reported[m.Token][m.Views] = id
	case before == id:
		h.repeated++
	default:
		h.odd = append(h.odd, fmt.Sprintf("view %d came as %s and as %s", m.Views, before, id))
	}
	if h.failed == "" && h.rng.IntN(100) == 0 {
		h.failed = id
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// wait waits until as many views were reported as are counted.
func (h *hookReceiver) wait(counted map[string]int) {
	for end := time.Now().Add(proctest.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		h.mu.Lock()
		all := true
		for token, n := range counted {
			all = all && len(h.reported[token]) >= n
		}
		h.mu.Unlock()
		if all {
			return
		}
	}
}

// compare fails the test unless exactly the counted views were reported.
func (h *hookReceiver) compare(t *testing.T, counted map[string]int) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for token, n := range counted {
		for view := 1; view <= n; view++ {
			if h.reported[token][view] == "" {
				t.Errorf("view %d of %d was not reported", view, n)
			}
		}
		if len(h.reported[token]) > n {
			t.Errorf("%d views were reported, %d are counted", len(h.reported[token]), n)
		}
	}
	for token := range h.reported {
		if _, known := counted[token]; !known { // its create was not answered
			t.Error("views of an unknown push were reported")
		}
	}
	if len(h.odd) > 0 {
		t.Errorf("also reported: %s", strings.Join(h.odd, "\n"))
	}
	t.Logf("%d messages came again", h.repeated)
}
