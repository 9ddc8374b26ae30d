package bolt_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// A value is the place of a payload or a chunk in a file.
type value struct {
	bucket   string
	at, size int
}

// values finds every payload and chunk in a file of the present schema.
func values(t *testing.T, path string, image []byte) (found []value) {
	t.Helper()
	rawUpdate(t, path, func(b *bbolt.Tx) error {
		for _, bucket := range []string{"payloads", "chunks"} {
			c := b.Bucket([]byte(bucket)).Cursor()
			for k, v := c.First(); k != nil; k, v = c.Next() {
				if len(v) < 16 { // a pad
					continue
				}
				if at := bytes.Index(image, v); at > 0 {
					found = append(found, value{bucket, at, len(v)})
				}
			}
		}
		return nil
	})
	return found
}

// checkDeep checks contents, and returns the problems and the coverage.
func checkDeep(t *testing.T, db *bolt.DB) (problems []string, c record.Coverage) {
	t.Helper()
	last := int64(-1)
	c, err := db.CheckContents(t.Context(), func(p string) { problems = append(problems, p) }, func(done, total int64) {
		if done < last || done > total {
			t.Errorf("%d of %d is done, after %d", done, total, last)
		}
		last = done
	})
	if err != nil {
		t.Errorf("it ends with %v", err)
	}
	if last != c.Bytes {
		t.Errorf("%d bytes were reported and %d read", last, c.Bytes)
	}
	return problems, c
}

// A changed bit in any payload or chunk is found without a key.
func TestAChangedBitOfAnyPayloadOrChunkIsFound(t *testing.T) {
	t.Parallel()
	path := withContents(t)
	db := open(t, bolt.Options{Path: path})
	for n := range 5 {
		if err := conformance.Made(db.CreatePush(t.Context(), newPush(n), bytes.Repeat([]byte{0xa0 + byte(n)}, 2000), record.Entry{Kind: record.EntryCreation})); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Compact(t.Context(), func(_, _ int64) {}); err != nil { // so that no value is in a free page, too
		t.Fatal(err)
	}
	closeDB(t, db)
	image := env.Read(t, path)
	all := values(t, path, image)
	rng := rand.New(rand.NewPCG(env.Seed(t), 0))
	chunks := 0
	for _, v := range all {
		damaged := slices.Clone(image)
		damaged[v.at+rng.IntN(v.size)] ^= 1 << rng.IntN(8)
		write(t, path, damaged)
		db := open(t, bolt.Options{Path: path})
		problems, c := checkDeep(t, db)
		want := map[string]string{"payloads": "its payload has changed since it was written", "chunks": "has changed since it was written"}[v.bucket]
		if len(problems) != 1 || !strings.Contains(problems[0], want) || c.Without > 0 || int(c.Payloads+c.Chunks) != len(all) {
			t.Errorf("%s at %d: %q, %+v", v.bucket, v.at, problems, c)
		}
		if v.bucket == "chunks" {
			chunks++
		}
		closeDB(t, db)
	}
	if chunks < 4 || len(all)-chunks < 4 {
		t.Errorf("only %d chunks of %d values were found", chunks, len(all))
	}
}

// Other changes are found, too: of digests, and of chunks that are missing or moved.
func TestDigestsAndChunksThatChangedAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm func(c, p *bbolt.Bucket) error
		want []string
	}{
		"nothing": {func(_, _ *bbolt.Bucket) error { return nil }, nil},
		"a digest of chunks": {func(c, _ *bbolt.Bucket) error {
			k, v := pad(c)
			v[5] ^= 1
			return c.Put(k, v)
		}, []string{"chunk 1 of file 0 has changed since it was written"}},
		"a chunk gone": {func(c, _ *bbolt.Bucket) error {
			k, _ := c.Cursor().First()
			return c.Delete(k)
		}, []string{"chunk 0 of file 0 is missing"}},
		"two chunks in each other's place": {func(c, _ *bbolt.Bucket) error {
			cur := c.Cursor()
			a, x := cur.First()
			b, y := cur.Next()
			a, b, x, y = bytes.Clone(a), bytes.Clone(b), bytes.Clone(x), bytes.Clone(y)
			if err := c.Put(a, y); err != nil {
				return err
			}
			return c.Put(b, x)
		}, []string{"chunk 0 of file 0 has changed since it was written", "chunk 1 of file 0 has changed since it was written"}},
		"the digest of a payload": {func(_, p *bbolt.Bucket) error {
			k, v := p.Cursor().First()
			k, v = bytes.Clone(k), bytes.Clone(v)
			if err := p.Delete(k); err != nil {
				return err
			}
			k[len(k)-1] ^= 1
			return p.Put(k, v)
		}, []string{"its payload has changed since it was written"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := withContents(t)
			rawUpdate(t, path, func(b *bbolt.Tx) error { return c.harm(b.Bucket([]byte("chunks")), b.Bucket([]byte("payloads"))) })
			db, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: path})
			env.OK(t, err)
			defer closeDB(t, db)
			problems, _ := checkDeep(t, db)
			for i, p := range problems {
				if i >= len(c.want) || !strings.HasSuffix(p, c.want[i]) {
					t.Errorf("it finds %q", problems)
					break
				}
			}
			if len(problems) != len(c.want) {
				t.Errorf("it finds %q", problems)
			}
		})
	}
}

// pad is the first pad of a bucket with chunks.
func pad(c *bbolt.Bucket) (k, v []byte) {
	cur := c.Cursor()
	for k, v = cur.First(); len(k) != 29; k, v = cur.Next() {
	}
	return bytes.Clone(k), bytes.Clone(v)
}

// withContents makes a database with a push that has a payload and seven chunks, in
// three steps.
func withContents(t *testing.T) (path string) {
	t.Helper()
	path = newPath(t)
	db := open(t, bolt.Options{Path: path})
	p := record.Push{ID: record.ID{7}, Kind: record.File, State: record.Live, Files: []byte("list"), Wrap: []byte("wrap"), ViewLimit: 1, Seq: 1}
	for _, step := range [][2]int{{0, 3}, {3, 3}, {6, 1}} {
		var sealed [][]byte
		for i := range step[1] {
			sealed = append(sealed, bytes.Repeat([]byte{byte(1 + step[0] + i)}, 9000+i))
			p.Stored += int64(len(sealed[i]))
		}
		env.OK(t, db.PutChunks(t.Context(), p.ID, 0, step[0], sealed))
	}
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte("a sealed payload"), record.Entry{Kind: record.EntryCreation})))
	if problems, c := checkDeep(t, db); len(problems) > 0 || c.Payloads != 1 || c.Chunks != 7 || c.Without != 0 || c.Bytes != p.Stored+16 {
		t.Errorf("%q, %+v", problems, c)
	}
	closeDB(t, db)
	return path
}

// Chunks of an upload that is removed step by step are not reported as missing.
func TestChunksOfAnUploadThatIsRemovedAreNotMissed(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t)})
	id := record.ID{9}
	env.OK(t, db.PutChunks(t.Context(), id, 0, 0, slices.Repeat([][]byte{make([]byte, 9000)}, 4)))
	for left := int64(4); left >= 0; left-- {
		if problems, c := checkDeep(t, db); len(problems) > 0 || c.Chunks != left || c.Without != 0 {
			t.Errorf("with %d chunks: %q, %+v", left, problems, c)
		}
		if _, err := db.FreeOrphans(t.Context(), id, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// Writes continue between the steps of a check, and their changes are not damage.
func TestChangesDuringADeepCheckAreNoDamage(t *testing.T) {
	t.Parallel()
	db := open(t, bolt.Options{Path: newPath(t)})
	for n := range 300 {
		p := record.Push{ID: record.ID{byte(n >> 8), byte(n), 1}, Kind: record.Text, State: record.Live, Wrap: []byte("wrap"), ViewLimit: 1, Seq: 1}
		env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, make([]byte, 20_000), record.Entry{Kind: record.EntryCreation})))
	}
	var problems []string
	steps, removed := 0, 0
	c, err := db.CheckContents(t.Context(), func(p string) { problems = append(problems, p) }, func(int64, int64) {
		steps++
		for _, n := range []int{300 - steps, steps} { // one that was not read yet, and one that was
			_, err := db.Change(t.Context(), record.ID{byte(n >> 8), byte(n), 1}, func(p record.Push) (record.Push, record.Entry, error) {
				p.State = record.Purged
				return p, record.Entry{}, nil
			})
			env.OK(t, err)
			removed++
		}
	})
	if err != nil || len(problems) > 0 || steps < 5 || c.Payloads < int64(300-removed) || c.Payloads >= 300 {
		t.Errorf("after %d steps: %+v, %q, %v", steps, c, problems, err)
	}
}

// Rows of an older version have no digests, and are counted.
func TestPayloadsAndChunksWithoutDigestsAreCounted(t *testing.T) {
	t.Parallel()
	path, _ := olderDatabase(t)
	db := open(t, bolt.Options{Path: path})
	problems, c := checkDeep(t, db)
	if len(problems) > 0 || c.Payloads+c.Chunks != 0 || c.Without < 10 || c.Bytes < 90_000 {
		t.Errorf("%q, %+v", problems, c)
	}
}
