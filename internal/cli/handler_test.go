package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pushbox/internal/secret"
)

func TestALogoIsReadUpToItsLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, size int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
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

func TestTheFirstAccountIsInvitedOnlyWhereThereIsNone(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(shortDir(t))
	s := opened(t, cfg)
	_, first, err := newHandler(t.Context(), cfg, s, zerolog.Nop())
	if code, ok := strings.CutPrefix(first, "/users/first/"); err != nil || !ok || len(code) < 26 {
		t.Errorf("%q, %v", first, err)
	}
	_, again, err := newHandler(t.Context(), cfg, s, zerolog.Nop())
	if err != nil || again == first {
		t.Errorf("the code is the same in two runs, %v", err)
	}
	if _, err := s.AddAccount(t.Context(), "ann@example.com", secret.New("correct horse battery")); err != nil {
		t.Fatal(err)
	}
	if _, first, err := newHandler(t.Context(), cfg, s, zerolog.Nop()); err != nil || first != "" {
		t.Errorf("%q, %v", first, err)
	}
	cfg.Brand.LogoFile = filepath.Join(t.TempDir(), "none.svg")
	if _, _, err := newHandler(t.Context(), cfg, s, zerolog.Nop()); err == nil {
		t.Error("a logo that is missing is no error")
	}
	closed(t, s)
}
