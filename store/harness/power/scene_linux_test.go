package power

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/faultfs"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// A scene is a scenario of steps, one after the other, that meets a fault somewhere.
type scene struct {
	dir    string
	root   seal.RootKey
	clock  *storetest.Clock
	ledger *ledger
	seed   uint64
	chance *rand.Rand // of the step
	owner  store.Actor

	*trackedStore // nil while it is not open
	made          []*knownPush
}

// clone returns a scene of its own that continues from here.
func (s *scene) clone() *scene {
	c := &scene{dir: s.dir, root: s.root, clock: storetest.NewClock(), seed: s.seed, owner: s.owner}
	var copied map[*knownPush]*knownPush
	c.ledger, copied = s.ledger.clone()
	c.clock.Advance(c.ledger.clock(answered))
	for _, p := range s.made {
		c.made = append(c.made, copied[p])
	}
	return c
}

// answered reports whether a moment has come.
func answered(moment uint64) bool { return moment != never }

// A step does something and returns the store's error.
type step struct {
	name string
	do   func(*scene, context.Context) error
}

// bare reports whether the step may return an error of the system as it is: the store
// is not open yet, or keeps running.
func (s step) bare() bool { return s.name == "open" || s.name == "close" || s.name == "compact" }

// script is the scenario: 60 steps, in parts that each begin by opening the
// store.
func script() (parts [][]step) {
	all := map[string]func(*scene, context.Context) error{
		"open": (*scene).open, "close": (*scene).close, "account": (*scene).account,
		"create": (*scene).createOne, "view": (*scene).viewOne, "delete": (*scene).removeOne,
		"upload": (*scene).uploadOne, "download": (*scene).downloadOne, "look": (*scene).lookOne,
		"list":  func(s *scene, ctx context.Context) error { return s.list(ctx) },
		"sweep": (*scene).sweepLater, "compact": (*scene).compactAll,
	}
	for _, text := range []string{
		"open account create create create view view upload list close",
		"open create view upload view download delete look sweep close",
		"open view create compact view create delete upload list close",
		"open download view sweep look create view delete compact close",
		"open create upload download view sweep create view compact close",
		"open view delete create list download look sweep view close",
	} {
		var part []step
		for _, name := range strings.Fields(text) {
			part = append(part, step{name, all[name]})
		}
		parts = append(parts, part)
	}
	return parts
}

// take takes a step; its number seeds its choices.
func (s *scene) take(ctx context.Context, step step, number int) error {
	ctx, cancel := context.WithTimeout(ctx, env.Patience)
	defer cancel()
	s.chance = rand.New(rand.NewPCG(s.seed, uint64(number)))
	return step.do(s, ctx)
}

func (s *scene) open(ctx context.Context) (err error) {
	s.trackedStore, err = openTracked(ctx, s.dir, s.root, s.clock)
	if err != nil {
		s.trackedStore = nil
		return err
	}
	s.trackedStore.ledger, s.trackedStore.owner = s.ledger, s.owner
	return nil
}

func (s *scene) close(ctx context.Context) error {
	old := s.trackedStore
	s.trackedStore = nil
	return old.Close(ctx)
}

// account adds the account that owns some pushes.
func (s *scene) account(ctx context.Context) error {
	id, err := cold.CreateAccount(ctx, s.engine, record.Account{Email: ownerEmail}, storetest.Told(s.engine))
	if err == nil {
		s.owner = store.Actor{Account: id, Client: "192.0.2.1"}
		s.trackedStore.owner = s.owner
	}
	return err
}

func (s *scene) createOne(ctx context.Context) error {
	p := newPush(s.chance, fmt.Sprint("push ", len(s.made)))
	p.files, p.owned = nil, len(s.made)%2 == 0 && s.owner.Account != 0
	return s.add(ctx, p)
}

func (s *scene) uploadOne(ctx context.Context) error {
	p := newPush(s.chance, fmt.Sprint("files ", len(s.made)))
	p.files, p.owned = [][]byte{storetest.Content(s.chance.Uint64(), s.chance.IntN(9000))}, false
	p.limit++
	return s.add(ctx, p)
}

func (s *scene) add(ctx context.Context, p *knownPush) error {
	lifetime := time.Duration(0)
	if len(s.made)%3 == 1 {
		lifetime = 30 * time.Minute
	}
	err := s.create(ctx, p, lifetime)
	if err == nil {
		s.made = append(s.made, p)
	}
	return err
}

// some returns one of the newest pushes; nil if there is none.
func (s *scene) some(files bool) *knownPush {
	for range 2 * len(s.made) {
		p := s.made[len(s.made)-1-s.chance.IntN(min(5, len(s.made)))]
		if !files || p.files != nil {
			return p
		}
	}
	return nil
}

func (s *scene) viewOne(ctx context.Context) error {
	p := s.some(false)
	if p == nil {
		return nil
	}
	_, err := s.view(ctx, p, s.owner.Account != 0 && s.chance.IntN(4) == 0)
	return err
}

func (s *scene) removeOne(ctx context.Context) error {
	p := s.some(false)
	if p == nil {
		return nil
	}
	return s.remove(ctx, p)
}

func (s *scene) lookOne(ctx context.Context) error {
	p := s.some(false)
	if p == nil {
		return nil
	}
	return s.look(ctx, p)
}

// downloadOne retrieves a file push and downloads what it got.
func (s *scene) downloadOne(ctx context.Context) error {
	p := s.some(true)
	if p == nil {
		return nil
	}
	if delivered, err := s.view(ctx, p, false); err != nil || !delivered {
		return err
	}
	return s.fetch(ctx, p, s.ledger.grantOf(p).grant)
}

func (s *scene) sweepLater(ctx context.Context) error {
	s.advance(20 * time.Minute)
	_, err := s.Sweep(ctx)
	return err
}

func (s *scene) compactAll(ctx context.Context) error {
	_, _, err := s.Compact(ctx, storetest.Operator, func(int64, int64) {})
	return err
}

func TestMain(m *testing.M) {
	if faultfs.Serve() {
		return
	}
	os.Exit(m.Run())
}
