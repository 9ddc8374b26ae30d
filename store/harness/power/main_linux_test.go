package power

import (
	"os"
	"testing"

	"pushbox/internal/testkit/faultfs"
)

func TestMain(m *testing.M) {
	if faultfs.Serve() {
		return
	}
	os.Exit(m.Run())
}
