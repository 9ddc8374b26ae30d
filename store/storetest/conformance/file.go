package conformance

import (
	"fmt"
	"testing"
	"time"

	"pushbox/store/record"
)

var fileSuite = suite{
	"chunks differ by push, file and number":                             tellsChunksApart,
	"a chunk is read behind what is there":                               appendsChunks,
	"a push without files issues no grant":                               issuesNothingForNoFiles,
	"ended grants do not pile up":                                        forgetsEndedGrants,
	"a new grant removes only grants that have ended":                    forgetsNoOtherGrants,
	"uploads and small operations run beside each other":                 uploadsConcurrently,
	"chunks are freed or adopted, and never both":                        ordersAdoption,
	"a grant is not issued for files that are given up at the same time": ordersRelease,
}

// files is how many files a push of files has in the suites, and chunks how many chunks
// each file has.
const files, chunks = 2, 3

// chunkOf is a chunk of a file of the n-th push. No two are the same.
func chunkOf(n, file, chunk int) []byte {
	return fmt.Appendf(nil, "sealed chunk %d of file %d of push %d", chunk, file, n)
}

// filePush is the n-th push, holding files.
func filePush(n int, owner record.AccountID) record.Push {
	p := LivePush(n, owner)
	p.Kind, p.Files = record.File, []byte("sealed list")
	p.ExpiresAt = p.ExpiresAt.AddDate(0, 0, 1) // later than any grant of the suite ends
	for i := range files * chunks {
		p.Stored += int64(len(chunkOf(n, i/chunks, i%chunks)))
	}
	return p
}

// upload keeps the chunks of the n-th push, in two steps a file.
func upload(t *testing.T, e record.Engine, n int) {
	t.Helper()
	for file := range files {
		for first, step := range map[int][][]byte{0: {chunkOf(n, file, 0)}, 1: {chunkOf(n, file, 1), chunkOf(n, file, 2)}} {
			Must(t, e.PutChunks(t.Context(), PushID(n), file, first, step))
			scribble(step...) // the engine keeps no reference
		}
	}
}

// CreateFiles keeps the n-th push, holding files.
func CreateFiles(t *testing.T, e record.Engine, n int, owner record.AccountID) record.Push {
	t.Helper()
	upload(t, e, n)
	p := filePush(n, owner)
	Must(t, Made(e.CreatePush(t.Context(), p, Payload(n), Creation(p))))
	return p
}

// Release ends a push if it is live, and gives up its files.
func Release(p record.Push) (record.Push, record.Entry, error) {
	if p.Live() {
		p = ended(p, record.Deleted)
	}
	p.Files, p.Stored, p.GrantsEnd = nil, 0, time.Time{}
	return p, record.Entry{}, nil
}

// wantChunks fails the test unless every chunk of the n-th push can be read under a
// grant for it.
func wantChunks(t *testing.T, e record.Engine, n int, g record.Grant) {
	t.Helper()
	for i := range files * chunks {
		of, sealed, err := e.Chunk(t.Context(), g.Digest, i/chunks, i%chunks, nil)
		Must(t, err)
		Same(t, "grant", of, g)
		Same(t, "chunk", string(sealed), string(chunkOf(n, i/chunks, i%chunks)))
	}
}

// wantOrphans fails the test unless the orphans are those of these pushes.
func wantOrphans(t *testing.T, e record.Engine, numbers ...int) {
	t.Helper()
	Same(t, "orphans", got(e.Orphans(t.Context(), record.ID{}, 1000)).of(t), pushIDs(numbers...))
}

func free(t *testing.T, e record.Engine, n, limit int) (more bool) {
	t.Helper()
	return got(e.FreeOrphans(t.Context(), PushID(n), limit)).of(t)
}

func tellsChunksApart(t *testing.T, e record.Engine) {
	const last = 1<<16 + 256 // of a file of more than 4 GiB
	p, places := filePush(2, 0), [][2]int{{0, 0}, {0, 255}, {0, 256}, {0, last}, {1, 0}, {256, 0}, {999, last}}
	p.Stored = 0
	for _, at := range places {
		chunk := chunkOf(2, at[0], at[1])
		p.Stored += int64(len(chunk))
		Must(t, e.PutChunks(t.Context(), p.ID, at[0], at[1], [][]byte{chunk}))
	}
	Must(t, Made(e.CreatePush(t.Context(), p, Payload(2), Creation(p))))
	CreateFiles(t, e, 1, 0)
	CreateFiles(t, e, 3, 0)
	g := issue(t, e, 2, 1)
	for _, at := range places {
		_, got, err := e.Chunk(t.Context(), g.Digest, at[0], at[1], nil)
		Must(t, err)
		Same(t, "chunk", string(got), string(chunkOf(2, at[0], at[1])))
	}
	for _, at := range [][2]int{{0, 1}, {0, 257}, {0, last + 1}, {1, 1}, {2, 0}, {255, 0}, {1000, 0}} {
		WantErr(t, third(e.Chunk(t.Context(), g.Digest, at[0], at[1], nil)), record.ErrCorrupt)
	}
}

func mustPush(t *testing.T, e record.Engine, n int) record.Push {
	t.Helper()
	return got(Push(t.Context(), e, PushID(n))).of(t)
}

func appendsChunks(t *testing.T, e record.Engine) {
	CreateFiles(t, e, 1, 0)
	g, front := issue(t, e, 1, 1), append(make([]byte, 0, 1000), "front "...)
	_, sealed, err := e.Chunk(t.Context(), g.Digest, 1, 2, front)
	Must(t, err)
	Same(t, "chunk behind what was there", string(sealed), "front "+string(chunkOf(1, 1, 2)))
	Same(t, "memory is used again", &sealed[0] == &front[0], true)
}
