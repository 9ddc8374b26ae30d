package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

// FuzzLoad checks that no file makes Load panic, that Load explains what it refuses,
// and that what it accepts prints as a file that loads to the same.
func FuzzLoad(f *testing.F) {
	example, err := os.ReadFile("../config.example.yaml")
	env.OK(f, err)
	f.Add(example)
	for _, text := range []string{
		"", "~", "listen: ':1'\nlog: {level: debug}\n", "purge_after: 1d12h30m1.5s\nmax_store_size: 3GiB\n",
		"trusted_proxies: [10.0.0.1, 'fd00::/8']\nbase_url: HTTPS://h.example//\n",
		"master_key: |\n  one\n  two\n", "pw: &a {expire_after_days_max: 9}\nqr: *a\n", "a: &a [*a]\n",
		"data_dir: \"\\u00a0\\x85\\U0001F511\"\n", "limits: {drain_timeout: 5, clients: 0x1}\n", "? [a]\n: !!float b\n--- x",
	} {
		f.Add([]byte(text))
	}
	file := filepath.Join(f.TempDir(), "pushbox.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		env.OK(t, os.WriteFile(file, text, 0o600))
		l, err := config.Load(config.Source{File: file})
		if err == nil {
			wantSameAgain(t, l, file)
			return
		}
		var all *config.ProblemsError
		if !errors.As(err, &all) || len(all.Problems) == 0 {
			t.Fatalf("not an explanation: %v", err)
		}
		for _, p := range all.Problems {
			if p.Origin == "" || p.Text == "" {
				t.Errorf("an incomplete explanation: %+v", p)
			}
		}
	})
}
