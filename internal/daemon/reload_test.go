package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/storetest"
)

// TestManyReloadsUnderLoadLoseNothing has clients create pushes and open them while
// the configuration changes all the time between two sets of terms. Each answer
// follows the one or the other, and none is missing.
func TestManyReloadsUnderLoadLoseNothing(t *testing.T) {
	t.Parallel()
	const clients = 32
	texts := [2]string{
		"pw: {expire_after_days_default: 2, expire_after_views_default: 2}\nbase_url: https://two.example.com\n",
		"pw: {expire_after_days_default: 3, expire_after_views_default: 3}\nbase_url: https://three.example.com\n",
	}
	l := live(t, texts[0])
	ctx, stop := context.WithCancel(t.Context())
	var answers, mixed atomic.Int64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := l.roundTrip(&mixed); err != nil {
					t.Error(err)
					return
				}
				answers.Add(2)
			}
		})
	}
	for n := range env.Length(t, "PUSHBOX_TEST_RELOADS") {
		if out := l.mustReload(texts[(n+1)%2]); len(out.Changed) != 3 {
			t.Errorf("reload %d changed %q", n, out.Changed)
		}
	}
	stop()
	all.Wait()
	if mixed.Load() > 0 {
		t.Errorf("%d answers were of two configurations", mixed.Load())
	}
	if answers.Load() < clients {
		t.Errorf("only %d answers came", answers.Load())
	}
}

// TestReloadsLeaveNoGoroutine runs beside no other test.
func TestReloadsLeaveNoGoroutine(t *testing.T) {
	l := live(t, "")
	l.mustReload("log: {level: error}\n")
	before := runtime.NumGoroutine()
	for n := range 20 {
		l.mustReload(fmt.Sprintf("brand: {title: Title %d}\nlimits: {downloads: %d}\n", n, 8+n))
	}
	for ctx := soon(t); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("%d goroutines became %d", before, runtime.NumGoroutine())
		}
	}
}

// A made is what is looked at of a push.
type made struct {
	Token string `json:"url_token"`
	URL   string `json:"html_url"`
	Days  int    `json:"expire_after_days"`
	Views int    `json:"expire_after_views"`
}

// roundTrip creates a push and opens it.
func (l *living) roundTrip(mixed *atomic.Int64) error {
	res, err := l.client.Post(l.url+"/api/v2/pushes", "application/json", strings.NewReader(`{"push":{"payload":"a secret"}}`))
	if err != nil {
		return err
	}
	var m made
	err = errors.Join(json.NewDecoder(res.Body).Decode(&m), res.Body.Close())
	if err != nil || res.StatusCode != http.StatusCreated {
		return fmt.Errorf("create: %s, %w", res.Status, err)
	}
	two := m.Days == 2 && m.Views == 2 && strings.HasPrefix(m.URL, "https://two.")
	three := m.Days == 3 && m.Views == 3 && strings.HasPrefix(m.URL, "https://three.")
	if !two && !three {
		mixed.Add(1)
	}
	res, err = l.client.Get(l.url + "/api/v2/pushes/" + m.Token)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(res.Body)
	err = errors.Join(err, res.Body.Close())
	if err != nil || res.StatusCode != http.StatusOK || !bytes.Contains(b, []byte(`"a secret"`)) {
		return fmt.Errorf("open: %s, %w", res.Status, err)
	}
	return nil
}

// TestAReloadDoesNotRenewAUsedLimit uses up each limit, reloads, and is refused all
// the same; then each limit is raised, and there is a little more.
func TestAReloadDoesNotRenewAUsedLimit(t *testing.T) {
	t.Parallel()
	const few = "trusted_proxies: [127.0.0.1]\nenable_signups: true\nlimits:\n  anonymous_per_minute: 0\n  token_per_minute: 3\n  unknown_tokens_per_minute: 3\n  passphrases_per_client: 3\n  passphrases_per_push: 3\n  sign_ins_per_client: 3\n  sign_ins_per_account: 3\n"
	more := strings.NewReplacer(": 3\n", ": 4\n").Replace(few)
	l := liveBy(t, few, storetest.NewClock()) // which stands still, so that no allowance fills up
	l.account()
	_, text := l.ask("POST", "/api/v2/pushes", "push[payload]=x&push[passphrase]=p")
	var m made
	env.OK(t, json.Unmarshal([]byte(text), &m))
	from := func(n int) []string { return []string{fmt.Sprintf("X-Forwarded-For: 192.0.2.%d", n)} }
	tries := map[string]func() int{
		"unknown tokens": func() int { s, _ := l.ask("GET", "/api/v2/pushes/"+strings.Repeat("a", 34), "", from(1)...); return s },
		"passphrases": func() int {
			s, _ := l.ask("GET", "/api/v2/pushes/"+m.Token+"?passphrase=wrong", "", from(2)...)
			return s
		},
		"sign-ins": func() int {
			s, _ := l.ask("POST", "/users/sign_in", "email=eve@example.com&password=wrong+wrong+wrong", from(3)...)
			return s
		},
		"a token": func() int { s, _ := l.api("GET", "/api/v2/pushes/active", "", from(4)...); return s },
	}
	use := func(what string, allowed, other int) {
		t.Helper()
		for name, try := range tries {
			for i := range allowed {
				if got := try(); got == http.StatusTooManyRequests {
					t.Errorf("%s, %s: try %d is refused", what, name, i+1)
				}
			}
			for range other {
				if got := try(); got != http.StatusTooManyRequests {
					t.Errorf("%s, %s: one too many is answered %d", what, name, got)
				}
			}
		}
	}
	use("at first", 3, 1)
	l.mustReload(few + "brand: {title: Another}\n")
	use("reloaded", 0, 1)
	l.mustReload(strings.NewReplacer(": 3\n", ": 2\n").Replace(few))
	use("lowered", 0, 1)
	l.mustReload(strings.Replace(few, "per_minute: 0", "per_minute: 1", 1))
	described := func() int { status, _ := l.ask("GET", "/api/v2/openapi", "", from(5)...); return status }
	if first, second := described(), described(); first != http.StatusOK || second != http.StatusTooManyRequests {
		t.Errorf("of two requests where one is allowed, the first is answered %d, the second %d", first, second)
	}
	l.mustReload(more)
	for name, try := range tries {
		if name == "a token" {
			continue // its allowance grows with time alone
		}
		if got := try(); got == http.StatusTooManyRequests {
			t.Errorf("raised by one, %s is refused", name)
		}
		if got := try(); got != http.StatusTooManyRequests {
			t.Errorf("raised by one, %s has two more: %d", name, got)
		}
	}
}

func TestAConfigurationThatIsWrongChangesNothing(t *testing.T) {
	t.Parallel()
	l := live(t, "allow_anonymous: false\n")
	logo := filepath.Join(l.dir, "logo.exe")
	env.OK(t, os.WriteFile(logo, []byte("x"), 0o600))
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"two mistakes":   {"allow_anonymous: true\nlog: {level: loud}\nnothing: 1\n", []string{"log.level", "nothing"}},
		"no YAML":        {"allow_anonymous: [", []string{"is not valid YAML"}},
		"no such logo":   {"allow_anonymous: true\nbrand: {logo_file: /nowhere/logo.png}\n", []string{"brand.logo_file: open /nowhere/logo.png"}},
		"a logo that is": {"allow_anonymous: true\nbrand: {logo_file: " + logo + "}\n", []string{"is not an image"}},
	} {
		out := l.reload(test.text)
		for i, want := range test.want {
			if len(out.Problems) != len(test.want) || !strings.Contains(out.Problems[i], want) {
				t.Errorf("%s: problems %q, want %q", name, out.Problems, test.want)
			}
		}
		if status, _ := l.ask("POST", "/api/v2/pushes", "push[payload]=x"); status != http.StatusUnauthorized {
			t.Errorf("%s: anonymous callers got in: %d", name, status)
		}
	}
	if out := l.mustReload("allow_anonymous: true\nlisten: 127.0.0.1:2\n"); !slices.Equal(out.Changed, []string{"allow_anonymous"}) || !slices.Equal(out.Waiting, []string{"listen"}) {
		t.Errorf("after a change: %+v", out)
	}
	if out := l.mustReload("allow_anonymous: true\nlisten: 127.0.0.1:2\n"); len(out.Changed) != 0 || !slices.Equal(out.Waiting, []string{"listen"}) {
		t.Errorf("after none: %+v", out)
	}
}

// TestARequestEndsAsItBegan: an upload of text that began under the old terms gets
// them, though others got new ones meanwhile.
func TestARequestEndsAsItBegan(t *testing.T) {
	t.Parallel()
	l := live(t, "pw: {expire_after_days_default: 2}\n")
	conn := env.Must(net.Dial("tcp", strings.TrimPrefix(l.url, "http://")))(t)
	defer func() { _ = conn.Close() }()
	env.OK(t, conn.SetDeadline(time.Now().Add(env.Patience)))
	const body = `{"push":{"payload":"slow secret"}}`
	fmt.Fprintf(conn, "POST /api/v2/pushes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	if _, err := conn.Read(make([]byte, 100)); err != nil { // 100 Continue: it is being read
		t.Fatal(err)
	}
	l.mustReload("pw: {expire_after_days_default: 3}\nallow_anonymous: false\n")
	if status, _ := l.ask("POST", "/api/v2/pushes", "push[payload]=x"); status != http.StatusUnauthorized {
		t.Errorf("the next request is answered %d", status)
	}
	env.Must(io.WriteString(conn, body))(t)
	res := env.Must(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	var m made
	err := errors.Join(json.NewDecoder(res.Body).Decode(&m), res.Body.Close())
	if err != nil || res.StatusCode != http.StatusCreated || m.Days != 2 {
		t.Errorf("the request that ran is answered %s, %+v, %v", res.Status, m, err)
	}
}

func TestALevelChangesAtOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, level := liveLogger(&out, config.Log{Level: "warn", Format: "json"})
	write := func() string {
		out.Reset()
		log.Debug().Msg("debug")
		log.Info().Msg("info")
		log.Warn().Msg("warn")
		log.Error().Msg("error")
		var said []string
		for line := range strings.Lines(out.String()) {
			var e struct{ Message string }
			env.OK(t, json.Unmarshal([]byte(line), &e))
			said = append(said, e.Message)
		}
		return strings.Join(said, " ")
	}
	env.Equal(t, "at warn", write(), "warn error")
	for name, want := range map[string]string{"debug": "debug info warn error", "info": "info warn error", "error": "error"} {
		apply := env.Must(level.reload(config.Config{Log: config.Log{Level: name}}))(t)
		if apply(); write() != want {
			t.Errorf("at %s: %s", name, write())
		}
	}
	if log.GetLevel() != zerolog.TraceLevel {
		t.Error("the level is fixed")
	}
}

// TestAPartThatRefusesKeepsTheOthersFromChanging: they change all or none.
func TestAPartThatRefusesKeepsTheOthersFromChanging(t *testing.T) {
	t.Parallel()
	var changed []string
	part := func(name string, err error) reloadable {
		return func(config.Config) (func(), error) { return func() { changed = append(changed, name) }, err }
	}
	refusal := errors.New("this cannot be")
	var log bytes.Buffer
	r := newReloader(Options{Config: config.Default()}, zerolog.New(&log), part("first", nil), part("second", refusal))
	out, err := r.reload(t.Context(), admin.None{})
	if err != nil || len(out.Problems) != 1 || out.Problems[0] != refusal.Error() || len(changed) != 0 {
		t.Errorf("problems %q, changed %q, %v", out.Problems, changed, err)
	}
	env.Contains(t, "the log", log.String(), `"level":"error","problems":["this cannot be"]`)
	r.parts[1] = part("second", nil)
	if out, _ := r.reload(t.Context(), admin.None{}); len(out.Problems) != 0 || len(changed) != 2 {
		t.Errorf("problems %q, changed %q", out.Problems, changed)
	}
}

// TestTheInstanceLogHasEachReload: that it is in force, or that it was refused.
func TestTheInstanceLogHasEachReload(t *testing.T) {
	t.Parallel()
	l := live(t, "")
	l.mustReload("log:\n  level: debug\n")
	if out := l.reload("log:\n  level: loud\n"); len(out.Problems) == 0 {
		t.Error("a wrong configuration is in force")
	}
	list := env.Must(l.store.AdminEvents(t.Context(), time.Time{}, 0, 100))(t)
	var got []string
	for _, e := range list {
		if e.By.Role == store.Operator {
			got = append(got, e.Kind.String()+" "+e.Detail)
		}
	}
	if want := []string{"reload log.level", "reload_refused "}; !slices.Equal(got, want) {
		t.Errorf("the log has %q, want %q", got, want)
	}
}
