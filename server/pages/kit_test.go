package pages_test

import (
	"context"
	"os"
	"testing"
	"time"

	"pushbox/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

var ctx = context.Background()

const (
	day    = 24 * time.Hour
	pushes = "/api/v2/pushes"
)
