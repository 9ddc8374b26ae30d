package daemon

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
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
	if _, err := s.AddAccount(t.Context(), store.Actor{Role: store.Operator}, "ann@example.com", secret.New("correct horse battery")); err != nil {
		t.Fatal(err)
	}
	if _, first, err := newHandler(t.Context(), optionsFor(cfg), s, zerolog.Nop()); err != nil || first != "" {
		t.Errorf("%q, %v", first, err)
	}
	cfg.Brand.LogoFile = filepath.Join(t.TempDir(), "none.svg")
	if _, _, err := newHandler(t.Context(), optionsFor(cfg), s, zerolog.Nop()); err == nil {
		t.Error("a logo that is missing is no error")
	}
	closed(t, s)
}
