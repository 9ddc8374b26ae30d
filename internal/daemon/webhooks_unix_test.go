//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// A secret that is there must not be replaced because it cannot be read.
func TestTheHintForASecretFitsTheError(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	w := config.Default().Webhooks
	w.URL, w.SecretFile = secret.New("https://hooks.example.com/x"), file
	if err := CheckInstanceHook(w); !strings.HasPrefix(hint.Of(err), "make one: ") || !strings.Contains(err.Error(), "webhooks.secret_file") {
		t.Errorf("a file that is missing: %v; hint: %s", err, hint.Of(err))
	}
	env.OK(t, os.WriteFile(file, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"), 0o600))
	if err := CheckInstanceHook(w); err != nil {
		t.Errorf("a secret: %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root can read everything")
	}
	env.OK(t, os.Chmod(file, 0))
	if err := CheckInstanceHook(w); !strings.HasPrefix(hint.Of(err), "let the server's user read it: chown") {
		t.Errorf("a file that cannot be read: %v; hint: %s", err, hint.Of(err))
	}
}
