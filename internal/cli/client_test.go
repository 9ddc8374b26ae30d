package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"pushbox/internal/admin"
	"pushbox/internal/instance"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// sent are the tokens that a server was sent, request by request.
func (f *fakeServer) sent() string {
	var all []string
	for _, r := range f.requests() {
		all = append(all, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}
	return strings.Join(all, ",")
}

func TestTheTokenIsSentToItsServerAlone(t *testing.T) {
	t.Parallel()
	token := inFile(t, "token", apiToken+"\n")
	for _, test := range []struct {
		name       string
		home       bool // whether the server is the one that url names
		push, link string
	}{
		{"its own", true, apiToken, apiToken + "," + apiToken},
		{"another", false, "", ","},
	} {
		f := newFake(t)
		url := f.URL
		if !test.home {
			url = "https://push.invalid"
		}
		environ := []string{"PUSHBOX_URL=" + url, "PUSHBOX_TOKEN_FILE=" + token}
		act(t, "", environ, "get", f.link(), "-o", t.TempDir()).want(t, exitDone).discreet(t)
		act(t, "", environ, "expire", f.link()).want(t, exitDone, "the push has ended").discreet(t)
		env.Equal(t, test.name+": get and expire sent", f.sent(), test.link)
		p := newFake(t)
		if test.home {
			environ[0] = "PUSHBOX_URL=" + p.URL
		}
		got := act(t, "x", environ, "push", "--url", p.URL).want(t, exitDone).discreet(t)
		if p.sent() != test.push || !test.home != strings.Contains(got.stderr, "is for https://push.invalid, and is not sent to "+p.URL) {
			t.Errorf("%s: push sent %q\n%s", test.name, p.sent(), got.stderr)
		}
	}
}

func TestATokenWithoutAServerGoesToTheOneThatIsNamed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	token := inFile(t, "token", apiToken)
	act(t, "x", []string{"PUSHBOX_TOKEN_FILE=" + token}, "push", "--url", f.URL).want(t, exitDone)
	act(t, "", nil, "get", f.link(), "--token-file", token, "-o", t.TempDir()).want(t, exitDone)
	env.Equal(t, "sent", f.sent(), apiToken+",")
}

func TestTokenFilesAreChecked(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for text, want := range map[string]string{
		"":                        "it is empty",
		"\n":                      "it is empty",
		"a-marker\nb\n":           "a single line",
		"a-marker\x00":            "characters that a token cannot have",
		strings.Repeat("x", 4097): "a single line",
	} {
		act(t, "x", nil, "push", "--url", f.URL, "--token-file", inFile(t, "token", text)).
			want(t, exitFailed, "the token file", want, "hint: it must have the API token in one line").discreet(t)
	}
	act(t, "x", nil, "push", "--url", f.URL, "--token-file", "nowhere").want(t, exitFailed, "the token file: open nowhere", "hint: name the file")

	open := inFile(t, "token", apiToken)
	env.OK(t, os.Chmod(open, 0o644))
	act(t, "x", nil, "push", "--url", f.URL, "--token-file", open).want(t, exitDone, "other users can read the token file "+open+" (mode 0644); better: chmod 600").discreet(t)
	env.Equal(t, "sent", f.sent(), apiToken)
}

func TestTheFileOfSettingsNamesServerAndToken(t *testing.T) {
	t.Parallel()
	f, home := newFake(t), t.TempDir()
	dir := filepath.Join(home, ".config", "pushbox")
	env.OK(t, os.MkdirAll(dir, 0o700))
	for name, text := range map[string]string{"client.yaml": "url: " + f.URL + "\ntoken_file: token\n", "token": apiToken} {
		env.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	environ := []string{"HOME=" + home}
	act(t, "x", environ, "push").want(t, exitDone)
	other := newFake(t)
	act(t, "x", environ, "push", "--url", other.URL).want(t, exitDone, "is not sent to "+other.URL).discreet(t)
	if f.sent() != apiToken || other.sent() != "" {
		t.Errorf("sent %q and %q", f.sent(), other.sent())
	}
	env.OK(t, os.WriteFile(filepath.Join(dir, "client.yaml"), []byte("server: x\n"), 0o600))
	act(t, "x", environ, "push").want(t, exitUsage, "server (file ", "is not a setting", "hint: correct these settings; pushbox push --help names all of them")
}

func TestAServerWithoutTLSElsewhereIsWarnedAbout(t *testing.T) {
	t.Parallel()
	const warning = "is not encrypted"
	f := newFake(t)
	if got := act(t, "x", nil, "push", "--url", f.URL).want(t, exitDone); strings.Contains(got.stderr, warning) {
		t.Errorf("this machine was warned about:\n%s", got.stderr)
	}
	act(t, "x", nil, "push", "--url", "http://push.invalid").want(t, exitFailed, "http://push.invalid "+warning, "hint: check the name of the host")
	act(t, "", nil, "get", "http://push.invalid/p/"+linkToken, "-o", t.TempDir()).want(t, exitFailed, warning, "a view may have been counted").discreet(t)
}

func TestAPrivateAuthorityIsTrustedIfItIsNamed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	safe := httptest.NewTLSServer(f)
	t.Cleanup(safe.Close)
	ca := inFile(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: safe.Certificate().Raw})))
	act(t, "x", nil, "push", "--url", safe.URL, "--ca-file", ca).want(t, exitDone)
	act(t, "x", nil, "push", "--url", safe.URL).want(t, exitFailed, "certificate", "name that with --ca-file")
	act(t, "x", nil, "push", "--url", safe.URL, "--ca-file", inFile(t, "odd.pem", "x")).want(t, exitFailed, "has no certificate", "hint: name a file with certificates")
	act(t, "x", nil, "push", "--url", safe.URL, "--ca-file", "nowhere").want(t, exitFailed, "no such file", "hint: name a file with certificates")
	act(t, "x", nil, "push", "--url", "https"+strings.TrimPrefix(f.URL, "http")).want(t, exitFailed, "hint: the server has no TLS at this address")
}

func TestWhatDoesNotAnswerAsItShouldIsToldWithoutSecrets(t *testing.T) {
	t.Parallel()
	token := inFile(t, "token", apiToken)
	page := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(page.Close)
	odd := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(odd.Close)
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.example/p/"+linkToken+"?t=marker", http.StatusMovedPermanently))
	t.Cleanup(moved.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	for url, want := range map[string][]string{
		page.URL:  {"404 Not Found", "hint: check the link"},
		odd.URL:   {"does not answer as the API", "hint: check the address"},
		moved.URL: {"redirects to another address, on https://elsewhere.example", "hint: if that is the server you mean"},
		gone.URL:  {"connection refused", "hint: check the address and its port"},
	} {
		environ := []string{"PUSHBOX_URL=" + url, "PUSHBOX_TOKEN_FILE=" + token}
		link := url + "/p/" + linkToken
		for _, args := range [][]string{{"push"}, {"get", link, "-o", t.TempDir()}, {"expire", link}} {
			got := act(t, "text-marker", environ, args...).want(t, exitFailed, want...).discreet(t)
			env.Equal(t, "printed", got.stdout, "")
		}
	}
}

func TestEventsSinceTakesALengthOfTimeADateOrATime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"24h": time.Now().Add(-24 * time.Hour), "7d": time.Now().Add(-7 * 24 * time.Hour),
		"2026-01-31":                time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC),
		"2026-01-31T09:00:00+01:00": time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC),
	} {
		if got, err := parseSince(text); err != nil || got.Sub(want).Abs() > time.Hour {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "yesterday", "-1h", "0", "2026-13-01", "2026-01-31 09:00"} {
		if _, err := parseSince(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// More events than one answer holds are listed in several.
func TestEventsAreListedToTheLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := opened(t, settingsFor(dir))
	const more = 3
	var g errgroup.Group
	g.SetLimit(1000)                        // which share commits
	for range admin.EventsPage + more - 1 { // the first event is that of the new database
		g.Go(func() error {
			return s.NoteReload(t.Context(), store.Actor{Role: store.Operator}, false, nil)
		})
	}
	env.OK(t, g.Wait())
	closed(t, s)
	r := run(t, dir, "", "events", "--json").want(t, 0)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if len(lines) != admin.EventsPage+more {
		t.Fatalf("there are %d lines", len(lines))
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, fmt.Sprintf(`{"number":%d,`, i+1)) {
			t.Fatalf("line %d is %s", i+1, line)
		}
	}
}

// The user of the server may have fewer rights than that of the command.
func TestAServerThatAnswersFalselyHarmsNoCommand(t *testing.T) {
	t.Parallel()
	dir := env.ShortDir(t)
	end := control(t, settingsFor(dir), func(ctx context.Context, l net.Listener) error {
		answer := admin.EventList{Events: []store.AdminLine{{Number: 7, Detail: "a\x1b]0;title\x07b"}}, More: true}
		srv := &http.Server{ReadHeaderTimeout: env.Patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(answer)
		})}
		defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	r := run(t, dir, "", "events").want(t, exitFailed, "the numbers of events do not rise")
	if strings.Contains(r.stdout, "\x1b") || !strings.Contains(r.stdout, "a<U+001B>]0;title<U+0007>b") {
		t.Errorf("it wrote %q", r.stdout)
	}
	end()
	env.OK(t, os.Symlink("elsewhere.sock", admin.SocketPath(dir)))
	run(t, dir, "", "events").want(t, exitFailed, "is not a socket")
}

// One damaged event hides those behind it, and not those before.
func TestEventsBeforeADamagedOneAreListed(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*record.AdminEvent){
		"it does not open":   func(e *record.AdminEvent) { e.Digest[0]++ },
		"its row is changed": func(e *record.AdminEvent) { e.Sealed = append(e.Sealed, marker...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			damageEvent(t, dir, damage)
			for _, flags := range [][]string{nil, {"--json"}} {
				r := run(t, dir, "", append([]string{"events"}, flags...)...).want(t, exitFailed, "event 3", "the database is damaged", "hint: ")
				if !strings.Contains(r.stdout, "keys_create") || strings.Contains(r.stdout, "reload") {
					t.Errorf("%v: it lists %s", flags, r.stdout)
				}
			}
		})
	}
}

// marker is in a row that is to be changed in the file.
const marker = "the marker of an event"

// damageEvent makes a database whose third event is damaged, of five.
func damageEvent(t *testing.T, dir string, damage func(*record.AdminEvent)) {
	t.Helper()
	cfg := settingsFor(dir)
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: instance.Database(cfg)})
	env.OK(t, err)
	key := env.Must(seal.CreateKeyFile(cfg.KeyFile()))(t)
	spoiled := &spoiler{Engine: engine, damage: damage}
	s := env.Must(store.Open(t.Context(), spoiled, key, instance.StoreOptions(cfg)))(t)
	env.Must(s.AddAccount(t.Context(), store.Actor{Role: store.Operator}, alice, secret.New(password)))(t)
	for range 3 {
		env.OK(t, s.NoteReload(t.Context(), store.Actor{Role: store.Operator}, false, nil))
	}
	closed(t, s)
	path := instance.Database(cfg)
	changed := bytes.ReplaceAll(env.Read(t, path), []byte(marker), []byte(strings.ToUpper(marker)))
	env.OK(t, os.WriteFile(path, changed, 0o600))
}

// A spoiler is an engine that damages the first event without another change.
type spoiler struct {
	record.Engine
	damage func(*record.AdminEvent)
	done   bool
}

func (s *spoiler) Update(ctx context.Context, change func(record.Tx) error) error {
	return s.Engine.Update(ctx, func(t record.Tx) error { return change(&spoiledTx{t, s, false}) })
}

type spoiledTx struct {
	record.Tx
	by    *spoiler
	wrote bool
}

func (t *spoiledTx) Put(of *record.Table, r record.Record) error {
	t.wrote = true
	return t.Tx.Put(of, r)
}

func (t *spoiledTx) Tell(e record.AdminEvent) error {
	if !t.by.done && !t.wrote {
		t.by.damage(&e)
		t.by.done = true
	}
	return t.Tx.Tell(e)
}

func TestAnEventOfAnAccountThatIsGoneHasItsID(t *testing.T) {
	t.Parallel()
	row := eventRow(store.AdminLine{Event: "token_revoke", Actor: "operator", AccountID: 7, Token: 3})
	env.Equal(t, "the row is", strings.Join(row, "|"), "-|token_revoke|operator|account 7, removed|-|token 3")
}

// An address that passes for another one is seen for what it is.
func TestListsShowOddCharactersOfAddresses(t *testing.T) {
	t.Parallel()
	const odd, want = "adm\u200b@example.com", `adm\u200b@example.com`
	if row := eventRow(store.AdminLine{Event: "sign_in", Actor: "account", Account: odd}); row[3] != want {
		t.Errorf("of an event: %q", row[3])
	}
	if row := userRow(admin.User{Email: odd}); row[0] != want {
		t.Errorf("of an account: %q", row[0])
	}
}

func TestAnEventNamesTheAdministratorWhoActed(t *testing.T) {
	t.Parallel()
	e := store.AdminLine{Event: "account_disable", Actor: "admin", ActorID: 2, ActorAccount: "root@example.com", AccountID: 7, Account: "ann@example.com"}
	env.Equal(t, "the row is", strings.Join(eventRow(e), "|"), "-|account_disable|admin root@example.com|ann@example.com|-|-")
	if e.ActorAccount = ""; eventRow(e)[2] != "admin (account 2, removed)" {
		t.Errorf("the row is %q", eventRow(e))
	}
	if e.ActorID = 7; eventRow(e)[2] != "admin" {
		t.Errorf("the row is %q", eventRow(e))
	}
}
