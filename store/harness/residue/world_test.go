package residue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
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

var ctx = context.Background()

const day = 24 * time.Hour

// A world is a store, and all that is known of its pushes.
type world struct {
	*storetest.Fixture
	t      *testing.T
	erase  bool
	dir    string
	engine record.Engine
	owner  store.Actor
	live   map[record.ID]*secretPush // pushes that a scenario has not ended
	over   map[record.ID]*secretPush // those that it has
	values map[record.ID][]sealed    // payload and chunks of each push
	rings  [][]byte                  // that are no longer in force
	old    []*os.File                // files that the database was in
	sweeps func() error              // ends the sweeper

	knowing  sync.Mutex // guards live and what follows
	inForce  []byte     // the sealed key ring
	openRing *seal.Ring
}

type sealed struct {
	kind  kind
	bytes []byte
}

func newWorld(t *testing.T, erase bool) *world {
	t.Helper()
	w := &world{
		t: t, erase: erase, dir: t.TempDir(),
		live: make(map[record.ID]*secretPush), over: make(map[record.ID]*secretPush), values: make(map[record.ID][]sealed),
	}
	env.Must(seal.CreateKeyFile(w.keyFile()))(t)
	w.open(storetest.NewClock())
	w.owner = store.Actor{Account: storetest.AddMember(t, w.Fixture, storetest.Email).ID, Client: "192.0.2.1", IP: "192.0.2.1"}
	t.Cleanup(func() { _ = w.stop() })
	return w
}

func (w *world) keyFile() string { return filepath.Join(w.dir, storetest.KeyFile) }

// key is the root key in the key file.
func (w *world) key() seal.RootKey {
	w.t.Helper()
	return env.Must(seal.LoadKeyFile(w.keyFile()))(w.t)
}

func (w *world) open(clock *storetest.Clock) {
	w.t.Helper()
	w.Fixture = &storetest.Fixture{Clock: clock, Path: filepath.Join(w.dir, "pushbox.db")}
	var err error
	w.engine, _, err = bolt.Open(ctx, bolt.Options{Path: w.Path, NoErase: !w.erase})
	env.OK(w.t, err)
	options := storetest.Options(clock)
	options.Root = store.RootKeeper{File: w.keyFile()}
	w.Store, err = store.Open(ctx, w.engine, w.key(), options)
	env.OK(w.t, err)
	w.sweeper()
}

// sweeper sweeps at the start, and when a push leaves files behind, as the server does.
func (w *world) sweeper() {
	sweeping, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		for {
			if _, err := w.Sweep(sweeping); err != nil && sweeping.Err() == nil {
				done <- err
				return
			}
			select {
			case <-w.OrphansChanged():
			case <-sweeping.Done():
				done <- nil
				return
			}
		}
	}()
	w.sweeps = func() error {
		cancel()
		return <-done
	}
}

// stop ends the store, once.
func (w *world) stop() error {
	if w.sweeps == nil {
		return nil
	}
	err := w.sweeps()
	w.sweeps = nil
	return errors.Join(err, w.Close(ctx))
}

// ring returns the key ring in force, sealed and open.
func (w *world) ring() ([]byte, *seal.Ring) {
	w.t.Helper()
	sealed := env.Must(w.engine.KeyRing(ctx))(w.t)
	w.knowing.Lock()
	defer w.knowing.Unlock()
	if !bytes.Equal(sealed, w.inForce) {
		r := env.Must(seal.OpenRing(w.key(), sealed))(w.t)
		w.inForce, w.openRing = sealed, r
	}
	return sealed, w.openRing
}

// text creates a text push with that many views.
func (w *world) text(by store.Actor, views int, passphrase string) *secretPush {
	w.t.Helper()
	return w.know(by, passphrase, storetest.Push(w.t, w.Fixture, by, func(in *store.NewPush) {
		in.Payload = secret.New("a secret, of which each push has one")
		in.Passphrase = secret.New(passphrase)
		in.Views = &views
		if by.Account != 0 {
			in.Name, in.Note = secret.New("a name"), secret.New("a note")
		}
	}))
}

// many creates that many text pushes of the account.
func (w *world) many(n int) []*secretPush {
	w.t.Helper()
	ps := make([]*secretPush, n)
	var all sync.WaitGroup
	const parallel = 64
	for g := range parallel {
		all.Go(func() {
			for i := g; i < n; i += parallel {
				ps[i] = w.text(w.owner, 5, "")
			}
		})
	}
	all.Wait()
	return ps
}

// files creates a push with some files and that many views.
func (w *world) files(by store.Actor, views int, sizes ...int) *secretPush {
	w.t.Helper()
	var all [][]byte
	for i, size := range sizes {
		all = append(all, storetest.Content(uint64(i), size))
	}
	return w.know(by, "", storetest.PushFiles(w.t, w.Fixture, by, func(in *store.NewPush) { in.Views = &views }, all...))
}

func (w *world) know(by store.Actor, passphrase string, p store.PushInfo) *secretPush {
	w.t.Helper()
	s := &secretPush{PushInfo: p, passphrase: secret.New(passphrase), anonymous: by.Account == 0}
	_, ring := w.ring()
	s.dek = env.Must(ring.OpenWrap(p.Wrap, p.ID[:], p.Token.Text, s.passphrase))(w.t)
	w.knowing.Lock()
	defer w.knowing.Unlock()
	w.live[p.ID] = s
	return s
}

// remember reads from the file what is sealed of the pushes that live.
func (w *world) remember() {
	w.t.Helper()
	_, ring := w.ring()
	eachRow(env.Read(w.t, w.Path), func(key, value []byte) {
		if len(key) < len(record.ID{}) {
			return
		}
		id := record.ID(key[:len(record.ID{})])
		if p := w.live[id]; p != nil {
			for _, k := range p.opens(ring, key[len(id):], value) {
				if k == payload || k == chunk {
					w.values[id] = append(w.values[id], sealed{k, bytes.Clone(value)})
				}
			}
		}
	})
}

// end notes that pushes are over.
func (w *world) end(ps ...*secretPush) {
	for _, p := range ps {
		delete(w.live, p.ID)
		w.over[p.ID] = p
	}
}

// pieces are what must not be in the file.
func (w *world) pieces() *pieces {
	p := &pieces{of: make(map[uint64]piece)}
	for id, s := range w.over {
		p.add(wrap, id, s.Wrap)
		p.add(link, id, s.Link)
		if s.purged {
			p.add(details, id, s.Details)
		}
		for _, v := range w.values[id] {
			p.add(v.kind, id, v.bytes)
		}
	}
	for n, r := range w.rings {
		p.add(ring, record.ID{byte(n)}, r)
	}
	return p
}

// look looks for what is over, in the file and in those that the database was in.
func (w *world) look(p *pieces) found {
	w.t.Helper()
	_, ring := w.ring()
	return w.lookIn(p, ring)
}

func (w *world) lookIn(p *pieces, ring *seal.Ring) found {
	w.t.Helper()
	there := make(map[piece]bool)
	images := [][]byte{env.Read(w.t, w.Path)}
	for _, f := range w.old {
		b := env.Read(w.t, fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		images = append(images, b)
	}
	for _, image := range images {
		for one := range p.find(image) {
			there[one] = true
		}
		opened(image, ring, w.over, there)
	}
	f := make(found)
	for one := range there {
		f[one.kind]++
	}
	return f
}

// gone verifies that within five seconds of an end nothing is left.
func (w *world) gone(ended time.Time) {
	w.t.Helper()
	const patience, poll = 5 * time.Second, 100 * time.Millisecond
	p := w.pieces()
	for {
		began := time.Now()
		f := w.look(p)
		if len(f) == 0 {
			w.t.Logf("nothing is left after %v", began.Sub(ended).Round(10*time.Millisecond))
			return
		}
		if began.Sub(ended) > patience {
			w.t.Errorf("after %v there are left: %s", began.Sub(ended).Round(10*time.Millisecond), f)
			return
		}
		time.Sleep(min(poll, max(time.Millisecond, patience-time.Since(ended))))
	}
}

// folded waits until nothing is in the journal.
func (w *world) folded() {
	w.t.Helper()
	for range 1000 {
		s := env.Must(w.Stats())(w.t)
		if s.Journal == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Error("the journal is never folded")
}

// load creates and views pushes until stop is called.
func (w *world) load() (stop func()) {
	loading, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := 0; loading.Err() == nil; n++ {
				views := 1 + n%3
				p := storetest.Push(w.t, w.Fixture, w.owner, func(in *store.NewPush) { in.Views = &views })
				for range 2 {
					if _, err := w.Retrieve(ctx, storetest.Anonymous, p.Token, secret.Text{}, nil); err != nil && loading.Err() == nil {
						w.t.Errorf("under load: %v", err)
						return
					}
				}
				time.Sleep(5 * time.Millisecond) // lets time pass
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}
