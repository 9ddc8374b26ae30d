package instance

import (
	"errors"
	"io/fs"
	"strings"

	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
)

// maxSecretFile is the largest file with a secret, in bytes.
const maxSecretFile = 1 << 10

// ReadSecretFile reads a file that has a secret and nothing else but white space around it.
func ReadSecretFile(name string) (secret.Text, error) {
	b, err := durable.ReadBounded(name, maxSecretFile)
	if errors.Is(err, fs.ErrPermission) {
		err = hint.With(err, "let the server's user read it: chown root:pushbox %[1]s && chmod 640 %[1]s", name)
	}
	return secret.New(strings.TrimSpace(string(b))), err
}
