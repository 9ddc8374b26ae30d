package faultfs_test

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
