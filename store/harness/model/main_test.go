package model

import (
	"fmt"
	"os"
	"testing"

	"pushbox/internal/testkit/pgtest"
	"pushbox/store/storetest"
)

func TestMain(m *testing.M) {
	if err := storetest.SmallBatches(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(pgtest.Main(m))
}
