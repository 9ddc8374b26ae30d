package bolt

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
	"pushbox/store/record"
)

// A change of the buckets, or of a record in them, takes another schema number.
func TestAnotherFormatTakesAnotherSchemaNumber(t *testing.T) {
	t.Parallel()
	records, err := os.ReadFile("../testdata/records.txt")
	env.OK(t, err)
	var b strings.Builder
	for n, name := range bucketNames {
		fmt.Fprintf(&b, "%s %t\n", name, tagged[n])
	}
	counts := delta{views: 1, seq: 2, minor: 3, updated: 4}
	ended := delta{views: 1, seq: 2, minor: 3, updated: 4, state: record.Deleted, grants: 5, expired: 6, files: true, owner: 7, expires: 8}
	for _, r := range []journalRow{{delta: counts, entry: []byte("entry")}, {delta: ended}} {
		made, err := r.AppendBinary(nil)
		env.OK(t, err)
		fmt.Fprintf(&b, "%x\n", made)
	}
	golden.Digest(t, "testdata/formats.txt", int(schemaNumber), b.String()+string(records))
}
