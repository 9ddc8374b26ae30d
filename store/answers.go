package store

import (
	"context"
	"time"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// answer opens a push that answers a request, for its owner.
func (s *Store) answer(ctx context.Context, p record.Push, at clock.Instant) (PushInfo, error) {
	p, err := s.ended(ctx, p, at)
	if err != nil {
		return PushInfo{}, err
	}
	return s.openOwn(p, at)
}

// asked returns the title of the request that a push answers, if it is there.
func (s *Store) asked(ctx context.Context, p record.Push) (secret.Text, error) {
	if !p.IsAnswer() {
		return secret.Text{}, nil
	}
	r, err := cold.Request(ctx, s.engine, p.Request)
	if err != nil {
		return secret.Text{}, instead(err, record.ErrNotFound, nil)
	}
	info, err := s.openRequest(r, s.time.Read())
	return info.Title(), err
}

// RequestHasRoom returns ErrFileSize or ErrNoAnswers if an answer with files of that size
// would be refused now: an upload that asks need not run to its end. CreatePush decides.
func (s *Store) RequestHasRoom(ctx context.Context, r RequestInfo, bytes int64) error {
	if err := s.checkAnswer(bytes); err != nil {
		return err
	}
	return answerError(s.hasRoom(ctx, record.Push{Owner: r.Owner}, record.Room{Pushes: 1, Bytes: bytes}, r.Policy.Room))
}

// checkAnswer refuses an answer that is larger than all that one anonymous client may have
// live.
func (s *Store) checkAnswer(bytes int64) error {
	if most := s.options().Space.Room.Client.Bytes; most != 0 && bytes > most {
		return record.ErrFileSize
	}
	return nil
}

// answerError is an error for the sender of an answer, who learns nothing of the owner.
func answerError(err error) error {
	err = instead(err, record.ErrRoom, record.ErrNoAnswers)
	return instead(err, record.ErrToken, record.ErrNotFound)
}

// answering returns a new push that answers a request, as the request says, and the request.
// It adds to bad what the request does not take.
func (s *Store) answering(ctx context.Context, in NewPush, bad *record.InvalidError) (NewPush, RequestInfo, error) {
	r, err := s.FindRequest(ctx, in.Request)
	if err != nil {
		return in, r, err
	}
	t := termsOf(r.Policy.Terms, in.Kind, in.hasFiles())
	views := r.Views
	if views == 0 {
		views = t.Views.Default
	}
	views = t.Views.near(views)
	out := NewPush{
		Kind: in.Kind, Payload: in.Payload, Files: in.Files, Name: r.Title(), Lifetime: lifetimeWithin(r.Request, t.Days),
		Views: &views, RetrievalStep: &r.RetrievalStep, Request: in.Request, WrappedKey: in.WrappedKey,
	}
	envelope := isEnvelope(in.Kind, in.Payload)
	switch {
	case !requestTakes(r.Request, in.Kind):
		bad.Add(FieldKind, "is not what the request asks for")
	case in.hasFiles() && !r.Files:
		bad.Add(FieldFiles, "are not what the request asks for")
	case r.Encrypted() != envelope:
		bad.Add(FieldPayload, "must be encrypted for the request, or not at all where it has no public key")
	case envelope && !endtoend.IsWrappedKey(in.WrappedKey):
		bad.Add(FieldPayload, "comes without its key, or with a wrong one")
	case !envelope && in.WrappedKey != nil:
		bad.Add(FieldWrappedKey, "is for an encrypted payload alone")
	}
	return out, r, nil
}

// lifetimeWithin returns the time limit of a push that comes now: what the owner of the
// request chose, or the default, within bounds that may have changed since.
func lifetimeWithin(r record.Request, days Range) time.Duration {
	if r.Lifetime == 0 {
		return time.Duration(days.Default) * record.Day
	}
	return min(max(r.Lifetime, time.Duration(days.Min-1)*record.Day+1), time.Duration(days.Max)*record.Day)
}

// near is the number within the bounds that is nearest to n.
func (r Range) near(n int) int { return min(max(n, r.Min), r.Max) }

// keepAnswer keeps a push that answers a request, with what tells its owner: a mail, and
// messages to webhooks. Nothing about these keeps the answer out.
func (s *Store) keepAnswer(ctx context.Context, p record.Push, payload []byte, e record.Entry, at clock.Instant) error {
	if err := s.checkAnswer(p.Room().Bytes); err != nil {
		return err
	}
	n := s.notifications()
	if n != nil {
		n.compose(record.Push{Owner: p.Owner}, p, &e)
	}
	e.Mail = s.ownerMail(ctx, p, MailAnswer, at)
	mail := e.Mail
	err := s.countMail(mail, at, func() (err error) {
		e, err = s.engine.CreatePush(ctx, p, payload, e)
		return err
	})
	if err == nil && mail != nil && e.Mail == nil {
		s.outbox.release(len(mail.Messages))
	}
	n.end(record.Change{Push: p, Entry: e}, err)
	return answerError(err)
}

// hasAnswer reports whether the record of a push that came is still there.
func (s *Store) hasAnswer(ctx context.Context, r record.Request) (bool, error) {
	ps, err := s.engine.PushesByID(ctx, r.Answers)
	return len(ps) > 0, err
}
