package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

// metered are settings with a listener for metrics.
func metered(t *testing.T) config.Config {
	t.Helper()
	cfg := settingsFor(env.ShortDir(t))
	cfg.Metrics.Listen = "127.0.0.1:0"
	return cfg
}

// seriesOf are the names and labels of all samples.
func seriesOf(exposed string) (all []string) {
	for line := range strings.Lines(exposed) {
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "go_") && !strings.HasPrefix(line, "process_") {
			all = append(all, line[:strings.LastIndex(line, " ")])
		}
	}
	slices.Sort(all)
	return all
}

// value is that of a series; empty where there is none.
func value(exposed, series string) string {
	_, rest, _ := strings.Cut("\n"+exposed, "\n"+series+" ")
	v, _, _ := strings.Cut(rest, "\n")
	return v
}

// TestWhateverIsAskedNoMetricSaysMoreThanBefore sends what people should not, and
// wants the same series as before it, and nothing of what was sent.
func TestWhateverIsAskedNoMetricSaysMoreThanBefore(t *testing.T) {
	t.Parallel()
	const marker = "hunter2marker"
	cfg := metered(t)
	r := watchedDaemon(t, cfg)
	defer r.end(t)
	before, base := seriesOf(r.scrape(t)), "http://"+r.address
	status, made := ask(t, "POST", base+"/api/v2/pushes", `{"push":{"payload":"`+marker+`","passphrase":"`+marker+`","name":"`+marker+`","expire_after_views":1}}`, "Content-Type: application/json")
	token, _, _ := strings.Cut(strings.TrimPrefix(made, `{"url_token":"`), `"`)
	if status != http.StatusCreated || len(token) != 34 {
		t.Fatal(status, made)
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "FROB", marker, strings.ToLower(marker) + "-x"} {
		for _, path := range []string{
			"/", "/" + marker, "/api/v2/pushes/" + marker, "/api/v2/pushes/" + token + "/" + marker, "/p/" + token + marker, "/d/" + marker + "/1",
			"/api/v2/pushes/" + token + "?passphrase=wrong" + marker, "/metrics", "/%00" + marker, "/users/first/" + marker, "/assets/" + marker, "/healthz", "/readyz", "//" + marker,
		} {
			ask(t, method, base+path, marker, "User-Agent: "+marker, "Referer: http://x/"+marker, "X-Forwarded-For: 203.0.113.77", "Authorization: Bearer "+marker, "Cookie: session="+marker)
		}
	}
	if status, body := ask(t, "GET", base+"/api/v2/pushes/"+token, "", "X-Push-Passphrase: "+marker); status != http.StatusOK || !strings.Contains(body, marker) {
		t.Fatal(status, body)
	}
	after := r.settled(t)
	if now := seriesOf(after); !slices.Equal(now, before) {
		t.Errorf("%d series became %d", len(before), len(now))
	}
	for _, secret := range []string{marker, token, token[:12], "203.0.113", "FROB", "127.0.0.1"} {
		if strings.Contains(strings.ToLower(after), secret) || strings.Contains(after, secret) {
			t.Errorf("%s is told", secret)
		}
	}
	for series, want := range map[string]string{
		`pushbox_creates_total{kind="text"}`: "1", "pushbox_views_total": "1", `pushbox_expiries_total{cause="views"}`: "1", "pushbox_live_pushes": "0",
		`pushbox_http_requests_total{class="2xx",method="GET",route="show"}`: "1",
	} {
		if got := value(after, series); got != want {
			t.Errorf("%s is %s, not %s", series, got, want)
		}
	}
	if value(after, `pushbox_http_requests_total{class="4xx",method="other",route="none"}`) == "0" || value(after, "pushbox_store_commit_operations_count") == "0" {
		t.Error("hostile requests, or commits, were not counted")
	}
}

func TestTheListenerForMetricsHasNothingElse(t *testing.T) {
	t.Parallel()
	cfg := metered(t)
	cfg.Metrics.TokenFile = filepath.Join(t.TempDir(), "token")
	env.OK(t, os.WriteFile(cfg.Metrics.TokenFile, []byte("  a-token-of-metrics\n"), 0o600))
	r := watchedDaemon(t, cfg)
	defer r.end(t)
	inner, outer, right := "http://"+r.watch.listener.Addr().String(), "http://"+r.address, "Authorization: Bearer a-token-of-metrics"
	for _, c := range []struct {
		method, url, header string
		want                int
	}{
		{"GET", inner + "/metrics", right, 200},
		{"GET", outer + "/metrics", right, 200},
		{"GET", inner + "/metrics", "X: y", 401},
		{"GET", outer + "/metrics", "X: y", 401},
		{"GET", inner + "/metrics", right + "x", 401},
		{"POST", inner + "/metrics", right, 405},
		{"GET", inner + "/", right, 404},
		{"GET", inner + "/healthz", right, 404},
		{"GET", inner + "/api/v2/version", right, 404},
	} {
		if status, body := ask(t, c.method, c.url, "", c.header); status != c.want || (status == 200) != strings.Contains(body, "pushbox_views_total 0") {
			t.Errorf("%s %s with %s: %d", c.method, c.url, c.header, status)
		}
	}
}

// net/http would answer OPTIONS * by itself, to every client.
func TestTheListenerForMetricsAnswersNothingByItself(t *testing.T) {
	t.Parallel()
	r := watchedDaemon(t, metered(t))
	defer r.end(t)
	conn := env.Must(net.Dial("tcp", r.watch.listener.Addr().String()))(t)
	defer conn.Close()
	env.Must(io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))(t)
	if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 404 ") {
		t.Errorf("it answers %q, %v", got, err)
	}
}

func TestReadinessEndsBeforeTheServer(t *testing.T) {
	t.Parallel()
	cfg := metered(t)
	cfg.Limits.StopDelay = time.Hour
	socket, next := serviceManager(t)
	r := watchedDaemon(t, cfg, socket, "WATCHDOG_USEC=1000000")
	env.Equal(t, "the first word is", next(), "READY=1")
	env.Equal(t, "the second word is", next(), "WATCHDOG=1")
	ready := func() int {
		status, _ := ask(t, "GET", "http://"+r.address+"/readyz", "")
		return status
	}
	env.Equal(t, "while it serves", ready(), http.StatusOK)
	r.stop()
	until := func(want string) {
		t.Helper()
		for ctx := soon(t); next() != want; {
			if ctx.Err() != nil {
				t.Fatalf("systemd is not told %s", want)
			}
		}
	}
	until("STOPPING=1")
	env.Equal(t, "while it stops", ready(), http.StatusServiceUnavailable)
	if status, _ := ask(t, "GET", "http://"+r.address+"/api/v2/version", ""); status != http.StatusOK {
		t.Errorf("it does not serve on: %d", status)
	}
	r.scrape(t) // of a stop, too
	until("WATCHDOG=1")
	_ = r.web.Close() // nothing is left to wait for
	env.ErrorIs(t, "it", <-r.ended, net.ErrClosed)
}

func TestWithoutMetricsTheZeroWatchDoesNothing(t *testing.T) {
	t.Parallel()
	none := new(watch)
	none.serving(t.Context(), nil)
	none.stopping()
	if err := none.stop(); err != nil || none.committed() != nil || none.observed(nil) != nil || none.swept(nil) != nil {
		t.Error("the zero watch does something")
	}
	cfg := settingsFor(env.ShortDir(t))
	r := watchedDaemon(t, cfg)
	if status, _ := ask(t, "GET", "http://"+r.address+"/metrics", ""); status != http.StatusNotFound {
		t.Errorf("metrics that are off: %d", status)
	}
	r.end(t)
}

func TestTheWatchdogIsFedWhileTheStoreAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watch{log: zerolog.Nop()}
		var fed atomic.Int64
		var answer atomic.Pointer[error]
		ping := func(ctx context.Context) error {
			err := *answer.Load()
			if errors.Is(err, context.DeadlineExceeded) { // it hangs
				<-ctx.Done()
			}
			return err
		}
		answer.Store(new(error))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- w.feed(ctx, 10*time.Second, ping, func() error { fed.Add(1); return errors.New("no listener") })
		}()
		for _, step := range []struct {
			answer error
			want   int64 // more
		}{{nil, 6}, {record.ErrFailed, 0}, {context.DeadlineExceeded, 0}, {nil, 6}} {
			synctest.Wait()
			before := fed.Load()
			answer.Store(&step.answer)
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := fed.Load() - before; got < step.want-1 || got > step.want {
				t.Errorf("%v: fed %d times in a minute, not %d", step.answer, got, step.want)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestATokenForMetricsIsOneWordOfSomeLength(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for content, want := range map[string]bool{
		strings.Repeat("t", 15):            false,
		strings.Repeat("t", 16):            true,
		strings.Repeat("t", 16) + "\n":     true,
		strings.Repeat("t", 1024):          true,
		strings.Repeat("t", 1025):          false,
		"two words, and long enough":       false,
		"":                                 false,
		strings.Repeat("t", 16) + "\nmore": false,
	} {
		name := filepath.Join(dir, "token")
		env.OK(t, os.WriteFile(name, []byte(content), 0o600))
		token, err := readScrapeToken(config.Metrics{TokenFile: name})
		if (err == nil) != want || want && token.Reveal() != strings.TrimSpace(content) {
			t.Errorf("%q: %v", content, err)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "metrics.token_file: ") || content != "" && strings.Contains(err.Error(), content)) {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := readScrapeToken(config.Metrics{TokenFile: filepath.Join(dir, "none")}); err == nil {
		t.Error("a file that is not there was taken")
	}
	for token, want := range map[string]bool{strings.Repeat("t", 15): false, strings.Repeat("t", 16): true} {
		got, err := readScrapeToken(config.Metrics{Token: secret.New(token)})
		if (err == nil) != want || want && got.Reveal() != token || err != nil && (!strings.HasPrefix(err.Error(), "metrics.token: ") || strings.Contains(err.Error(), token)) {
			t.Errorf("the setting with %d bytes: %v", len(token), err)
		}
	}
	if got, err := readScrapeToken(config.Metrics{Listen: ":0"}); err != nil || !got.IsZero() {
		t.Errorf("without one: %v", err)
	}
}

func TestAPortThatIsTakenIsToldBeforeAnythingIsServed(t *testing.T) {
	t.Parallel()
	taken := env.Listen(t)
	cfg := settingsFor(env.ShortDir(t))
	cfg.Metrics.Listen = taken.Addr().String()
	_, err := newWatch(t.Context(), optionsFor(cfg), zerolog.Nop())
	if err == nil || !strings.HasPrefix(err.Error(), "metrics.listen: ") || hint.Of(err) == "" {
		t.Errorf("%v", err)
	}
}
