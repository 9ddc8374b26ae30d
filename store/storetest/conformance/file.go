package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pushbox/store/record"
)

var fileSuite = suite{
	"chunks belong to a push once it is created":                         adoptsChunks,
	"a push of files without chunks is refused":                          refusesFilesWithoutChunks,
	"chunks of a push that was refused stay orphans":                     keepsOrphansOfARefusedPush,
	"an existing push gets no more chunks":                               refusesChunksOfAPush,
	"chunks differ by push, file and number":                             tellsChunksApart,
	"chunks and grants are copies":                                       copiesChunks,
	"orphans are freed step by step, and no others":                      freesStepByStep,
	"orphans are listed by ID":                                           listsOrphans,
	"a push that gives up its files ends their grants":                   releasesFiles,
	"a grant is issued with its entry":                                   issuesGrants,
	"a grant is issued without an entry":                                 issuesSilently,
	"a grant reads chunks of its push alone":                             readsUnderAGrant,
	"a push without files issues no grant":                               issuesNothingForNoFiles,
	"an expired push holds its files while its grants last":              closesWithGrants,
	"the end of a grant moves with that of its push":                     slidesGrants,
	"moving the end of a grant changes nothing else of a live push":      slidesGrantsOfALivePush,
	"a grant that its rule drops is gone":                                dropsGrants,
	"a grant rule that panics changes nothing":                           survivesAGrantPanic,
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
	p := livePush(n, owner)
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
		Must(t, e.PutChunks(t.Context(), pushID(n), file, 0, [][]byte{chunkOf(n, file, 0)}))
		Must(t, e.PutChunks(t.Context(), pushID(n), file, 1, [][]byte{chunkOf(n, file, 1), chunkOf(n, file, 2)}))
	}
}

// createFiles keeps the n-th push, holding files.
func createFiles(t *testing.T, e record.Engine, n int, owner record.AccountID) record.Push {
	t.Helper()
	upload(t, e, n)
	p := filePush(n, owner)
	Must(t, e.CreatePush(t.Context(), p, payloadOf(n), creation(p)))
	return p
}

// release ends a push if it is live, and gives up its files.
func release(p record.Push) (record.Push, record.Entry, error) {
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
		got, sealed, err := e.Chunk(t.Context(), g.Digest, i/chunks, i%chunks, nil)
		Must(t, err)
		Same(t, "grant", got, g)
		Same(t, "chunk", string(sealed), string(chunkOf(n, i/chunks, i%chunks)))
	}
}

// wantOrphans fails the test unless the orphans are those of these pushes.
func wantOrphans(t *testing.T, e record.Engine, numbers ...int) {
	t.Helper()
	got, err := e.Orphans(t.Context(), record.ID{}, 1000)
	Must(t, err)
	Same(t, "orphans", got, pushIDs(numbers...))
}

func free(t *testing.T, e record.Engine, n, limit int) (more bool) {
	t.Helper()
	more, err := e.FreeOrphans(t.Context(), pushID(n), limit)
	Must(t, err)
	return more
}

func adoptsChunks(t *testing.T, e record.Engine) {
	upload(t, e, 1)
	upload(t, e, 2)
	wantOrphans(t, e, 1, 2)
	_, err := e.Push(t.Context(), pushID(1))
	WantErr(t, err, record.ErrNotFound)
	p := filePush(1, 0)
	Must(t, e.CreatePush(t.Context(), p, payloadOf(1), creation(p)))
	wantOrphans(t, e, 2)
	got, err := e.Push(t.Context(), p.ID)
	Must(t, err)
	Same(t, "push", got, p)
	wantChunks(t, e, 1, issue(t, e, 1, 1))
}

func refusesFilesWithoutChunks(t *testing.T, e record.Engine) {
	upload(t, e, 2)
	p := filePush(1, 0)
	refused := func() {
		t.Helper()
		WantErr(t, e.CreatePush(t.Context(), p, payloadOf(1), creation(p)), record.ErrCorrupt)
		_, err := e.Push(t.Context(), p.ID)
		WantErr(t, err, record.ErrNotFound)
		entries, err := e.Entries(t.Context(), p.ID, 0, 10)
		Must(t, err)
		Same(t, "number of entries", len(entries), 0)
		wantOrphans(t, e, 2)
	}
	refused()
	upload(t, e, 1)
	for free(t, e, 1, 2) { //nolint:revive // it does the work
	}
	refused()
	createFiles(t, e, 1, 0)
}

func keepsOrphansOfARefusedPush(t *testing.T, e record.Engine) {
	owner := account(t, e, "owner@example.org")
	upload(t, e, 1)
	p := filePush(1, owner+1)
	WantErr(t, e.CreatePush(t.Context(), p, payloadOf(1), creation(p)), record.ErrToken)
	wantOrphans(t, e, 1)
	p.Owner = owner
	Must(t, e.CreatePush(t.Context(), p, payloadOf(1), creation(p)))
	WantErr(t, e.CreatePush(t.Context(), p, payloadOf(1), creation(p)), record.ErrExists)
	wantOrphans(t, e)
	wantChunks(t, e, 1, issue(t, e, 1, 1))
}

func refusesChunksOfAPush(t *testing.T, e record.Engine) {
	createFiles(t, e, 1, 0)
	create(t, e, 2, 0)
	g := issue(t, e, 1, 1)
	for n := range 2 {
		if err := e.PutChunks(t.Context(), pushID(n+1), 0, 0, [][]byte{[]byte("another")}); err == nil {
			t.Errorf("push %d got another chunk", n+1)
		}
	}
	wantOrphans(t, e)
	wantChunks(t, e, 1, g)
	change(t, e, pushID(1), release)
	if err := e.PutChunks(t.Context(), pushID(1), files, 0, [][]byte{[]byte("one more")}); err == nil {
		t.Error("a push that has expired got another chunk")
	}
}

func tellsChunksApart(t *testing.T, e record.Engine) {
	const last = 1<<16 + 256 // of a file of more than 4 GiB
	p := filePush(2, 0)
	p.Stored = 0
	for _, at := range [][2]int{{0, 0}, {0, 255}, {0, 256}, {0, last}, {1, 0}, {256, 0}, {999, last}} {
		chunk := chunkOf(2, at[0], at[1])
		p.Stored += int64(len(chunk))
		Must(t, e.PutChunks(t.Context(), p.ID, at[0], at[1], [][]byte{chunk}))
	}
	Must(t, e.CreatePush(t.Context(), p, payloadOf(2), creation(p)))
	createFiles(t, e, 1, 0)
	createFiles(t, e, 3, 0)
	g := issue(t, e, 2, 1)
	for _, at := range [][2]int{{0, 0}, {0, 255}, {0, 256}, {0, last}, {1, 0}, {256, 0}, {999, last}} {
		_, got, err := e.Chunk(t.Context(), g.Digest, at[0], at[1], nil)
		Must(t, err)
		Same(t, "chunk", string(got), string(chunkOf(2, at[0], at[1])))
	}
	for _, at := range [][2]int{{0, 1}, {0, 257}, {0, last + 1}, {1, 1}, {2, 0}, {255, 0}, {1000, 0}} {
		_, _, err := e.Chunk(t.Context(), g.Digest, at[0], at[1], nil)
		WantErr(t, err, record.ErrCorrupt)
	}
}

func freesStepByStep(t *testing.T, e record.Engine) {
	for _, n := range []int{1, 2, 3} {
		upload(t, e, n)
	}
	holds := createFiles(t, e, 4, 0)
	for i, more := range []bool{true, true, false, false} { // six chunks
		if got := free(t, e, 2, files*chunks/3); got != more {
			t.Errorf("step %d: more: %t", i, got)
		}
		if want := []int{1, 2, 3}; more {
			wantOrphans(t, e, want...)
		}
	}
	wantOrphans(t, e, 1, 3)
	for n, limit := range map[int]int{1: files*chunks + 1, 3: files * chunks} {
		Same(t, "more", free(t, e, n, limit), false)
	}
	wantOrphans(t, e)
	for _, n := range []int{4, 5} {
		Same(t, "more chunks, but no orphans", free(t, e, n, 100), false)
	}
	got, err := e.Push(t.Context(), holds.ID)
	Must(t, err)
	Same(t, "push that holds files", got, holds)
	wantChunks(t, e, 4, issue(t, e, 4, 1))

	p := filePush(2, 0)
	WantErr(t, e.CreatePush(t.Context(), p, payloadOf(2), creation(p)), record.ErrCorrupt)
}

func listsOrphans(t *testing.T, e record.Engine) {
	for _, n := range []int{30, 10, 50, 20, 40} {
		upload(t, e, n)
	}
	createFiles(t, e, 15, 0)
	for _, c := range []struct {
		after, limit int
		want         []record.ID
	}{
		{0, 9, pushIDs(10, 20, 30, 40, 50)},
		{9, 2, pushIDs(10, 20)},
		{10, 9, pushIDs(20, 30, 40, 50)},
		{11, 1, pushIDs(20)},
		{40, 9, pushIDs(50)},
		{50, 9, nil},
		{0, 0, nil},
	} {
		got, err := e.Orphans(t.Context(), pushID(c.after), c.limit)
		Must(t, err)
		Same(t, "orphans", got, c.want)
	}
}

func releasesFiles(t *testing.T, e record.Engine) {
	owner := account(t, e, "owner@example.org")
	for n, r := range map[int]record.Rule{1: release, 2: purge, 3: release, 4: purge} {
		createFiles(t, e, n, owner)
		grants := []record.Grant{issue(t, e, n, 10*n), issue(t, e, n, 10*n+1), issue(t, e, n, 10*n+2)}
		if n > 2 { // closed by its last view, with its grants alive
			for range 2 {
				grants = append(grants, issue(t, e, n, 10*n+len(grants)))
			}
		}
		Same(t, "live", mustPush(t, e, n).Live(), n <= 2)
		wantChunks(t, e, n, grants[0])
		c := change(t, e, pushID(n), r)
		Same(t, "payload is there", c.Payload != nil, n <= 2)
		for _, g := range grants {
			_, _, err := e.Grant(t.Context(), g.Digest)
			WantErr(t, err, record.ErrNotFound)
			_, _, err = e.Chunk(t.Context(), g.Digest, 0, 0, nil)
			WantErr(t, err, record.ErrNotFound)
			_, err = e.ChangeGrant(t.Context(), g.Digest, slide(time.Hour))
			WantErr(t, err, record.ErrNotFound)
		}
	}
	wantOrphans(t, e, 1, 2, 3, 4)
	for n := range 4 {
		Same(t, "more", free(t, e, n+1, 1000), false)
	}
	wantOrphans(t, e)
	change(t, e, pushID(1), purge)
	wantOrphans(t, e)
}

func mustPush(t *testing.T, e record.Engine, n int) record.Push {
	t.Helper()
	p, err := e.Push(t.Context(), pushID(n))
	Must(t, err)
	return p
}

func copiesChunks(t *testing.T, e record.Engine) {
	given := [][]byte{chunkOf(1, 0, 0), chunkOf(1, 0, 1), chunkOf(1, 0, 2)}
	Must(t, e.PutChunks(t.Context(), pushID(1), 0, 0, given))
	scribble(given...)
	given = [][]byte{chunkOf(1, 1, 0), chunkOf(1, 1, 1), chunkOf(1, 1, 2)}
	Must(t, e.PutChunks(t.Context(), pushID(1), 1, 0, given))
	scribble(given...)
	p := filePush(1, 0)
	Must(t, e.CreatePush(t.Context(), p, payloadOf(1), creation(p)))
	scribble(p.Files)
	got := mustPush(t, e, 1)
	Same(t, "push", got, filePush(1, 0))
	scribble(got.Files)
	Same(t, "push", mustPush(t, e, 1), filePush(1, 0))

	i := newGrant(1, 1)
	change(t, e, pushID(1), retrieve(i))
	scribble(i.Sealed)
	want := newGrant(1, 1).Grant
	g, _, err := e.Grant(t.Context(), want.Digest)
	Must(t, err)
	Same(t, "grant", g, want)
	scribble(g.Sealed)
	g, sealed, err := e.Chunk(t.Context(), want.Digest, 0, 0, nil)
	Must(t, err)
	scribble(g.Sealed, sealed)
	g, err = e.ChangeGrant(t.Context(), want.Digest, slide(0))
	Must(t, err)
	scribble(g.Sealed)
	wantChunks(t, e, 1, want)

	front := append(make([]byte, 0, 1000), "front "...)
	_, sealed, err = e.Chunk(t.Context(), want.Digest, 1, 2, front)
	Must(t, err)
	Same(t, "chunk behind what was there", string(sealed), "front "+string(chunkOf(1, 1, 2)))
	Same(t, "memory is used again", &sealed[0] == &front[:1][0], true)
	Same(t, "what was there", slices.Equal(front, []byte("front ")), true)
}
