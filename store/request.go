package store

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pushbox/internal/endtoend"
	"pushbox/store/cold"

	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/record"
)

const minRequestTime = 15 * time.Minute

// RequestDays are how long a request is live.
var RequestDays = Range{Default: 7, Min: 1, Max: 90}

// A RequestToken is the part of a link that names a request, and lets its holder answer. It is made
// like a url_token, but it finds no push, and a url_token finds no request.
type RequestToken struct{ secret.Text }

// ParseRequestToken reads a RequestToken in upper or lower case. For any other text it
// returns ErrNotFound.
func ParseRequestToken(s string) (RequestToken, error) {
	t, err := ParseToken(s)
	if err != nil || t.Len() != tokenLength {
		return RequestToken{}, record.ErrNotFound
	}
	return RequestToken(t), nil
}

// ParseRequestID reads an ID in upper or lower case. For any other text it returns
// ErrNotFound.
func ParseRequestID(s string) (record.RequestID, error) {
	n, err := ParseName(s)
	h, ok := n.(Handle)
	if err != nil || !ok {
		return record.RequestID{}, record.ErrNotFound
	}
	return record.RequestID(h), nil
}

// requestTakes reports whether a request accepts answers of a kind.
func requestTakes(r record.Request, k record.Kind) bool {
	return k == record.Text && r.Texts || k == record.File && r.Files
}

// endRequestRule ends a live request for its owner. A request that has ended does not change.
func endRequestRule(by Actor, at clock.Instant) record.RequestRule {
	return func(r record.Request) (record.Request, bool, error) {
		switch {
		case by.Account == 0 || r.Owner != by.Account:
			return r, false, record.ErrNotFound
		case r.Live(at.Ends):
			r.EndedAt = at.Now
		}
		return r, false, nil
	}
}

// sweepRequestRule records that the time of a request is over, and removes a request that ended
// before a given time.
func sweepRequestRule(at clock.Instant, before time.Time) record.RequestRule {
	return func(r record.Request) (record.Request, bool, error) {
		if r.EndedAt.IsZero() && !at.Ends.Before(r.ExpiresAt) {
			r.EndedAt = r.ExpiresAt
		}
		return r, !r.EndedAt.IsZero() && r.EndedAt.Before(before), nil
	}
}

// NewRequest has the fields of a new request. Nil and zero fields take defaults.
type NewRequest struct {
	Text         secret.Text // the text of the request
	Name, Note   secret.Text // for the owner alone, like those of a push
	Texts, Files bool        // the kinds of answers; neither: both
	MaxAnswers   *int        // 1 to MaxAnswers; nil: 1

	Days     *int          // the request's own time limit
	Lifetime time.Duration // instead of Days, which wins when both are given

	// The limits of the answers.
	AnswerDays     *int
	AnswerLifetime time.Duration
	AnswerViews    *int
	RetrievalStep  *bool

	X25519, P256 []byte // public keys with which senders encrypt answers

	Mail *MailRequest // the recipients of its link by mail; nil: no mail
}

// RequestInfo is a request as a caller may see it at one instant.
type RequestInfo struct {
	record.Request
	At        time.Time // the instant of the call
	Text      secret.Text
	Name      secret.Text  // only for the owner
	Note      secret.Text  // only for the owner
	ChangedAt time.Time    // when it ended; before, when its newest answer came or it was made
	Token     RequestToken // only for the owner, while the request is live
	Asker     string       // only for the sender of an answer: the address of the owner

	Policy Policy // only for the sender of an answer: the policy of the owner

	Ready  bool // only for the owner: an answer is live
	Unread int  // only in the owner's lists: live answers that the owner has not opened

	// Only in the owner's view of one request: the answers that are not purged, oldest first, as in
	// the owner's lists.
	Pushes []PushInfo
}

// Live reports whether the request takes answers at the instant of the call.
func (r RequestInfo) Live() bool { return r.Request.Live(r.At) }

// Title is the first line of the text, for lists and for the names of answers.
func (r RequestInfo) Title() secret.Text {
	line, _, _ := strings.Cut(strings.TrimSpace(r.Text.Reveal()), "\n")
	line = strings.TrimSpace(line)
	end := min(len(line), MaxName)
	for end > 0 && end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	return secret.New(line[:end])
}

// sealRequest seals the text and the token, and behind them the name and the note, if there are any.
func (s *Store) sealRequest(r *record.Request, in NewRequest, t RequestToken) {
	plain := record.AppendBytes(record.AppendBytes(nil, in.Text.Reveal()), t.Reveal())
	if !in.Name.IsZero() || !in.Note.IsZero() {
		plain = record.AppendBytes(record.AppendBytes(plain, in.Name.Reveal()), in.Note.Reveal())
	}
	r.Sealed = s.ring.Load().SealRequest(r.ID[:], plain)
}

// openRequest opens a request for its owner.
func (s *Store) openRequest(r record.Request, at clock.Instant) (RequestInfo, error) {
	plain, err := s.ring.Load().OpenRequest(r.ID[:], r.Sealed)
	in := record.Reader{Rest: plain}
	info := RequestInfo{Request: r, At: at.Denies, Text: in.Text(), Token: RequestToken{in.Text()}}
	if len(in.Rest) > 0 {
		info.Name, info.Note = in.Text(), in.Text()
	}
	if err != nil || in.End() != nil {
		return RequestInfo{}, fmt.Errorf("%w: request %s cannot be decrypted", record.ErrCorrupt, r.ID)
	}
	switch {
	case !r.EndedAt.IsZero():
		info.ChangedAt = r.EndedAt
	case !info.Live():
		info.ChangedAt = r.ExpiresAt
	case len(r.Answers) > 0:
		info.ChangedAt = createdAt(r.Answers[len(r.Answers)-1])
	default:
		info.ChangedAt = r.CreatedAt
	}
	if !info.Live() {
		info.Token = RequestToken{}
	}
	return info, nil
}

// answer opens a push that answers a request, for its owner.
func (s *Store) answer(ctx context.Context, p record.Push, at clock.Instant) (PushInfo, error) {
	p, err := s.ended(ctx, p, at)
	if err != nil {
		return PushInfo{}, err
	}
	return s.openOwn(p, at)
}

// asked returns the title of the request that a push answers, if the request exists.
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

// RequestHasRoom returns ErrFileSize or ErrNoAnswers if an answer with files of that size would be
// refused now, so that an upload can be stopped early. CreatePush decides.
func (s *Store) RequestHasRoom(ctx context.Context, r RequestInfo, bytes int64) error {
	if err := s.checkAnswer(bytes); err != nil {
		return err
	}
	return answerError(s.hasRoom(ctx, record.Push{Owner: r.Owner}, record.Room{Pushes: 1, Bytes: bytes}, r.Policy.Room))
}

// checkAnswer refuses an answer that is larger than the room of one anonymous client.
func (s *Store) checkAnswer(bytes int64) error {
	if most := s.options().Space.Room.Client.Bytes; most != 0 && bytes > most {
		return record.ErrFileSize
	}
	return nil
}

// answerError returns an error for the sender of an answer. It reveals nothing about the owner.
func answerError(err error) error {
	err = instead(err, record.ErrRoom, record.ErrNoAnswers)
	return instead(err, record.ErrToken, record.ErrNotFound)
}

// answering returns a new push with the limits of the request that it answers, and the request. It
// adds to bad what the request does not accept.
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
		bad.Add(FieldKind, "is not a kind that the request asks for")
	case in.hasFiles() && !r.Files:
		bad.Add(FieldFiles, "are not a kind that the request asks for")
	case r.Encrypted() != envelope:
		bad.Add(FieldPayload, "must be encrypted for the request, or not at all where it has no public key")
	case envelope && !endtoend.IsWrappedKey(in.WrappedKey):
		bad.Add(FieldPayload, "has no key, or a wrong one")
	case !envelope && in.WrappedKey != nil:
		bad.Add(FieldWrappedKey, "is only for an encrypted payload")
	}
	return out, r, nil
}

// lifetimeWithin returns the time limit of an answer: the choice of the request's owner, or the
// default, within bounds that may have changed since.
func lifetimeWithin(r record.Request, days Range) time.Duration {
	if r.Lifetime == 0 {
		return time.Duration(days.Default) * record.Day
	}
	return min(max(r.Lifetime, time.Duration(days.Min-1)*record.Day+1), time.Duration(days.Max)*record.Day)
}

// near returns the number within the bounds that is nearest to n.
func (r Range) near(n int) int { return min(max(n, r.Min), r.Max) }

// keepAnswer stores a push that answers a request, with a mail and messages to webhooks for the
// owner. A failure of these does not refuse the answer.
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

// hasAnswer reports whether the record of an answer still exists.
func (s *Store) hasAnswer(ctx context.Context, r record.Request) (bool, error) {
	ps, err := s.engine.PushesByID(ctx, r.Answers)
	return len(ps) > 0, err
}
