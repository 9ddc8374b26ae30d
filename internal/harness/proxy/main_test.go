package proxy

import (
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { proctest.Main(withDatabases{m}) }

// withDatabases stops PostgreSQL after the tests.
type withDatabases struct{ *testing.M }

// Run runs the tests and returns the exit code.
func (m withDatabases) Run() int { return pgtest.Main(m.M) }
