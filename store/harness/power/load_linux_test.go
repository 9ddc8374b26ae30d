package power

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/faultfs"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

const ownerEmail = "owner@example.com"

const (
	powerWriters = 6
	powerRounds  = 2  // with a restart between
	longRounds   = 5  // the same in the long run
	powerSteps   = 14 // of a writer in a round
)

// A recording is the log of a disk on which a store was at work, with the ledger of its
// answers.
type recording struct {
	log    []faultfs.Entry
	at     []int // by moment: where its mark is in the log
	cuts   []int // the entries before which to cut, in order
	ledger *ledger
	root   seal.RootKey
	owner  store.Actor
}

// before returns whether a moment lies before an entry of the log.
func (r *recording) before(cut int) func(uint64) bool {
	return func(moment uint64) bool { return moment != never && r.at[moment] < cut }
}

// recordLoad lets several writers use a store, with restarts, and records it.
func recordLoad(t *testing.T, fs *faultfs.FS, seed uint64) *recording {
	t.Helper()
	ctx := t.Context()
	r := &recording{ledger: &ledger{mark: fs.Mark}, root: seal.NewRootKey()}
	clock := storetest.NewClock()
	rounds := powerRounds
	if env.Long() {
		rounds = longRounds
	}
	for round := range rounds {
		s := env.Must(openTracked(ctx, fs.Dir, r.root, clock))(t)
		s.ledger = r.ledger
		if round == 0 {
			a := env.Must(s.AddAccount(ctx, storetest.Operator, ownerEmail, secret.New("correct horse battery")))(t)
			r.owner = store.Actor{Account: a.ID, Client: "192.0.2.1"}
		}
		s.owner = r.owner
		env.OK(t, errors.Join(s.work(ctx, seed+uint64(round)), s.Close(ctx)))
	}
	r.log = fs.Log()
	r.at = make([]int, r.ledger.last+1)
	for i, e := range r.log {
		if e.Kind == faultfs.Mark {
			r.at[e.Node] = i
		}
	}
	r.chooseCuts()
	return r
}

// work is one round: writers, and one goroutine that sweeps, lets time pass and
// compacts.
func (s *trackedStore) work(ctx context.Context, seed uint64) error {
	g, ctx := errgroup.WithContext(ctx)
	for w := range powerWriters {
		g.Go(func() error {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for n := range powerSteps {
				if err := s.step(ctx, r, fmt.Sprintf("%d-%d-%d ", seed, w, n)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		for n := range 4 {
			s.advance(7 * time.Minute)
			if err := errors.Join(s.lookAtDue(ctx), s.changeTokens(ctx)); err != nil {
				return err
			}
			if n%2 == 0 {
				continue
			}
			if _, err := s.Sweep(ctx); err != nil {
				return err
			}
		}
		_, _, err := s.Compact(ctx, storetest.Operator, func(int64, int64) {})
		return err
	})
	return g.Wait()
}

// changeTokens makes two API tokens of the owner, and ends one.
func (s *trackedStore) changeTokens(ctx context.Context) error {
	var last store.NewAPIToken
	for range 2 {
		var err error
		if last, err = s.CreateToken(ctx, storetest.Operator, ownerEmail, store.TokenTerms{}); err != nil {
			return err
		}
	}
	return s.RevokeToken(ctx, storetest.Operator, last.ID)
}

// lookAtDue asks for each push whose time is over and that no answer has called ended.
func (s *trackedStore) lookAtDue(ctx context.Context) error {
	s.ledger.mu.Lock()
	pushes := slices.Clone(s.ledger.pushes)
	s.ledger.mu.Unlock()
	for _, p := range pushes {
		if p.ends.After(s.clock.Now()) || s.ledger.asOf(p, answered).ended {
			continue
		}
		if err := s.look(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// step takes a random action.
func (s *trackedStore) step(ctx context.Context, r *rand.Rand, name string) error {
	p, what := s.ledger.pick(r.IntN), r.IntN(20)
	if p == nil || what < 6 {
		return s.create(ctx, newPush(r, name), []time.Duration{0, 15 * time.Minute, time.Hour}[r.IntN(3)])
	}
	switch what {
	case 6, 7:
		return s.remove(ctx, p)
	case 8:
		return s.look(ctx, p)
	case 9:
		_, err := s.view(ctx, p, true)
		return err
	case 10:
		if g := s.ledger.grantOf(p); g != nil {
			// A delete or the end of its time may end the push in between.
			if err := s.fetch(ctx, p, g.grant); !errors.Is(err, record.ErrNotFound) {
				return err
			}
		}
		return nil
	case 11:
		return s.list(ctx)
	default:
		_, err := s.view(ctx, p, false)
		return err
	}
}

func newPush(r *rand.Rand, name string) *knownPush {
	p := &knownPush{payload: name, limit: 1 + r.IntN(4), owned: r.IntN(3) == 0}
	if r.IntN(3) == 0 {
		p.payload += string(make([]byte, r.IntN(6000)))
	}
	if r.IntN(8) == 0 {
		for range 1 + r.IntN(2) {
			p.files = append(p.files, storetest.Content(r.Uint64(), r.IntN(9000)))
		}
		if r.IntN(4) == 0 {
			p.files[0] = storetest.Content(r.Uint64(), seal.ChunkSize+1)
		}
	}
	return p
}
