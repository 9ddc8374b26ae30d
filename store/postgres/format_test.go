package postgres

import (
	"fmt"
	"os"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
)

// A change of the tables, or of a record in them, takes another migration, and none that is
// there changes.
func TestAnotherFormatTakesAnotherMigration(t *testing.T) {
	t.Parallel()
	records, err := os.ReadFile("../testdata/records.txt")
	env.OK(t, err)
	golden.Digest(t, "testdata/formats.txt", len(migrations), fmt.Sprint(migrations)+string(records))
}
