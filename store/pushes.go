package store

import (
	"context"
	"fmt"

	"pushbox/store/seal"
)

// PageSize is how many pushes or audit entries a page of a list holds.
const PageSize = 50

// CreatePush keeps a new push and returns it with its token. It is durable
// then.
//
// Errors: *InvalidError; ErrFull; ErrBusy where too many passphrases wait;
// ErrClock while the clock is in doubt; ErrToken if the actor's account was
// removed or disabled meanwhile; a *QuotaError where it asks for more mail than may be
// sent today.
func (s *Store) CreatePush(ctx context.Context, by Actor, in NewPush) (PushInfo, error) {
	at := s.time.read()
	switch {
	case at.jumped:
		return PushInfo{}, ErrClock
	case in.Files != nil && in.Files.broken:
		return PushInfo{}, errBroken
	}
	p, err := s.options().Terms[in.Kind].resolve(in, at)
	to, badMail := s.recipients(by, in.Mail)
	if err := bothInvalid(err, badMail); err != nil {
		return PushInfo{}, err
	}
	t, dek := s.begin(in, at)
	p.ID, p.Owner = s.id(t), by.Account
	payload, err := s.sealPush(ctx, &p, t, dek, in)
	if err != nil {
		return PushInfo{}, err
	}
	e := Entry{Kind: EntryCreation, At: at.now, Sealed: s.sealActor(p.ID, by)}
	p.log(e.Kind, at)
	info := PushInfo{Push: p, At: at.now, Token: t, Name: in.Name, Note: in.Note, Mailed: len(to)}
	if len(to) > 0 {
		then := s.mailEntry(info, by, *in.Mail, to)
		info.log(then.Kind, at)
		e.Post, then.Post, e.Then = then.Post, nil, &then
	}
	err = s.posting(e.Post, at, func() error { return s.engine.CreatePush(ctx, info.Push, payload, e) })
	if err != nil {
		return PushInfo{}, err
	}
	if in.Files != nil {
		in.Files.kept = p.HoldsFiles()
	}
	return info, nil
}

// begin gives a new push its token and its key: those under which its files are
// kept already, where it has files.
func (s *Store) begin(in NewPush, at instant) (Token, seal.DEK) {
	if in.Kind == File {
		return in.Files.token, in.Files.dek
	}
	return NewToken(at.now), seal.NewDEK()
}

// Preview finds a push without touching it. ErrNotFound if there is none.
func (s *Store) Preview(ctx context.Context, t Token) (PushInfo, error) {
	p, err := s.find(ctx, t)
	return PushInfo{Push: p, At: s.time.read().now, Token: t}, err
}

// Look is Preview for whoever is going to say that a push has expired: that is
// durable then. Errors as those of Preview, and any of a write.
func (s *Store) Look(ctx context.Context, t Token) (PushInfo, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return PushInfo{}, err
	}
	at := s.time.read()
	p, err = s.ended(ctx, p, at)
	return PushInfo{Push: p, At: at.now, Token: t}, err
}

// ended is the push, ended where its time is over.
func (s *Store) ended(ctx context.Context, p Push, at instant) (Push, error) {
	if over, _ := at.due(p); !over {
		return p, nil
	}
	c, err := s.change(ctx, p.ID, expireRule(at))
	return c.Push, err
}

// DeletePush ends a push by hand; nothing is delivered any more once it
// returns, downloads that run included. A push that has expired stays as it is,
// but that its files cannot be downloaded any more, and that is no error.
// ErrNotFound; ErrDenied if the actor may not.
func (s *Store) DeletePush(ctx context.Context, by Actor, t Token) (PushInfo, error) {
	if t.IsZero() {
		return PushInfo{}, ErrNotFound
	}
	id, at := s.id(t), s.time.read()
	c, err := s.change(ctx, id, deleteRule(by, at, s.sealActor(id, by)))
	return PushInfo{Push: c.Push, At: at.now, Token: t, Ended: c.Entry.Kind == EntryExpire}, err
}

// Pushes lists a page, from 1, of the actor's own pushes, newest first: those
// that are live, or those that have expired. ErrBusy where more of them have just
// ended than can be told at once.
func (s *Store) Pushes(ctx context.Context, by Actor, live bool, page int) ([]PushInfo, error) {
	return s.ownPushes(ctx, by, live, (page-1)*PageSize, PageSize, s.time.read())
}

// ownPushes opens a stretch of a list.
func (s *Store) ownPushes(ctx context.Context, by Actor, live bool, skip, limit int, at instant) ([]PushInfo, error) {
	ps, err := s.settled(ctx, by.Account, live, skip, limit, at)
	if err != nil {
		return nil, err
	}
	infos := make([]PushInfo, len(ps))
	for i, p := range ps {
		d, err := s.openDetails(p)
		if err != nil {
			return nil, err
		}
		infos[i] = PushInfo{Push: p, At: at.now, Token: Token{d.token}, Name: d.name, Note: d.note}
	}
	return infos, nil
}

// maxRounds is how often a stretch is read again because pushes in it have ended.
// Only after a long stop are there more than a few; the sweeper has them soon.
const maxRounds = 100

// settled reads a stretch of a list. Of live pushes it ends those first that are
// due: no list says of a push that it has expired before that is durable.
func (s *Store) settled(ctx context.Context, owner AccountID, live bool, skip, limit int, at instant) ([]Push, error) {
	for range maxRounds {
		ps, err := s.engine.Pushes(ctx, owner, live, skip, limit)
		if err != nil {
			return nil, err
		}
		var due []ID
		for _, p := range ps {
			if ended, _ := at.due(p); ended {
				due = append(due, p.ID)
			}
		}
		if len(due) == 0 {
			return ps, nil
		}
		if _, err := s.changeAll(ctx, due, expireRule(at), func(p Push) bool { return !p.Live() }); err != nil {
			return nil, err
		}
	}
	return nil, ErrBusy
}

// Audit lists a page, from 1, of a push's audit log, oldest first.
// ErrNotFound; ErrDenied for anybody but the owner.
func (s *Store) Audit(ctx context.Context, by Actor, t Token, page int) ([]LogEntry, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return nil, err
	}
	if !p.ownedBy(by) {
		return nil, ErrDenied
	}
	return s.entries(ctx, p.ID, (page-1)*PageSize, PageSize)
}

// entries opens a stretch of a push's audit log.
func (s *Store) entries(ctx context.Context, id ID, skip, limit int) ([]LogEntry, error) {
	es, err := s.engine.Entries(ctx, id, skip, limit)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	log := make([]LogEntry, len(es))
	for i, e := range es {
		if log[i], err = s.openEntry(id, e); err != nil {
			return nil, err
		}
	}
	return log, nil
}
