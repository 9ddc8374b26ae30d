package kill

import (
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { proctest.Main(withCluster{m}) }

// withCluster runs tests, and then stops the PostgreSQL that they started.
type withCluster struct{ m *testing.M }

// Run runs the tests and returns the exit code.
func (c withCluster) Run() int { return pgtest.Main(c.m) }
