package durable_test

import (
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/durable"
)

func TestASmallFileIsReadWholeAndALargerOneNotAtAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, strings.Repeat("x", 1024))
	if b, err := durable.ReadBounded(path, 1024); err != nil || len(b) != 1024 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := durable.ReadBounded(path, 1023); err == nil || !strings.Contains(err.Error(), "is larger than 1023 B") {
		t.Errorf("it is read: %v", err)
	}
	if _, err := durable.ReadBounded(path+"x", 1); err == nil {
		t.Error("a file that is not there is read")
	}
}
