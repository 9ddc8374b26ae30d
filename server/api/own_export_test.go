package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func TestUsersDownloadWhatIsKeptAboutThem(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	a.AddAccount("bob@example.com", servertest.AnnPassword)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	bob, token := a.SignedIn("bob@example.com", servertest.AnnPassword), a.AddToken("bob@example.com")
	url := a.Create(`"payload":"payload-marker","name":"a name","note":"a note"`, token)
	a.Do("DELETE", pushes+"/"+a.Create(`"payload":"x","name":"ended"`, token), "", token).Want(http.StatusOK)
	a.Create(`"payload":"x","name":"of ann"`, a.AddToken(servertest.AnnEmail))
	if _, err := a.Store.AddHook(ctx, store.Actor{Role: store.Operator}, "bob@example.com", store.NewHook{URL: secret.New("https://hooks.example/path-marker"), Events: []record.Event{record.EventView}}); err != nil {
		t.Fatal(err)
	}
	bob.Get("/users/account").Says("Download my data")
	got := bob.Get("/users/account/export").Want(http.StatusOK)
	if kind := got.Header.Get("Content-Type"); kind != "application/jsonl" || !strings.Contains(got.Header.Get("Content-Disposition"), "pushbox-account.jsonl") {
		t.Errorf("the headers are %v", got.Header)
	}
	count := make(map[string]int)
	for line := range strings.Lines(got.Body) {
		var one map[string]map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil || len(one) != 1 {
			t.Fatalf("%q: %v", line, err)
		}
		for kind, value := range one {
			count[kind]++
			if kind == "push" && value["audit"] == nil || kind == "account" && value["email"] != "bob@example.com" || kind == "webhook" && value["host"] != "hooks.example" {
				t.Errorf("a line is %q", line)
			}
		}
	}
	if count["account"] != 1 || count["session"] != 1 || count["token"] != 1 || count["webhook"] != 1 || count["push"] != 2 || count["event"] < 3 {
		t.Errorf("the lines are %v", count)
	}
	for _, absent := range []string{"marker", url, "of ann", servertest.AnnEmail} {
		if strings.Contains(got.Body, absent) {
			t.Errorf("the export has %q", absent)
		}
	}
	ann.Get("/users/account/export").Want(http.StatusOK).Says("of ann").Lacks("a note")
}

// A sink is a client that takes an answer as it likes.
type sink struct {
	*httptest.ResponseRecorder
	take func(line []byte) error
}

func (s sink) Write(b []byte) (int, error) {
	if err := s.take(b); err != nil {
		return 0, err
	}
	return s.ResponseRecorder.Write(b)
}

// export asks for the export of the session's account.
func export(a *servertest.Server, session http.Header, take func(line []byte) error) {
	hr := httptest.NewRequest(http.MethodGet, "/users/account/export", nil)
	hr.Header = session
	a.Handler.ServeHTTP(sink{httptest.NewRecorder(), take}, hr)
}

func TestALongLineOfAnExportHoldsMemory(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	session := a.AddSessionUser(servertest.AnnEmail)
	token := a.Create(`"payload":"x"`, a.AddToken(servertest.AnnEmail))
	said := strings.Repeat(`"`, 255)
	for range 150 {
		a.Get(pushes+"/"+token+"?passphrase=x", http.Header{"User-Agent": {said}, "Referer": {said}})
	}
	long := 0
	export(a, session, func(line []byte) error {
		held := a.Handler.Stats().RequestMemory
		switch size := int64(len(line)); {
		case size > 100_000 && held < size:
			t.Errorf("a line of %d bytes holds %d", size, held)
		case size > 100_000:
			long++
		case held != 0:
			t.Errorf("a line of %d bytes holds %d", size, held)
		}
		return nil
	})
	if long != 1 {
		t.Errorf("%d lines are long", long)
	}
}

// An export takes the place of a download, of which an account has half at most.
func TestExportsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.Downloads = 8 })
	ann, bob := a.AddSessionUser(servertest.AnnEmail), a.AddSessionUser("bob@example.com")
	var reads []func() *httptest.ResponseRecorder
	for range 4 {
		reads = append(reads, a.SendUnread(http.MethodGet, "/users/account/export", "", ann))
	}
	a.Get("/users/account/export", ann).Want(http.StatusServiceUnavailable)
	a.Get("/users/account/export", bob).Want(http.StatusOK)
	for _, read := range reads {
		if w := read(); w.Code != http.StatusOK {
			t.Errorf("%d", w.Code)
		}
	}
	a.Get("/users/account/export", ann).Want(http.StatusOK)
	if taken := a.Handler.Stats().Downloads; taken != 0 {
		t.Errorf("%d places stay taken", taken)
	}
}

func TestAClientThatLeavesAnExportIsNoError(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	session := a.AddSessionUser(servertest.AnnEmail)
	a.Create(`"payload":"x"`, a.AddToken(servertest.AnnEmail))
	taken := 0
	export(a, session, func([]byte) error {
		if taken++; taken > 1 {
			return syscall.EPIPE
		}
		return nil
	})
	if log := a.Log.String(); taken != 2 || strings.Contains(log, `"level":"error"`) {
		t.Errorf("after %d lines the log has %s", taken, log)
	}
}

// What begins and ends while an export runs takes nothing else out of it, and brings nothing
// into it twice.
func TestAnExportHasEachThingOnceWhileOthersComeAndGo(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		var looks atomic.Int64
		var happen func()
		a := servertest.On(t, func(s *storetest.Setup) {
			engine(s)
			s.Wrap = func(e record.Engine) record.Engine {
				return servertest.NewLister(e, func() { // before each look but the first
					if looks.Add(1) > 1 && happen != nil {
						happen()
					}
				})
			}
		})
		a.AddAccount(servertest.AnnEmail, servertest.AnnPassword)
		ann, by := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword), a.Actor(servertest.AnnEmail)
		const most, over = 150, 60
		var made []store.PushInfo
		var asked []store.RequestInfo
		end := func(n int) {
			if _, err := a.Store.EndRequest(t.Context(), by, asked[n].ID); err != nil {
				t.Error(err)
			}
		}
		for n := range most {
			made = append(made, a.Mine(by, servertest.Called(fmt.Sprintf("push %d;", n))))
			q, err := a.Store.CreateRequest(t.Context(), by, store.NewRequest{Text: secret.New(fmt.Sprintf("request %d;", n))})
			env.OK(t, err)
			if asked = append(asked, q); n < over {
				end(n)
			}
		}
		gone := 0
		happen = func() { // at both ends of each list: to what was written, and to what was not
			if looks.Load()%8 > 0 {
				return
			}
			for range 4 {
				gone++
				for _, n := range []int{gone, most - gone} {
					if _, err := a.Store.DeletePush(t.Context(), by, made[n].Token); err != nil {
						t.Error(err)
					}
				}
				end(over + gone)
				end(most - gone)
				a.Mine(by)
			}
		}
		got := ann.Get("/users/account/export").Want(http.StatusOK).Body
		happen = nil
		for n := range most {
			for _, line := range []string{fmt.Sprintf(`"name":"push %d;"`, n), fmt.Sprintf(`"text":"request %d;"`, n)} {
				if count := strings.Count(got, line); count != 1 {
					t.Errorf("%s is there %d times", line, count)
				}
			}
		}
		if gone == 0 {
			t.Error("nothing happened")
		}
	})
}
