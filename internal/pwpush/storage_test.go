package pwpush_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"pushbox/internal/pwpush"
	"pushbox/internal/testkit/env"
)

// blobsOf returns the files of the fixtures.
func blobsOf(t *testing.T) (all []pwpush.Blob) {
	t.Helper()
	for _, row := range wholeFixture(t, "v2.sqlite.sql") {
		if b, ok := row.(pwpush.Blob); ok {
			all = append(all, b)
		}
	}
	if len(all) != 2 {
		t.Fatalf("%d files", len(all))
	}
	return all
}

// content returns the content of a file in a directory.
func content(t *testing.T, dir string, b pwpush.Blob) (string, error) {
	t.Helper()
	s, err := pwpush.OpenStorage(dir)
	env.OK(t, err)
	defer func() { _ = s.Close() }()
	r, err := s.Open(b)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), errors.Join(err, r.Close())
}

func TestFilesAreInTheStorage(t *testing.T) {
	t.Parallel()
	all := blobsOf(t)
	if got, err := content(t, "testdata/storage", all[0]); err != nil || got != "What the file says.\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := content(t, "testdata/storage", all[1]); err != nil || len(got) != 1024 || got[255] != 255 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	unchecked := all[0]
	unchecked.MD5 = "" // Active Storage may have none
	if _, err := content(t, "testdata/storage", unchecked); err != nil {
		t.Errorf("without a checksum: %v", err)
	}
}

func TestADamagedFileIsNoticed(t *testing.T) {
	t.Parallel()
	b := blobsOf(t)[0]
	whole := "What the file says.\n"
	for what, text := range map[string]string{"changed": "That the file says.\n", "cut": whole[:19], "longer": whole + "x", "empty": ""} {
		dir := t.TempDir()
		name := filepath.Join(dir, b.Key[:2], b.Key[2:4], b.Key)
		env.OK(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)))
		if _, err := content(t, dir, b); !errors.Is(err, pwpush.ErrContent) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAFileThatIsNotThereIsNotOpened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		change func(*pwpush.Blob)
		want   error
	}{
		{"missing", func(b *pwpush.Blob) { b.Key = "abcdmissing" }, fs.ErrNotExist},
		{"in object storage", func(b *pwpush.Blob) { b.Service = "amazon" }, pwpush.ErrElsewhere},
		{"outside", func(b *pwpush.Blob) { b.Key = "../../reader.go" }, nil},
		{"without a key", func(b *pwpush.Blob) { b.Key = "" }, nil},
	} {
		b := blobsOf(t)[0]
		c.change(&b)
		if _, err := content(t, "testdata/storage", b); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if _, err := pwpush.OpenStorage("testdata/missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
}
