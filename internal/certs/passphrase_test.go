package certs_test

import (
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/testkit/env"
)

func TestAKeyWithAPassphraseIsRefusedByThatName(t *testing.T) {
	t.Parallel()
	pair := sign(t, time.Hour, domain)
	dir := t.TempDir()
	cfg := config.Default()
	cfg.TLS.CertFile, cfg.TLS.KeyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	env.OK(t, os.WriteFile(cfg.TLS.CertFile, pair.cert, 0o600))
	for _, c := range []struct {
		what      string
		key       *pem.Block
		encrypted bool
	}{
		{"PKCS #8", &pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("sealed")}, true},
		{"RFC 1421", &pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"}, Bytes: []byte("sealed")}, true},
		{"damaged", &pem.Block{Type: "PRIVATE KEY", Bytes: []byte("damaged")}, false},
	} {
		env.OK(t, os.WriteFile(cfg.TLS.KeyFile, pem.EncodeToMemory(c.key), 0o600))
		_, err := certs.New(certs.Options{Config: cfg, Tell: func(certs.Event) {}})
		if err == nil || errors.Is(err, certs.ErrPassphrase) != c.encrypted {
			t.Errorf("%s: %v", c.what, err)
		}
		if got := certs.Hint(err); strings.HasPrefix(got, "remove the passphrase") != c.encrypted {
			t.Errorf("%s: the hint is %s", c.what, got)
		}
	}
}
