package backup

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"pushbox/internal/testkit/env"
)

// content returns bytes whose values depend on their offsets.
func content(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// newRecipient makes a recipient and a file with the identity that belongs to it.
func newRecipient(t *testing.T) (recipient, identityFile string) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	env.OK(t, err)
	return id.Recipient().String(), file(t, "# made by a test\n"+id.String()+"\n")
}

func file(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	env.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func recipients(t *testing.T, texts ...string) Recipients {
	t.Helper()
	all, err := ParseRecipients(texts, nil)
	env.OK(t, err)
	return all
}

func identities(t *testing.T, file string) Identities {
	t.Helper()
	all, err := LoadIdentities(file)
	env.OK(t, err)
	return all
}

// wantNames fails the test unless the directory has those files and no others.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	env.OK(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("there is %q, not %q", got, want)
	}
}

func put(t *testing.T, dir string, age time.Duration, names ...string) {
	t.Helper()
	for _, name := range names {
		path, then := filepath.Join(dir, name), time.Now().Add(-age)
		env.OK(t, os.WriteFile(path, nil, 0o600))
		env.OK(t, os.Chtimes(path, then, then))
	}
}

// sent writes a copy of b with w.
func sent(t *testing.T, w Writer, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	env.OK(t, w.Stream(context.Background(), &out, bytes.NewReader(b), int64(len(b))))
	return out.Bytes()
}
