package certs_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/certs"
	"pushbox/internal/testkit/env"
)

func TestRootsAreReadFromAFileInPEM(t *testing.T) {
	t.Parallel()
	one, two := sign(t, time.Hour, domain), sign(t, time.Hour, another)
	path := filepath.Join(t.TempDir(), "roots.pem")
	for _, c := range []struct {
		what    string
		content []byte
		trusted []signed
	}{
		{"one", one.cert, []signed{one}},
		{"two, with words between them", bytes.Join([][]byte{one.cert, two.cert}, []byte("and\n")), []signed{one, two}},
		{"none", nil, nil},
		{"a key", one.key, nil},
		{"too much", bytes.Repeat([]byte("#"), 1<<20+1), nil},
	} {
		env.OK(t, os.WriteFile(path, c.content, 0o600))
		roots, err := certs.ReadRoots(path, false)
		if (err != nil) != (c.trusted == nil) {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		want := x509.NewCertPool()
		for _, s := range c.trusted {
			want.AddCert(s.leaf)
		}
		if err == nil && !roots.Equal(want) {
			t.Errorf("%s: other roots are trusted", c.what)
		}
	}
	if _, err := certs.ReadRoots(filepath.Join(t.TempDir(), "none"), false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestRootsCanBeAddedToThoseOfTheSystem(t *testing.T) {
	t.Parallel()
	own := sign(t, time.Hour, domain)
	path := filepath.Join(t.TempDir(), "roots.pem")
	env.OK(t, os.WriteFile(path, own.cert, 0o600))
	want, err := x509.SystemCertPool()
	if err != nil {
		want = x509.NewCertPool()
	}
	want.AddCert(own.leaf)
	if got, err := certs.ReadRoots(path, true); err != nil || !got.Equal(want) {
		t.Errorf("other roots are trusted (%v)", err)
	}
}

func TestAFileWithoutAUsableRootSaysWhy(t *testing.T) {
	t.Parallel()
	one := sign(t, time.Hour, domain)
	path := filepath.Join(t.TempDir(), "roots")
	for want, content := range map[string][]byte{
		"no certificate in PEM": one.key,
		"openssl x509":          one.leaf.Raw,
		"cannot be used: x509:": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.leaf.Raw[1:]}),
	} {
		env.OK(t, os.WriteFile(path, content, 0o600))
		if _, err := certs.ReadRoots(path, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
