package scale

import (
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { proctest.Main(overPostgres{m}) }

// overPostgres stops the PostgreSQL of the tests after them.
type overPostgres struct{ m *testing.M }

// Run runs the tests and returns the exit code.
func (o overPostgres) Run() int { return pgtest.Main(o.m) }
