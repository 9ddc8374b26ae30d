package kill

import (
	"testing"

	"pushbox/internal/proctest"
)

func TestMain(m *testing.M) { proctest.Main(m) }
