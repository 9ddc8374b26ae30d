package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server"
	"pushbox/server/action"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A tally counts what an observer is told.
type tally struct {
	server *servertest.Server

	mu      sync.Mutex
	running int
	told    map[string]int
}

func (o *tally) Began() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running++
}

func (o *tally) Ended(l server.Label, status int, took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running--
	o.told[fmt.Sprint(l.Method, " ", l.Route, " ", status)]++
	if !slices.Contains(server.Labels(), l) || took <= 0 {
		o.told[fmt.Sprintf("wrong: %v, %v", l, took)]++
	}
}

func (o *tally) Limited(limit string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told["limit "+limit]++
}

// take waits until no request runs, and returns what was counted since the last call.
func (o *tally) take(t *testing.T) map[string]int {
	t.Helper()
	o.server.Settle()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running != 0 {
		t.Errorf("the end of %d requests was not told", o.running)
	}
	told := o.told
	o.told = make(map[string]int)
	return told
}

// newWatched is servertest.New with an observer.
func newWatched(t *testing.T, changes ...func(*config.Config)) (*servertest.Server, *tally) {
	t.Helper()
	a := servertest.New(t, changes...)
	o := &tally{server: a, told: make(map[string]int)}
	a.Monitor(server.Monitoring{Observer: o})
	return a, o
}

func TestAnObserverIsToldOfEachRequestByItsRoute(t *testing.T) {
	t.Parallel()
	a, o := newWatched(t)
	token := a.Create(`"payload":"x"`)
	for method, path := range map[string]string{
		"GET": pushes + "/" + token, "DELETE": pushes + "/" + strings.Repeat("a", 34),
		"FROB": pushes + "/" + token, "PUT": "/" + token, "TRACE": "/p/x", "get": pushes,
	} {
		a.Do(method, path, "")
	}
	want := map[string]int{
		"POST create 201": 1, "GET show 200": 1, "DELETE delete 404": 1,
		"other none 405": 1, "PUT none 404": 1, "TRACE none 405": 1,
	}
	want["other none 405"]++ // get in lower case is another method
	if got := o.take(t); !maps.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

func TestAnObserverIsToldThatAPanickingRequestEnded(t *testing.T) {
	t.Parallel()
	a, o := newWatched(t)
	a.Handler.AddPanic()
	a.Do("POST", "/panic/x", "x").Want(http.StatusInternalServerError)
	if got := o.take(t); got["wrong: {panic POST}, 0s"] != 0 || got["POST panic 500"] != 1 {
		t.Errorf("told %v", got)
	}
}

// Each limit in the table is reported by its own requests, and no other is.
func TestAnObserverIsToldWhichLimitRefused(t *testing.T) {
	t.Parallel()
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}}
	guess := func(a *servertest.Server) {
		path := pushes + "/" + a.Create(`"payload":"x","passphrase":"p"`) + "?passphrase=q"
		for n := range 3 {
			a.Get(path, servertest.Far(n))
		}
	}
	signIn := func(email func(n int) string, client func(n int) http.Header) func(a *servertest.Server) {
		return func(a *servertest.Server) {
			a.Do("POST", pushes, `{"push":{"payload":"x"}}`)
			for n := range 3 {
				a.Do("POST", "/users/sign_in", "email="+email(n)+"&password=wrong-password", form, client(n))
			}
		}
	}
	same := func(int) string { return "ann@example.com" }
	for limit, c := range map[string]struct {
		change func(*config.Config)
		act    func(*servertest.Server)
	}{
		"anonymous": {func(c *config.Config) { c.Limits.AnonymousPerMinute = 2 }, func(a *servertest.Server) { askThrice(a, "/api/v2/openapi", servertest.Far(1)) }},
		"token": {func(c *config.Config) { c.Limits.TokenPerMinute = 2 }, func(a *servertest.Server) {
			askThrice(a, pushes+"/active", a.AddTokenUser("ann@example.com"), servertest.Far(1))
		}},
		"unknown_tokens":       {func(c *config.Config) { c.Limits.UnknownTokensPerMinute = 2 }, func(a *servertest.Server) { askThrice(a, pushes+"/nothing", servertest.Far(1)) }},
		"passphrases_per_push": {func(c *config.Config) { c.Limits.PassphrasesPerPush = 2 }, guess},
		"passphrases_per_client": {func(c *config.Config) { c.Limits.PassphrasesPerClient = 2 }, func(a *servertest.Server) {
			path := pushes + "/" + a.Create(`"payload":"x","passphrase":"p"`) + "?passphrase=q"
			askThrice(a, path, servertest.Far(1))
		}},
		"passphrases_per_client, on a page": {func(c *config.Config) { c.Limits.PassphrasesPerClient = 2 }, func(a *servertest.Server) {
			path := "/p/" + a.Create(`"payload":"x","passphrase":"p"`)
			for range 3 {
				a.Do("POST", path, "passphrase=q", form, servertest.Far(1))
			}
		}},
		"sign_ups": {func(c *config.Config) { c.EnableSignups, c.Limits.SignInsPerClient = true, 2 }, func(a *servertest.Server) {
			for range 3 {
				a.Do("POST", "/users/sign_up", "email=x@example.com&password=a+good+password", form, servertest.Far(1))
			}
		}},
		"sign_ins_per_client":  {func(c *config.Config) { c.Limits.SignInsPerClient = 2 }, signIn(func(n int) string { return fmt.Sprintf("a%d@example.com", n) }, func(int) http.Header { return servertest.Far(1) })},
		"sign_ins_per_account": {func(c *config.Config) { c.Limits.SignInsPerAccount = 2 }, signIn(same, servertest.Far)},
		"tokens_per_account": {func(c *config.Config) { c.Limits.SignInsPerClient = 1000 }, func(a *servertest.Server) {
			a.AddAccount(servertest.AnnEmail, servertest.AnnPassword)
			b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
			for range store.TokensPerAccount {
				b.Post("/users/token", "password", servertest.AnnPassword, "days", "30").Want(http.StatusCreated)
			}
			if got := b.Post("/users/token", "password", servertest.AnnPassword, "days", "30").Want(http.StatusTooManyRequests); got.Header.Get("Retry-After") != "3600" {
				a.T.Errorf("the header is %v", got.Header)
			}
		}},
		"codes_per_account": {func(c *config.Config) {
			servertest.SendsMail(c)
			servertest.SignUps(c)
		}, func(a *servertest.Server) {
			b := a.Browser()
			b.Post("/users/sign_up", "email", "eve@example.com", "password", "a good password")
			b.SignIn("eve@example.com", "a good password").To("/")
			b.Post("/users/address/code").To("/users/address")
			b.Post("/users/address/code").Want(http.StatusTooManyRequests)
		}},
		"codes_per_recipient": {servertest.SendsMail, func(a *servertest.Server) {
			token := a.Create(`"payload":"x","recipient_email":"bob@example.net"`, a.AddTokenUser("ann@example.com"))
			a.Send("/p/"+token, map[string]string{"recipient_email": "bob@example.net"}).Want(http.StatusOK)
			a.Send("/p/"+token, map[string]string{"recipient_email": "bob@example.net"}).Want(http.StatusTooManyRequests)
		}},
		"changes_per_account": {func(*config.Config) {}, func(a *servertest.Server) {
			a.AddAccount(servertest.AnnEmail, servertest.AnnPassword)
			b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
			for n := range store.ChangesPerAccount {
				b.Post("/users/account", "name", fmt.Sprint("Ann ", n)).To("/users/account")
			}
			b.Post("/users/account", "name", "Ann").Want(http.StatusTooManyRequests)
		}},
		"room": {func(c *config.Config) { c.Limits.AnonymousPushes = 2 }, func(a *servertest.Server) {
			for range 3 {
				a.Do("POST", pushes, `{"push":{"payload":"x"}}`, servertest.Far(1))
			}
		}},
		"space": {func(c *config.Config) { c.MaxStoreSize, c.Limits.AnonymousShare = 1<<20, 0 }, func(a *servertest.Server) {
			for range 3 {
				a.Do("POST", pushes, `{"push":{"payload":"`+strings.Repeat("x", 600<<10)+`"}}`)
			}
		}},
	} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			limit, _, _ := strings.Cut(limit, ",")
			a, o := newWatched(t, c.change)
			c.act(a)
			told := o.take(t)
			for name, n := range told {
				if strings.HasPrefix(name, "limit ") && (name != "limit "+limit || n < 1) {
					t.Errorf("told of %s", name)
				}
			}
			if told["limit "+limit] < 1 || !slices.Contains(server.Limits(), limit) {
				t.Errorf("told %v", told)
			}
		})
	}
}

func askThrice(a *servertest.Server, path string, headers ...http.Header) {
	a.T.Helper()
	for range 3 {
		a.Get(path, headers...)
	}
}

func TestReadinessIsThatOfTheProgram(t *testing.T) {
	t.Parallel()
	for want, said := range map[int][]error{http.StatusOK: {nil}, http.StatusServiceUnavailable: {action.ErrStarting, action.ErrStopping}} {
		for _, err := range said {
			a := servertest.New(t)
			a.Monitor(server.Monitoring{Ready: func() error { return err }})
			got := a.Get("/readyz").Want(want)
			a.Get("/healthz").Want(http.StatusOK)
			if err == nil && got.Body != `{"status":"ok"}`+"\n" || err != nil && got.Header.Get("Retry-After") == "" {
				t.Errorf("%v: %s %v", err, got.Body, got.Header)
			}
			if strings.Contains(a.Log.String(), `"level":"error"`) {
				t.Errorf("%v is logged as a fault: %s", err, a.Log)
			}
		}
	}
}

func TestMetricsNeedTheirToken(t *testing.T) {
	t.Parallel()
	const token = "correct horse battery"
	text := func() (string, []byte, error) { return "text/plain; version=0.0.4", []byte("a 1\n"), nil }
	for name, c := range map[string]struct {
		watch server.Monitoring
		given string
		want  int
	}{
		"the token":             {server.Monitoring{Metrics: text, Token: secret.New("token-of-metrics")}, "Bearer token-of-metrics", 200},
		"another":               {server.Monitoring{Metrics: text, Token: secret.New("token-of-metrics")}, "Bearer token-of-metricS", 401},
		"a part of it":          {server.Monitoring{Metrics: text, Token: secret.New("token-of-metrics")}, "Bearer token-of-metric", 401},
		"more than it":          {server.Monitoring{Metrics: text, Token: secret.New("token-of-metrics")}, "Bearer token-of-metricss", 401},
		"nothing":               {server.Monitoring{Metrics: text, Token: secret.New("token-of-metrics")}, "", 401},
		"another scheme":        {server.Monitoring{Metrics: text, Token: secret.New("token-of-metrics")}, "Basic token-of-metrics", 401},
		"no token to have":      {server.Monitoring{Metrics: text}, "Bearer ", 404},
		"no metrics":            {server.Monitoring{Token: secret.New("token-of-metrics")}, "Bearer token-of-metrics", 404},
		"metrics that are none": {server.Monitoring{Metrics: func() (string, []byte, error) { return "", nil, errors.New(token) }, Token: secret.New("token-of-metrics")}, "Bearer token-of-metrics", 500},
	} {
		a := servertest.New(t)
		a.Monitor(c.watch)
		header := http.Header{}
		if c.given != "" {
			header.Set("Authorization", c.given)
		}
		got := a.Get("/metrics", header)
		if got.Status != c.want || strings.Contains(got.Body, "token-of") || strings.Contains(got.Body, token) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		if (got.Status == 200) != (got.Body == "a 1\n") || got.Status == 401 && got.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %v %s", name, got.Header, got.Body)
		}
	}
}

// A page of another site can point its own name at the listener, and cannot send a token.
func TestAListenerForMetricsAnswersForAddresses(t *testing.T) {
	t.Parallel()
	text := func() (string, []byte, error) { return "text/plain", []byte("a 1\n"), nil }
	for host, good := range map[string]bool{
		"127.0.0.1:5102": true, "192.0.2.7": true, "[2001:db8::7]:5102": true, "localhost:5102": true, "Metrics.lan:5102": true,
		"evil.example": false, "evil.example:5102": false, "localhost.evil.example": false, "": false,
	} {
		for _, token := range []string{"", "token-of-metrics"} {
			a := servertest.New(t, func(c *config.Config) { c.AllowedHosts = []string{"metrics.lan"} })
			a.Monitor(server.Monitoring{Metrics: text, Token: secret.New(token)})
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.Host = host
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			a.Handler.Metrics().ServeHTTP(w, r)
			if want := map[bool]int{true: http.StatusOK, false: http.StatusMisdirectedRequest}[good || token != ""]; w.Code != want {
				t.Errorf("%q, token %q: %d", host, token, w.Code)
			}
		}
	}
}

// A failing engine has failed once its channel is closed.
type failing struct {
	record.Engine
	failed chan struct{}
}

func (e failing) Failed() <-chan struct{} { return e.failed }

func TestAStoreThatHasFailedIsNotReady(t *testing.T) {
	t.Parallel()
	failed := make(chan struct{})
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { return failing{e, failed} }
	})
	h, err := server.New(server.Options{Config: config.Default(), Store: f.Store, Log: zerolog.Nop(), Version: "3.0.0"})
	env.OK(t, err)
	for _, want := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		if answer.Code != want {
			t.Errorf("%d, not %d", answer.Code, want)
		}
		if want == http.StatusOK {
			close(failed)
		}
	}
}

// An unready engine answers reads, and would complete no write for a reason.
type unready struct {
	record.Engine
	why error
}

func (e unready) Ready(context.Context) error { return e.why }

// A server whose database completes no write is not ready, and says why; that is no fault of it.
func TestAServerIsReadyWhenItsDatabaseIs(t *testing.T) {
	t.Parallel()
	for why, says := range map[error]string{
		record.ErrUnavailable:    "The database does not answer in time.",
		record.ErrStandby:        "The database waits for a standby that is not connected",
		context.DeadlineExceeded: "The database does not answer in time.",
	} {
		f := storetest.New(t, func(s *storetest.Setup) {
			s.Wrap = func(e record.Engine) record.Engine { return unready{e, why} }
		})
		var log bytes.Buffer
		h, err := server.New(server.Options{Config: config.Default(), Store: f.Store, Log: zerolog.New(&log), Version: "3.0.0"})
		env.OK(t, err)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), says) || strings.Contains(log.String(), "error") {
			t.Errorf("%v: %d %s\n%s", why, answer.Code, answer.Body, &log)
		}
	}
}

// The figures rise while work is in progress, and fall to zero afterwards.
func TestStatsAreOfWhatIsInProgress(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	reached := func(want func(server.Stats) bool) {
		t.Helper()
		for deadline := time.Now().Add(env.Patience); !want(a.Handler.Stats()); a.Get("/healthz") {
			if time.Now().After(deadline) {
				t.Fatalf("it stays at %+v", a.Handler.Stats())
			}
		}
	}
	none := func(l server.Stats) bool { return l == server.Stats{} }
	reached(none)
	body, send := io.Pipe()
	answered := make(chan error, 1)
	req, err := http.NewRequest(http.MethodPost, a.URL+pushes, body)
	env.OK(t, err)
	req.Header.Set("Content-Type", "application/json")
	go func() {
		res, err := a.Client.RoundTrip(req)
		if err == nil {
			err = res.Body.Close()
		}
		answered <- err
	}()
	if _, err := io.WriteString(send, `{"push":{"payload":"`+strings.Repeat("x", 200<<10)); err != nil {
		t.Fatal(err)
	}
	reached(func(l server.Stats) bool { return l.RequestMemory > 100<<10 && l.AnswerMemory == 0 })
	if _, err := io.WriteString(send, `"}}`); err != nil {
		t.Fatal(err)
	}
	_ = send.Close()
	if err := <-answered; err != nil {
		t.Error(err)
	}
	reached(none)
}

// The log of a client that is refused again and again, or that asks for the server's health
// again and again, ends with a count. Other clients, and other requests, have their lines.
func TestWhatCostsAClientNothingDoesNotFillTheLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path   string
		status int
	}{
		"refusals":    {"/api/v2/openapi", http.StatusTooManyRequests},
		"health":      {"/healthz", http.StatusOK},
		"not counted": {"/robots.txt", http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := servertest.New(t, func(c *config.Config) { c.Limits.AnonymousPerMinute = 1 })
			a.Get("/api/v2/openapi", servertest.Far(1)) // which uses up the limit
			const more = 7
			for range server.LinesPerClient + more {
				a.Get(c.path, servertest.Far(1)).Want(c.status)
			}
			status := fmt.Sprintf(`"status":%d,`, c.status)
			before := strings.Count(a.Log.String(), status)
			if want := server.LinesPerClient; before != want && before != want+1 { // one more for the first request
				t.Errorf("there are %d lines", before)
			}
			a.Get("/api/v2/openapi", servertest.Far(2)).Want(http.StatusOK)
			if log := a.Log.String(); strings.Contains(log, `"requests":`) || strings.Count(log, `"status":200,`) < 2 {
				t.Errorf("another client has no line, or the count came too soon:\n%s", log)
			}
			a.Store.Clock.Advance(time.Minute)
			a.Get(c.path, servertest.Far(2))
			if log := a.Log.String(); !strings.Contains(log, fmt.Sprintf(`"requests":%d,`, more)) {
				t.Errorf("the log has no count:\n%s", log[len(log)-1000:])
			}
		})
	}
}

// A wrong host, or a request that a browser was made to send, counts as every other.
func TestWhatIsRefusedAtOnceCounts(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) {
		c.Limits.AnonymousPerMinute, c.AllowedHosts = 2, []string{"push.example.com"}
	})
	for name, c := range map[string]struct {
		far     int
		headers http.Header
		status  int
	}{
		"another host":      {1, http.Header{"Host": {"evil.example"}}, http.StatusMisdirectedRequest},
		"from another site": {2, http.Header{"Host": {"push.example.com"}, "Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}}, http.StatusForbidden},
	} {
		for _, want := range []int{c.status, c.status, http.StatusTooManyRequests} {
			if got := a.Do("POST", "/users/sign_in", "email=x", servertest.Urlencoded, servertest.Far(c.far), c.headers); got.Status != want {
				t.Errorf("%s: %d, not %d", name, got.Status, want)
			}
		}
	}
}

// A full queue or a limit is no fault of the server, and no line of level error.
func TestALimitIsNoErrorInTheLog(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		record.ErrBusy: true, limit.ErrBusy: true, fmt.Errorf("%w: uploads", limit.ErrBusy): true, record.ErrNoAnswers: true, &record.RoomError{Of: record.RoomOfAnonymous}: true,
		record.ErrFull: false, record.ErrFailed: false, errors.New("odd"): false,
	} {
		if server.IsExpected(err) != want {
			t.Errorf("%v: not %v", err, want)
		}
	}
}
