package scale

import (
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { proctest.Main(pgtest.Tests{M: m}) }
