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
	if err != nil {
		t.Fatal(err)
	}
	return id.Recipient().String(), file(t, "# made by a test\n"+id.String()+"\n")
}

func file(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func recipients(t *testing.T, texts ...string) Recipients {
	t.Helper()
	all, err := ParseRecipients(texts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func identities(t *testing.T, file string) Identities {
	t.Helper()
	all, err := LoadIdentities(file)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wantNames fails the test unless the directory has those files and no others.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

// sent writes a copy of b with w.
func sent(t *testing.T, w Writer, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := w.Stream(context.Background(), &out, bytes.NewReader(b), int64(len(b))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
