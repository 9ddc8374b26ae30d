package instance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func TestTheAddressOfTheDatabaseComesFromItsSettingOrItsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		env.OK(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for name, c := range map[string]struct {
		cfg  config.Config
		want string
		says string // empty: no error
	}{
		"none":          {},
		"a setting":     {cfg: config.Config{DatabaseURL: secret.New("postgres:///a")}, want: "postgres:///a"},
		"a file":        {cfg: config.Config{DatabaseURLFile: file("url", "postgres:///b\n")}, want: "postgres:///b"},
		"an empty file": {cfg: config.Config{DatabaseURLFile: file("empty", "\n")}, says: "is empty"},
		"no file":       {cfg: config.Config{DatabaseURLFile: filepath.Join(dir, "none")}, says: "database_url_file: "},
	} {
		got, err := DatabaseURL(c.cfg)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && !got.IsZero() && got.Reveal() != c.want || got.IsZero() != (c.want == "") {
			t.Errorf("%s: %q, not %q", name, got.Reveal(), c.want)
		}
	}
}

// A start that begins again, as others start too, says nothing twice.
func TestWhatWasJustSaidIsNotSaidAgain(t *testing.T) {
	t.Parallel()
	var said []string
	note := onlyNews(func(say string) { said = append(said, say) })
	for _, say := range []string{"a", "b", "b", "a"} {
		note(say)
	}
	if want := []string{"a", "b", "a"}; !slices.Equal(said, want) {
		t.Errorf("it says %q, not %q", said, want)
	}
}
