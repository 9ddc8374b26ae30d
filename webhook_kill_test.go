package main

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

	"pushbox/internal/testenv"
)

const (
	hookViewers = 8
	hookLimit   = 100 // views of a push
)

// TestEachCountedViewIsToldAndNoOther kills a server again and again while pushes are
// viewed, as often as PUSHBOX_TEST_HOOK_KILLS says. In the end the receiver of a
// webhook must have been told of each view that is counted, and of no other.
func TestEachCountedViewIsToldAndNoOther(t *testing.T) {
	t.Parallel()
	kills, seed := testenv.Length(t, "PUSHBOX_TEST_HOOK_KILLS", 6, 2), testenv.Seed(t)
	heard := newHeard(seed)
	receiver := httptest.NewServer(heard)
	defer receiver.Close()
	dir := t.TempDir()
	environ := []string{"PUSHBOX_WEBHOOKS_ALLOW=127.0.0.0/8", "PUSHBOX_LIMITS_TOKEN_PER_MINUTE=0", "PUSHBOX_LIMITS_ANONYMOUS_PER_MINUTE=0"}
	bearer := apiToken(t, dir)
	addHook(t, dir, environ, receiver.URL)

	a := &audience{bearer: bearer, views: make(map[string]int)}
	rng := rand.New(rand.NewPCG(seed, 1))
	for range kills {
		server := startVictim(t, dir, environ...)
		a.reach(server.url)
		var all sync.WaitGroup
		for range hookViewers {
			all.Go(func() {
				if err := a.watch(); !errors.Is(err, errCut) {
					t.Error(err)
				}
			})
		}
		time.Sleep(50*time.Millisecond + time.Duration(rng.Int64N(int64(400*time.Millisecond)))) // that load goes on
		a.killed.Store(true)
		server.kill9()
		all.Wait()
		if t.Failed() {
			return
		}
	}
	server := startVictim(t, dir, environ...)
	a.reach(server.url)
	counted := a.counted(t)
	heard.wait(counted)
	server.stop()
	checkFile(t, dir)
	heard.compare(t, counted)
}

// addHook adds a webhook for views to the account of apiToken.
func addHook(t *testing.T, dir string, environ []string, url string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "pushbox", "webhook", "add", "ann@example.com", url, "--event", "view")
	cmd.Dir, cmd.Env = dir, append(victimEnviron(), environ...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// An audience makes pushes and views them.
type audience struct {
	caller
	bearer string

	mu    sync.Mutex
	views map[string]int // that were delivered, by url_token
}

// watch goes on until the server is cut off.
func (a *audience) watch() error {
	for {
		var made, got crashRecord
		in := map[string]newPush{"push": {Payload: "seen", Views: hookLimit}}
		if err := a.call(http.MethodPost, apiPushes, a.bearer, in, http.StatusCreated, &made); err != nil {
			return err
		}
		token := made.Token
		a.mu.Lock()
		a.views[token] = 0
		a.mu.Unlock()
		for range 20 {
			if err := a.call(http.MethodGet, apiPushes+"/"+token, "", nil, http.StatusOK, &got); err != nil {
				return err
			}
			a.mu.Lock()
			a.views[token]++
			a.mu.Unlock()
		}
	}
}

// counted are the views that each push counts, which must be no fewer than were
// delivered.
func (a *audience) counted(t *testing.T) map[string]int {
	t.Helper()
	counted, delivered, all := make(map[string]int), 0, 0
	for token, views := range a.views {
		var p struct {
			Remaining int `json:"views_remaining"`
		}
		if err := a.call(http.MethodGet, apiPushes+"/"+token, a.bearer, nil, http.StatusOK, &p); err != nil {
			t.Fatal(err)
		}
		counted[token] = hookLimit - p.Remaining
		if counted[token] < views {
			t.Errorf("P3: %d views are counted, %d were delivered", counted[token], views)
		}
		delivered, all = delivered+views, all+counted[token]
	}
	t.Logf("%d pushes, %d views delivered, %d counted", len(counted), delivered, all)
	return counted
}

// A heard is a receiver that remembers what it was told, and fails once.
type heard struct {
	mu    sync.Mutex
	rng   *rand.Rand
	told  map[string]map[int]string // url_token → how many views there were → ID of the message
	twice int                       // messages that came again
	odd   []string

	failed string // the one message that was not taken at first
}

func newHeard(seed uint64) *heard {
	return &heard{rng: rand.New(rand.NewPCG(seed, 2)), told: make(map[string]map[int]string)}
}

// ServeHTTP takes a message in.
func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var m struct {
		Event string
		Token string `json:"url_token"`
		Views int
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil { // the server was killed meanwhile
		return
	}
	if err := json.Unmarshal(body, &m); err != nil || m.Event != "view" || m.Token == "" {
		h.odd = append(h.odd, string(body))
		return
	}
	id := r.Header.Get("Webhook-Id")
	if h.told[m.Token] == nil {
		h.told[m.Token] = make(map[int]string)
	}
	switch before, again := h.told[m.Token][m.Views]; {
	case !again:
		h.told[m.Token][m.Views] = id
	case before == id:
		h.twice++
	default:
		h.odd = append(h.odd, fmt.Sprintf("view %d came as %s and as %s", m.Views, before, id))
	}
	if h.failed == "" && h.rng.IntN(100) == 0 {
		h.failed = id
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// wait waits until as many views were told as are counted.
func (h *heard) wait(counted map[string]int) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		h.mu.Lock()
		all := true
		for token, n := range counted {
			all = all && len(h.told[token]) >= n
		}
		h.mu.Unlock()
		if all {
			return
		}
	}
}

// compare fails the test unless each view was told, and nothing else.
func (h *heard) compare(t *testing.T, counted map[string]int) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for token, n := range counted {
		for view := 1; view <= n; view++ {
			if h.told[token][view] == "" {
				t.Errorf("view %d of %d was not told", view, n)
			}
		}
		if len(h.told[token]) > n {
			t.Errorf("%d views were told, %d are counted", len(h.told[token]), n)
		}
	}
	for token := range h.told {
		if _, known := counted[token]; !known { // its create was answered to nobody
			t.Error("views of an unknown push were told")
		}
	}
	if len(h.odd) > 0 {
		t.Errorf("also told: %s", strings.Join(h.odd, "\n"))
	}
	t.Logf("%d messages came again", h.twice)
}
