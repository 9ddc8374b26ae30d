package model

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"pushbox/internal/testkit/pgtest"
)

func TestMain(m *testing.M) {
	// Ten checks at a time, so that a few more checks do not become a hundred. The flag may say otherwise.
	if err := flag.Set("rapid.checks", "10"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(pgtest.Main(m))
}
