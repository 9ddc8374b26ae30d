package damage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// A world is a database with every kind of record, and its known content.
type world struct {
	dir      string // of the file to damage
	image    []byte // the file as it was made
	buffer   []byte // the file as it was left
	parts    []part // of it
	root     seal.RootKey
	now      time.Time
	pushes   []knownPush
	ann, bob knownAccount
}

// A knownPush is a push as its sender knows it.
type knownPush struct {
	storetest.Sent
	id    record.ID
	token store.Token
	files [][]byte
}

// special pushes are used after every damage.
func (k knownPush) special() bool { return k.What != "" }

type knownAccount struct {
	storetest.Member
	by store.Actor
}

const day = 24 * time.Hour

var ctx = context.Background()

// fillers are the pushes that are there to fill the file.
const fillers = 60

// newWorld makes a database in dir. A large one has a MiB.
func newWorld(t *testing.T, dir string, large bool) *world {
	t.Helper()
	w := &world{dir: dir, root: seal.NewRootKey()}
	clock := storetest.NewClock()
	s := env.Must(w.open(clock, timeLimit))(t)
	f := &storetest.Furnished{Fixture: &storetest.Fixture{Store: s, Clock: clock, Path: w.path()}, T: t}
	f.Furnish()
	w.fill(f, large)
	w.know(f)
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Fatalf("the database has problems before it is damaged: %q, %v", problems, err)
	}
	env.OK(t, s.Close(ctx))
	w.image = env.Must(os.ReadFile(w.path()))(t)
	w.image = w.image[:storetest.UsedBytes(w.image)]
	w.now, w.parts = clock.Now(), partsOf(w.image)
	return w
}

func (w *world) path() string { return filepath.Join(w.dir, "pushbox.db") }

// open opens the file as the program does.
func (w *world) open(clock *storetest.Clock, patience time.Duration) (*store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: w.path(), MinFree: 1 << 20})
	if err != nil {
		return nil, err
	}
	options := storetest.Options(clock)
	options.PurgeAfter, options.Guessing = 30*day, store.Guessing{PerClient: 100, PerPush: 100, Queue: 64}
	s, err := store.Open(ctx, engine, w.root, options)
	if err != nil {
		_ = engine.Close() // the error of the opening counts
		return nil, err
	}
	return s, nil
}

// fill adds many small pushes, a large one, and free pages.
func (w *world) fill(f *storetest.Furnished, large bool) {
	f.T.Helper()
	for i := range fillers {
		owner := []string{"", f.Members[0].Email, f.Members[1].Email}[i%3]
		f.Send(storetest.Sent{Owner: owner, Payload: fmt.Sprintf("payload of filler %d ", i) + strings.Repeat("x", 37*(i%11))}, nil)
	}
	if large {
		f.Send(storetest.Sent{What: "a large file", Owner: f.Members[0].Email, Files: []storetest.File{{Name: "file 0.bin", Seed: 10, Size: 8 * seal.ChunkSize}}}, nil)
	}
	var gone []store.Token
	for range 20 {
		f.Clock.Advance(time.Millisecond)
		gone = append(gone, storetest.Push(f.T, f.Fixture, storetest.Anonymous, func(in *store.NewPush) { in.Payload = secret.New(strings.Repeat("gone ", 600)) }).Token)
	}
	for _, token := range gone {
		env.Must(f.DeletePush(ctx, storetest.Anonymous, token))(f.T)
	}
}

// know keeps what is known of all that is there.
func (w *world) know(f *storetest.Furnished) {
	f.T.Helper()
	for _, s := range f.Sent { // one after the other, so that the same seed gives the same file
		p := env.Must(f.Look(ctx, s.Link()))(f.T)
		w.pushes = append(w.pushes, knownPush{s, p.ID, s.Link(), s.Contents()})
	}
	for i, k := range []*knownAccount{&w.ann, &w.bob} {
		*k = knownAccount{f.Members[i], f.By(f.T, f.Members[i].Email)}
	}
}
