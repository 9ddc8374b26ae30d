package power

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

const grantWindow = 15 * time.Minute // for downloads

// A trackedStore is a store with a ledger of its answers.
type trackedStore struct {
	*store.Store
	engine *bolt.DB
	clock  *storetest.Clock
	ledger *ledger
	owner  store.Actor
}

// openTracked opens the store in a directory.
func openTracked(ctx context.Context, dir string, root seal.RootKey, clock *storetest.Clock) (*trackedStore, error) {
	db, _, err := bolt.Open(ctx, bolt.Options{Path: filepath.Join(dir, "pushbox.db"), Timeout: env.Patience})
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, db, root, store.Options{
		Clock: clock, Terms: storetest.Terms(),
		Files: store.FileLimits{MaxCount: 10, MaxSize: 1 << 20, Window: grantWindow},
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &trackedStore{Store: s, engine: db, clock: clock}, nil
}

// create creates a push, with files where p has some.
func (s *trackedStore) create(ctx context.Context, p *knownPush, lifetime time.Duration) error {
	in := store.NewPush{Kind: record.Text, Payload: secret.New(p.payload), Views: &p.limit, Lifetime: lifetime}
	by := storetest.Anonymous
	if p.owned {
		by, in.Name = s.owner, secret.New("name of "+p.payload[:min(8, len(p.payload))])
	}
	s.ledger.sendCreate(p)
	info, err := s.createWith(ctx, by, p, in)
	if err == nil {
		s.ledger.keep(p, info)
	}
	return err
}

func (s *trackedStore) createWith(ctx context.Context, by store.Actor, p *knownPush, in store.NewPush) (info store.PushInfo, err error) {
	if p.files == nil {
		return s.CreatePush(ctx, by, in)
	}
	u := s.NewUpload(s.Policy(""))
	defer func() { _ = u.Close(ctx) }() // a sweep removes what it leaves
	for _, f := range p.files {
		if err := u.Add(ctx, bytes.NewReader(f)); err != nil {
			return store.PushInfo{}, err
		}
	}
	in.Kind, in.Files = record.File, u
	return s.CreatePush(ctx, by, in)
}

// view retrieves a push as the account that owns it, or as an anonymous client: views
// of the owner do not count.
func (s *trackedStore) view(ctx context.Context, p *knownPush, own bool) (delivered bool, err error) {
	by := storetest.Anonymous
	if own {
		by = s.owner
	}
	from := s.clock.Now()
	d := s.ledger.send(p, action{counts: !own || !p.owned})
	info, err := s.Retrieve(ctx, by, p.token, secret.Text{}, nil)
	if err != nil {
		if errors.Is(err, record.ErrFull) {
			s.ledger.refuse(d)
		}
		return false, err
	}
	delivered = info.Live()
	s.ledger.answer(d, func() {
		d.delivered, d.grant = delivered, info.Grant
		d.ended = !delivered || info.ViewsRemaining() == 0
		d.grantEnd = from.Add(grantWindow)
	})
	if delivered && (info.Payload.Reveal() != p.payload || len(info.Files) != len(p.files)) {
		return true, errors.New("P7: another payload came than was sent")
	}
	return delivered, nil
}

// remove deletes a push.
func (s *trackedStore) remove(ctx context.Context, p *knownPush) error {
	d := s.ledger.send(p, action{deletes: true})
	_, err := s.DeletePush(ctx, storetest.Anonymous, p.token)
	switch {
	case err == nil:
		s.ledger.answer(d, func() { d.ended = true })
	case errors.Is(err, record.ErrFull):
		s.ledger.refuse(d)
	}
	return err
}

// look asks whether a push has ended.
func (s *trackedStore) look(ctx context.Context, p *knownPush) error {
	d := s.ledger.send(p, action{})
	info, err := s.Look(ctx, p.token)
	if err == nil {
		s.ledger.answer(d, func() { d.ended = !info.Live() })
	}
	return err
}

// fetch downloads the files of a push and compares them.
func (s *trackedStore) fetch(ctx context.Context, p *knownPush, grant secret.Text) error {
	for i, want := range p.files {
		d, err := s.Download(ctx, grant, i)
		if err != nil {
			return err
		}
		got, err := io.ReadAll(d)
		d.Close()
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("P7: file %d has other bytes than were sent", i)
		}
	}
	return nil
}

// advance lets time pass.
func (s *trackedStore) advance(d time.Duration) {
	s.ledger.tick(d)
	s.clock.Advance(d)
}

// list reads the owner's lists, and the audit logs of the pushes in them.
func (s *trackedStore) list(ctx context.Context) error {
	for _, live := range []bool{true, false} {
		ps, err := s.Pushes(ctx, s.owner, live, 1)
		if err != nil {
			return err
		}
		for _, p := range ps[:min(3, len(ps))] {
			name, err := store.ParseName(p.URLToken())
			if err == nil {
				_, err = s.Audit(ctx, s.owner, name, 1)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
