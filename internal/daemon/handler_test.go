package daemon

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server"
	"pushbox/store"
)

func TestALogoIsReadUpToItsLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, size int) string {
		path := filepath.Join(dir, name)
		env.OK(t, os.WriteFile(path, make([]byte, size), 0o600))
		return path
	}
	for _, c := range []struct {
		name string
		size int // -1: no logo
		want string
	}{
		{"", -1, ""},
		{write("a.png", maxLogo), maxLogo, ""},
		{write("b.png", maxLogo+1), 0, "is larger than 256 KiB"},
		{filepath.Join(dir, "none.png"), 0, "no such file"},
	} {
		logo, err := readLogo(c.name)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "brand.logo_file: ") {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		case err != nil || (logo == nil) != (c.size < 0) || logo != nil && len(logo.Content) != c.size:
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAStartSaysThatSitesCannotCreatePushes(t *testing.T) {
	t.Parallel()
	office := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	for _, c := range []struct {
		on, cors bool
		networks []netip.Prefix
		want     bool
	}{{true, true, office, true}, {true, true, nil, false}, {true, false, office, false}, {false, true, office, false}} {
		cfg := settingsFor(env.ShortDir(t))
		s := opened(t, cfg)
		cfg.EnableAPIv1, cfg.APIv1CORS, cfg.CreateNetworks = c.on, c.cors, c.networks
		var log bytes.Buffer
		if _, _, err := newHandler(t.Context(), optionsFor(cfg), s, zerolog.New(&log)); err != nil {
			t.Error(err)
		}
		closed(t, s)
		if said := strings.Contains(log.String(), "api_v1_cors has no effect, since create_networks is set"); said != c.want {
			t.Errorf("%+v: %s", c, &log)
		}
	}
}

func TestTheFirstAccountIsInvitedOnlyWhereThereIsNone(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	s := opened(t, cfg)
	_, first, err := newHandler(t.Context(), optionsFor(cfg), s, zerolog.Nop())
	if code, ok := strings.CutPrefix(first, "/users/first/"); err != nil || !ok || len(code) < 26 {
		t.Errorf("%q, %v", first, err)
	}
	_, again, err := newHandler(t.Context(), optionsFor(cfg), s, zerolog.Nop())
	if err != nil || again != first {
		t.Errorf("another run has another code, %v", err)
	}
	env.Must(s.AddAccount(t.Context(), store.Actor{Role: store.Operator}, "ann@example.com", secret.New("correct horse battery")))(t)
	if _, first, err := newHandler(t.Context(), optionsFor(cfg), s, zerolog.Nop()); err != nil || first != "" {
		t.Errorf("%q, %v", first, err)
	}
	cfg.Brand.LogoFile = filepath.Join(t.TempDir(), "none.svg")
	if _, _, err := newHandler(t.Context(), optionsFor(cfg), s, zerolog.Nop()); err == nil {
		t.Error("a logo that is missing is no error")
	}
	closed(t, s)
}

func TestTheGreetingNamesAnAddressThatThisMachineReaches(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"127.0.0.1:5100": "http://127.0.0.1:5100",
		"192.0.2.7:80":   "http://192.0.2.7:80",
		"0.0.0.0:5100":   "http://127.0.0.1:5100",
		"[::]:5100":      "http://localhost:5100",
		"[::1]:5100":     "http://[::1]:5100",
	} {
		addr := env.Must(net.ResolveTCPAddr("tcp", address))(t)
		env.Equal(t, address, localURL(addr), want)
	}
	env.Equal(t, "a Unix socket", localURL(&net.UnixAddr{Name: "/run/x", Net: "unix"}), "http://localhost")
}

// A person who starts the server for the first time reads where to open it, first.
func TestTheFirstLineOnATerminalSaysWhereToOpenThePages(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := optionsFor(settingsFor(filepath.Join(t.TempDir(), "data")))
	o.Stderr, o.Config.Log.Format = &out, "console"
	d := env.Must(open(t.Context(), o))(t)
	url := localURL(d.endpoints[0].listener.Addr())
	env.OK(t, d.abandon(t.Context()))
	first, rest, _ := strings.Cut(out.String(), "\n")
	if want := "pushbox: open " + url + "/ in a browser"; first != want || !strings.Contains(rest, "pushbox: made the data directory ") {
		t.Errorf("%q, and then\n%s", first, rest)
	}
}

// What the first start made is told even where it then fails.
func TestAFirstStartThatFailsSaysWhatItMade(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := optionsFor(settingsFor(filepath.Join(t.TempDir(), "data")))
	o.Stderr, o.Config.Log.Format, o.Config.Listen = &out, "console", "unix:"+filepath.Join(t.TempDir(), "missing", "socket")
	if _, err := open(t.Context(), o); err == nil || !strings.Contains(out.String(), "pushbox: made the key file ") {
		t.Errorf("%v; it says %q", err, &out)
	}
}

func TestTheLogHasEachNewEventOnceAndNoNames(t *testing.T) {
	t.Parallel()
	s := opened(t, settingsFor(env.ShortDir(t)))
	defer closed(t, s)
	var out bytes.Buffer
	log := newLogger(&out, config.Log{Level: "info", Format: "json"})
	f := env.Must(newFollower(t.Context(), s, log))(t)
	if _, err := f.look(t.Context()); err != nil || out.Len() > 0 {
		t.Fatalf("before anything was done: %s, %v", &out, err)
	}
	by := store.Actor{Role: store.Operator}
	env.Must(s.AddAccount(t.Context(), by, "ann-marker@example.com", secret.New("correct horse battery")))(t)
	env.Must(f.look(t.Context()))(t)
	env.Must(s.CreateToken(t.Context(), by, "ann-marker@example.com", store.TokenTerms{Label: "label-marker"}))(t)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := f.run(ended); err != nil { // looks once more
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"event":"account_create","event_number":2,"actor":"operator","account_id":1`) ||
		!strings.Contains(lines[1], `"event":"token_create","event_number":3,"actor":"operator","account_id":1,"token_id":1`) {
		t.Errorf("the log is\n%s", &out)
	}
	if strings.Contains(out.String(), "marker") {
		t.Errorf("the log has names:\n%s", &out)
	}
}

// A server tells its administrators what doctor finds, but for checks that ask others.
func TestAServerExaminesItself(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	cfg.Backup.Schedule = 0
	d := env.Must(open(t.Context(), optionsFor(cfg)))(t)
	defer func() {
		if err := d.abandon(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	grades := make(map[string]string)
	for _, f := range d.findings(soon(t), "") {
		if grades[f.Check] = f.Grade; f.Text == "" || (f.Grade == "problem" || f.Grade == "warning") != (f.Cure != "") {
			t.Errorf("it says %+v", f)
		}
	}
	for check, want := range map[string]string{"server": "ok", "database": "ok", "clock": "ok", "backups": "warning", "messages": "ok", "mail": "", "proxy": "", "network time": ""} {
		if grades[check] != want {
			t.Errorf("%s is %q, not %q", check, grades[check], want)
		}
	}
	if grades["free space"] == "" || grades["control socket"] == "problem" {
		t.Errorf("the grades are %v", grades)
	}
}

// After a reload administrators see the new values, and of settings that wait for a restart
// those that are in force.
func TestAdministratorsSeeTheSettingsInForce(t *testing.T) {
	t.Parallel()
	file := env.ShortDir(t) + "/pushbox.yaml"
	l := &living{t: t, dir: t.TempDir(), file: file}
	l.write("purge_after: 24h\nmax_store_size: 1GiB\n")
	src := config.Source{File: file}
	loaded := env.Must(config.Load(src))(t)
	o := optionsFor(loaded.Config)
	o.Source, o.Values = src, loaded.Values
	d := &daemon{reloads: newReloader(o, zerolog.Nop())}
	var told server.Options
	d.inside(o)(&told)
	value := func(key string) config.Value {
		all := told.Monitoring.Settings()
		return all[slices.IndexFunc(all, func(v config.Value) bool { return v.Key == key })]
	}
	before := value("listen_mode")
	l.write("purge_after: 48h\nlisten_mode: 0600\n")
	env.Must(d.reloads.reload(t.Context(), admin.None{}))(t)
	if got := value("purge_after"); got.Value != "2d" || got.Origin == config.OriginDefault {
		t.Errorf("purge_after is %+v", got)
	}
	env.Equal(t, "listen_mode is", value("listen_mode"), before)
}
