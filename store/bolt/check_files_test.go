package bolt

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// plantFiles stores a push with two chunks and a grant, and the orphans of another
// push.
func plantFiles(t *testing.T, db *DB) {
	t.Helper()
	for _, n := range []int{fileNumber, orphanNumber} {
		env.OK(t, db.PutChunks(t.Context(), testPush(n).ID, 0, 0, [][]byte{[]byte("chunk 0"), []byte("chunk 1")}))
	}
	p := plantedFiles()
	p.GrantsEnd = time.Time{}
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte("sealed"), record.Entry{Kind: record.EntryCreation})))
	if _, err := db.Change(t.Context(), p.ID, func(record.Push) (record.Push, record.Entry, error) {
		return plantedFiles(), record.Entry{Grant: &record.NewGrant{Grant: plantedGrant()}}, nil
	}); err != nil {
		t.Fatal(err)
	}
}

// The numbers of the pushes that plantFiles stores, and of one that does not exist.
const fileNumber, orphanNumber, noNumber = 7, 8, 9

// plantedFiles is the push with files, as it is stored.
func plantedFiles() record.Push {
	p := testPush(fileNumber)
	p.Kind, p.Files, p.Stored, p.GrantsEnd = record.File, []byte("list"), 14, time.UnixMilli(1000).UTC()
	return p
}

func plantedGrant() record.Grant {
	return record.Grant{Digest: record.GrantDigest(testDigest), Push: testPush(fileNumber).ID, ExpiresAt: time.UnixMilli(1000).UTC()}
}

// grantFor stores another grant for that push.
func grantFor(t *tx, n int) error {
	g := plantedGrant()
	g.Push, g.Digest[1] = testPush(n).ID, 1
	return t.putGrant(g)
}

// fileFaults are faults of files and grants. In the problems of a check, 1111 means
// the push with files, 2222 the orphans, 3333 no push.
var fileFaults = map[string]struct {
	harm func(t *tx) error
	want []string
}{
	"a chunk of nothing": {
		func(t *tx) error { return t.put(chunks, chunkKey(testPush(noNumber).ID, 0, 0), []byte("chunk")) },
		[]string{"chunks: a row of push 3333, which does not exist"},
	},
	"orphans that are not listed": {
		func(t *tx) error { id := testPush(orphanNumber).ID; return t.delete(orphans, id[:]) },
		[]string{
			"chunks: a row of push 2222, which does not exist",
			"chunks: a row of push 2222, which does not exist",
		},
	},
	"orphans without chunks do no harm": {
		func(t *tx) error { id := testPush(noNumber).ID; return t.put(orphans, id[:], nil) }, nil,
	},
	"files listed as orphans": {
		func(t *tx) error { id := testPush(fileNumber).ID; return t.put(orphans, id[:], nil) },
		[]string{
			"push 1111: its files take 14 bytes, 0 are there",
			"push 1111: its files are listed as orphans",
		},
	},
	"a chunk gone": {
		func(t *tx) error { return t.delete(chunks, chunkKey(testPush(fileNumber).ID, 0, 1)) },
		[]string{"push 1111: its files take 14 bytes, 7 are there"},
	},
	"a chunk cut": {
		func(t *tx) error { return t.put(chunks, chunkKey(testPush(fileNumber).ID, 0, 1), []byte("chunk")) },
		[]string{"push 1111: its files take 14 bytes, 12 are there"},
	},
	"a chunk too many": {
		func(t *tx) error { return t.put(chunks, chunkKey(testPush(fileNumber).ID, 3, 0), []byte("chunk")) },
		[]string{"push 1111: its files take 14 bytes, 19 are there"},
	},
	"a chunk of a push without files": {
		func(t *tx) error { return t.put(chunks, chunkKey(planted().ID, 0, 0), []byte("chunk")) },
		[]string{"push 0000: its files take 0 bytes, 5 are there"},
	},
	"a push with files gone": {
		func(t *tx) error { id := testPush(fileNumber).ID; return t.delete(pushes, id[:]) },
		[]string{
			"payloads: a row of push 1111, which does not exist",
			"audit: a row of push 1111, which does not exist",
			"expiry: a row of push 1111, which does not exist",
			"chunks: a row of push 1111, which does not exist",
			"chunks: a row of push 1111, which does not exist",
			"push 1111 does not exist, but has a grant",
			"room: a sender has 0 pushes of 0 bytes, but a row counts 1 of 14",
		},
	},
	"a grant gone": {
		func(t *tx) error { return t.delete(grants, testDigest[:]) },
		[]string{"push 1111: an index row names a grant that does not exist"},
	},
	"a row of a grant gone": {
		func(t *tx) error { return t.delete(grantPushes, grantRow(plantedGrant())) },
		[]string{"push 1111: a grant for its files is missing from the list of its grants, or has another time there"},
	},
	"a row under an earlier time": {
		func(t *tx) error { return t.put(grantPushes, grantRow(plantedGrant()), uint64Key(999)) },
		[]string{"push 1111: a grant for its files is missing from the list of its grants, or has another time there"},
	},
	"a row under a later time": {
		func(t *tx) error { return t.put(grantPushes, grantRow(plantedGrant()), uint64Key(1001)) },
		[]string{
			"push 1111: a grant for its files is missing from the list of its grants, or has another time there",
			"push 1111: a grant for its files ends later than it says",
		},
	},
	"a row without a time": {
		func(t *tx) error { return t.put(grantPushes, grantRow(plantedGrant()), []byte("?")) },
		[]string{
			"push 1111: a row of its grants does not hold a time",
			"push 1111: a grant for its files is missing from the list of its grants, or has another time there",
		},
	},
	"a row of another's grant": {
		func(t *tx) error {
			g := plantedGrant()
			g.Push = planted().ID
			return t.put(grantPushes, grantRow(g), uint64Key(0))
		},
		[]string{
			"push 0000: a row of its grants leads to a grant of another push",
			"push 0000: a grant for its files ends later than it says",
			"push 0000: it holds no files and has grants",
		},
	},
	"a malformed grant": {
		func(t *tx) error { return t.put(grants, testDigest[:], []byte("?")) },
		[]string{"grants: a record is malformed"},
	},
	"a grant that ends later than its push says": {
		func(t *tx) error {
			p := plantedFiles()
			p.GrantsEnd = time.UnixMilli(999)
			raw, _ := p.AppendBinary(nil)
			return t.put(pushes, p.ID[:], raw)
		},
		[]string{"push 1111: a grant for its files ends later than it says"},
	},
	"a grant of a push without files": {
		func(t *tx) error { return grantFor(t, 1) },
		[]string{
			"push 0000: a grant for its files ends later than it says",
			"push 0000: it holds no files and has grants",
		},
	},
	"a grant of no push": {
		func(t *tx) error { return grantFor(t, noNumber) },
		[]string{"push 3333 does not exist, but has a grant"},
	},
	"a push in no queue of grants": {
		func(t *tx) error {
			p := plantedFiles()
			p.State, p.ExpiredAt, p.Wrap = record.Expired, time.UnixMilli(5), nil
			raw, _ := p.AppendBinary(nil)
			return errors.Join(t.put(pushes, p.ID[:], raw), t.deletePayload(p.ID))
		},
		[]string{"push 1111: its index rows are not those it should have", "room: a sender has 0 pushes of 14 bytes, but a row counts 1 of 14"},
	},
}

func TestACheckFindsEachFaultOfFilesAndRevealsNoSecret(t *testing.T) {
	t.Parallel()
	for name, c := range fileFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantProblems(t, c.harm, c.want)
		})
	}
}
