package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"pushbox/store"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// A powerScene is a scenario of steps, one after the other, that meets a fault
// somewhere.
type powerScene struct {
	dir    string
	root   seal.RootKey
	clock  *storetest.Clock
	ledger *powerLedger
	seed   uint64
	chance *rand.Rand // of the step
	owner  store.Actor

	*powerStore // nil while it is not open
	made        []*powerPush
}

// clone is a scene of its own that goes on from here.
func (s *powerScene) clone() *powerScene {
	c := &powerScene{dir: s.dir, root: s.root, clock: storetest.NewClock(), seed: s.seed, owner: s.owner}
	var copied map[*powerPush]*powerPush
	c.ledger, copied = s.ledger.clone()
	c.clock.Advance(c.ledger.clock(answered))
	for _, p := range s.made {
		c.made = append(c.made, copied[p])
	}
	return c
}

// answered tells moments that have come.
func answered(moment uint64) bool { return moment != never }

// A powerStep does something and returns what the store said.
type powerStep struct {
	name string
	do   func(*powerScene, context.Context) error
}

// bare reports whether the step may return what the system said as it is: the
// store is not at work, or goes on.
func (s powerStep) bare() bool { return s.name == "open" || s.name == "close" || s.name == "compact" }

// powerScript is the scenario: 60 steps, in parts that each begin by opening the
// store.
func powerScript() (parts [][]powerStep) {
	all := map[string]func(*powerScene, context.Context) error{
		"open": (*powerScene).open, "close": (*powerScene).close, "account": (*powerScene).account,
		"create": (*powerScene).createOne, "view": (*powerScene).viewOne, "delete": (*powerScene).removeOne,
		"upload": (*powerScene).uploadOne, "download": (*powerScene).downloadOne, "look": (*powerScene).lookOne,
		"list":  func(s *powerScene, ctx context.Context) error { return s.list(ctx) },
		"sweep": (*powerScene).sweepLater, "compact": (*powerScene).compactAll,
	}
	for _, text := range []string{
		"open account create create create view view upload list close",
		"open create view upload view download delete look sweep close",
		"open view create compact view create delete upload list close",
		"open download view sweep look create view delete compact close",
		"open create upload download view sweep create view compact close",
		"open view delete create list download look sweep view close",
	} {
		var part []powerStep
		for _, name := range strings.Fields(text) {
			part = append(part, powerStep{name, all[name]})
		}
		parts = append(parts, part)
	}
	return parts
}

// take takes a step; its number gives it its chance.
func (s *powerScene) take(ctx context.Context, step powerStep, number int) error {
	const limit = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.chance = rand.New(rand.NewPCG(s.seed, uint64(number)))
	return step.do(s, ctx)
}

func (s *powerScene) open(ctx context.Context) (err error) {
	s.powerStore, err = openPower(ctx, s.dir, s.root, s.clock)
	if err != nil {
		s.powerStore = nil
		return err
	}
	s.powerStore.ledger, s.powerStore.owner = s.ledger, s.owner
	return nil
}

func (s *powerScene) close(ctx context.Context) error {
	old := s.powerStore
	s.powerStore = nil
	return old.Close(ctx)
}

// account adds the account that owns some pushes.
func (s *powerScene) account(ctx context.Context) error {
	id, err := s.engine.CreateAccount(ctx, store.Account{Email: "owner@example.com"})
	if err == nil {
		s.owner = store.Actor{Account: id, Client: "192.0.2.1"}
		s.powerStore.owner = s.owner
	}
	return err
}

func (s *powerScene) createOne(ctx context.Context) error {
	p := newPowerPush(s.chance, fmt.Sprint("push ", len(s.made)))
	p.files, p.owned = nil, len(s.made)%2 == 0 && s.owner.Account != 0
	return s.add(ctx, p)
}

func (s *powerScene) uploadOne(ctx context.Context) error {
	p := newPowerPush(s.chance, fmt.Sprint("files ", len(s.made)))
	p.files, p.owned = [][]byte{content(s.chance.Uint64(), s.chance.IntN(9000))}, false
	p.limit++
	return s.add(ctx, p)
}

func (s *powerScene) add(ctx context.Context, p *powerPush) error {
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

// some is one of the newest pushes; nil if there is none.
func (s *powerScene) some(files bool) *powerPush {
	for range 2 * len(s.made) {
		p := s.made[len(s.made)-1-s.chance.IntN(min(5, len(s.made)))]
		if !files || p.files != nil {
			return p
		}
	}
	return nil
}

func (s *powerScene) viewOne(ctx context.Context) error {
	p := s.some(false)
	if p == nil {
		return nil
	}
	_, err := s.view(ctx, p, s.owner.Account != 0 && s.chance.IntN(4) == 0)
	return err
}

func (s *powerScene) removeOne(ctx context.Context) error {
	p := s.some(false)
	if p == nil {
		return nil
	}
	return s.remove(ctx, p)
}

func (s *powerScene) lookOne(ctx context.Context) error {
	p := s.some(false)
	if p == nil {
		return nil
	}
	return s.look(ctx, p)
}

// downloadOne retrieves a file push and downloads what it got.
func (s *powerScene) downloadOne(ctx context.Context) error {
	p := s.some(true)
	if p == nil {
		return nil
	}
	if delivered, err := s.view(ctx, p, false); err != nil || !delivered {
		return err
	}
	return s.fetch(ctx, p, s.ledger.grantOf(p).grant)
}

func (s *powerScene) sweepLater(ctx context.Context) error {
	s.advance(20 * time.Minute)
	_, err := s.Sweep(ctx)
	return err
}

func (s *powerScene) compactAll(ctx context.Context) error {
	_, _, err := s.Compact(ctx, func(int64, int64) {})
	return err
}
