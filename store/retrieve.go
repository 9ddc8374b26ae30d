package store

import (
	"context"
	"errors"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// Retrieve gives the payload of a push to somebody who has its link, and
// counts a view unless it is the owner. The view is durable when Retrieve
// returns. A push that has expired comes back with no payload and is no error.
//
// Errors: ErrNotFound; a *PassphraseError, ErrLocked or ErrBusy for a passphrase
// that is wrong, comes after too many wrong ones, or waits with too many;
// ErrClock where a jump of the clock leaves open whether the push has expired.
func (s *Store) Retrieve(ctx context.Context, by Actor, t Token, passphrase secret.Text) (PushInfo, error) {
	return s.RetrieveInto(ctx, by, t, passphrase, func(int64) error { return nil })
}

// RetrieveInto is Retrieve for those who need room for a payload before a view is
// counted. It calls room once, with how many bytes the payload has or a few more, and
// 0 where there is none; an error of room is returned as it is, and no view is counted.
func (s *Store) RetrieveInto(ctx context.Context, by Actor, t Token, passphrase secret.Text, room func(payload int64) error) (PushInfo, error) {
	if t.IsZero() {
		return PushInfo{}, ErrNotFound
	}
	p, size, err := s.engine.Sized(ctx, s.id(t))
	if err != nil {
		return PushInfo{}, err
	}
	if err := room(int64(size)); err != nil {
		return PushInfo{}, err
	}
	sealed := s.sealActor(p.ID, by)
	dek, err := s.unwrap(ctx, by, p, t, passphrase)
	at := s.time.read() // the passphrase may have waited its turn
	if errors.Is(err, ErrPassphrase) && !passphrase.IsZero() {
		return s.refuse(ctx, p.ID, t, at, sealed, err)
	}
	if err != nil {
		return PushInfo{}, err
	}
	files, err := s.issue(p, dek, at)
	if err != nil {
		return PushInfo{}, err
	}
	c, err := s.change(ctx, p.ID, retrieveRule(by, at, sealed, files.issue))
	if err != nil {
		return PushInfo{}, err
	}
	info := PushInfo{Push: c.Push, At: at.now, Token: t}
	if c.Entry.Kind == EntryFailedView {
		return info, nil
	}
	if info.Payload, err = dek.OpenPayload(p.ID[:], byte(p.Kind), c.Payload); err != nil {
		return PushInfo{}, damaged(p.ID, "payload")
	}
	info.Files, info.Grant = files.infos, files.token
	info.State, info.ExpiredAt = Live, p.ExpiredAt // as it was delivered
	return info, nil
}

// change has the engine change a push, tells those who asked for it, and ends the
// downloads of files that it holds no more, whose space a sweep then gives back.
func (s *Store) change(ctx context.Context, id ID, r Rule) (Change, error) {
	r, told := s.tell(r)
	c, err := s.engine.Change(ctx, id, r)
	told.end(c, err)
	if err == nil && (!c.Push.HoldsFiles() || c.Push.State == Purged) {
		s.downloads.end(id)
		if c.Push.Kind == File {
			s.release()
		}
	}
	return c, err
}

// release notes that there is work for a sweep.
func (s *Store) release() {
	select {
	case s.released <- struct{}{}:
	default:
	}
}

// Released has a value when a push has given up files: the next sweep gives back
// what they took, and need not wait for its time.
func (s *Store) Released() <-chan struct{} { return s.released }

// issued is what a retrieval gives beside the payload.
type issued struct {
	infos []FileInfo
	token secret.Text
	issue *Issue // nil where there are no files
}

// issue makes the grant for the files of a push, if there are any to be had.
func (s *Store) issue(p Push, dek seal.DEK, at instant) (i issued, err error) {
	if dek.IsZero() || !p.HoldsFiles() {
		return issued{}, nil
	}
	if at.jumped { // a view would be spent on a grant that nobody can tell the end of
		return issued{}, ErrClock
	}
	key := dek.FilesKey()
	if i.infos, err = openFiles(p, key); err != nil {
		return issued{}, err
	}
	i.token = seal.NewGrantToken()
	i.issue = newIssue(p, at, s.options().Files.Window)
	i.issue.Digest = seal.Digest(i.token)
	i.issue.Sealed = s.ring.Load().SealGrant(at.now, p.ID[:], i.token, key)
	return i, nil
}

// unwrap opens the key of a push. It gives no key, and asks for no passphrase,
// where the push has expired.
func (s *Store) unwrap(ctx context.Context, by Actor, p Push, t Token, passphrase secret.Text) (dek seal.DEK, err error) {
	if ended, doubtful := s.time.read().due(p); doubtful {
		return dek, ErrClock
	} else if ended || !p.Live() {
		return dek, nil
	}
	open := func() error {
		dek, err = s.ring.Load().OpenWrap(p.Wrap, p.ID[:], t.Text, passphrase)
		return err
	}
	if p.Protected {
		err = s.guess.check(ctx, p.ID, by.Client, passphrase, open)
	} else {
		err = open()
	}
	if errors.Is(err, seal.ErrOpen) {
		return dek, damaged(p.ID, "key")
	}
	return dek, err
}

// refuse notes a wrong passphrase, and returns why it was refused. The push may
// have ended meanwhile, and then it is told as any that has.
func (s *Store) refuse(ctx context.Context, id ID, t Token, at instant, sealed []byte, why error) (PushInfo, error) {
	c, err := s.change(ctx, id, wrongPassphraseRule(at, sealed))
	if err != nil {
		return PushInfo{}, err
	}
	if c.Entry.Kind == EntryFailedPassphrase {
		return PushInfo{}, why
	}
	return PushInfo{Push: c.Push, At: at.now, Token: t}, nil
}
