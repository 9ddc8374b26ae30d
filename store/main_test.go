package store_test

import (
	"os"
	"testing"

	"pushbox/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
