package store

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"pushbox/internal/email"
	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// CreateRequest stores a new request of the actor's account and returns it with its token once it
// is durable.
//
// Errors: ErrDenied without an account; ErrUnconfirmed; *InvalidError; ErrRequests; ErrToken if
// the account was removed or disabled meanwhile; ErrFull; a *QuotaError if it asks for more mail
// than may be sent today; ErrClock while the clock is in doubt.
func (s *Store) CreateRequest(ctx context.Context, by Actor, in NewRequest) (RequestInfo, error) {
	return sealing(ctx, s, func(ctx context.Context) (RequestInfo, error) { return s.createRequest(ctx, by, in) })
}

func (s *Store) createRequest(ctx context.Context, by Actor, in NewRequest) (RequestInfo, error) {
	at := s.time.Read()
	switch {
	case by.Account == 0:
		return RequestInfo{}, record.ErrDenied
	case at.Jumped:
		return RequestInfo{}, record.ErrClock
	}
	owner, err := cold.Account(ctx, s.engine, by.Account)
	switch {
	case err != nil:
		return RequestInfo{}, instead(err, record.ErrNotFound, record.ErrToken)
	case owner.Unconfirmed: // senders see the address
		return RequestInfo{}, record.ErrUnconfirmed
	}
	var bad record.InvalidError
	policy := s.policyFor(owner)
	r := in.resolve(policy, at, &bad)
	to := s.recipients(by, in.Mail, &bad)
	policy.checkMail(to, &bad)
	if len(to) > 0 && r.Encrypted() {
		bad.Add(FieldMailTo, "cannot be sent: the request has public keys, and the mail would lack their fingerprint in the link")
	}
	if err := bad.Err(); err != nil {
		return RequestInfo{}, err
	}
	t := RequestToken(s.nextToken(at.Now))
	r.ID, r.Owner = s.RequestID(t), by.Account
	s.sealRequest(&r, in, t)
	mail := s.requestMail(r, in.Mail, to)
	err = s.countMail(mail, at, func() error { return cold.CreateRequest(ctx, s.engine, r, mail) })
	return RequestInfo{Request: r, At: at.Now, ChangedAt: at.Now, Text: in.Text, Name: in.Name, Note: in.Note, Token: t}, err
}

// RequestID derives the ID of a request from its token, also after its end. It is never the ID of a
// push: no url_token has a space.
func (s *Store) RequestID(t RequestToken) record.RequestID {
	return record.RequestID(newID(Token(t), s.ring.Load().MAC("request "+t.Reveal())))
}

// resolve makes the record of a request, without ID, owner and sealed parts. It adds invalid fields
// to bad.
func (in NewRequest) resolve(policy Policy, at clock.Instant, bad *record.InvalidError) record.Request {
	all := policy.Terms
	r := record.Request{CreatedAt: at.Now, Texts: in.Texts, Files: in.Files, X25519: in.X25519, P256: in.P256}
	if blank(in.Text.Reveal()) {
		bad.Add(FieldText, "is required")
	}
	if utf8.RuneCountInString(in.Text.Reveal()) > record.MaxAsked {
		bad.Add(FieldText, "is too long (maximum is 2000 characters)")
	}
	checkLength(FieldName, in.Name.Len(), MaxName, bad)
	checkLength(FieldNote, in.Note.Len(), MaxNote, bad)
	if !in.Texts && !in.Files {
		r.Texts, r.Files = all[record.Text].Enabled, all[record.File].Enabled
	}
	r.MaxAnswers = Range{Default: 1, Min: 1, Max: record.MaxAnswers}.pick(FieldMaxAnswers, in.MaxAnswers, bad)
	_, lifetime := Terms{Days: RequestDays}.lifetime(NewPush{Days: in.Days, Lifetime: in.Lifetime}, at.Now, bad)
	if lifetime < minRequestTime {
		bad.Add(FieldDuration, "must be 15 minutes or more")
	}
	r.ExpiresAt = at.Now.Add(lifetime)
	if policy.Encryption && !r.Encrypted() {
		bad.Add(FieldP256, "is required: this server accepts only encrypted answers")
	}
	checkRequestKeys(r, bad)
	limitAnswer(&r, in, at.Now, all, bad)
	return r
}

// checkRequestKeys refuses public keys that cannot be used for key agreement.
func checkRequestKeys(r record.Request, bad *record.InvalidError) {
	if !r.Encrypted() {
		return
	}
	if err := endtoend.CheckPublicKeys(r.P256, nil); err != nil {
		bad.Add(FieldP256, "must be a public key of that curve, because not every browser has X25519")
	} else if err := endtoend.CheckPublicKeys(r.P256, r.X25519); err != nil {
		bad.Add(FieldX25519, "must be a public key of that curve")
	}
}

// limitAnswer fills in the limits of the answers. They must be within the terms of each kind.
func limitAnswer(r *record.Request, in NewRequest, now time.Time, all map[record.Kind]Terms, bad *record.InvalidError) {
	for i, k := range []record.Kind{record.Text, record.File} {
		if !requestTakes(*r, k) {
			continue
		}
		t := all[k]
		if !t.Enabled {
			bad.Add(FieldKinds, "cannot be "+k.String()+": such pushes are disabled")
			continue
		}
		var wrong record.InvalidError
		if in.AnswerDays != nil || in.AnswerLifetime != 0 {
			_, r.Lifetime = t.lifetime(NewPush{Days: in.AnswerDays, Lifetime: in.AnswerLifetime}, now, &wrong)
		}
		if in.AnswerViews != nil {
			r.Views = t.Views.pick(FieldViews, in.AnswerViews, &wrong)
		}
		for field, messages := range wrong.Fields {
			if i == 0 || bad.Fields[answerFields[field]] == nil {
				bad.Add(answerFields[field], messages[0])
			}
		}
		r.RetrievalStep = r.RetrievalStep || t.RetrievalStep.pick(in.RetrievalStep)
	}
	if !r.Texts && !r.Files && bad.Fields[FieldKinds] == nil {
		bad.Add(FieldKinds, "cannot be accepted: text and file pushes are disabled")
	}
}

// answerFields are the names of limits of a push in a request.
var answerFields = map[string]string{FieldDays: FieldAnswerDays, FieldDuration: FieldAnswerDuration, FieldViews: FieldAnswerViews}

// Requests lists a page, from 1, of the actor's own requests: the live ones first, and then
// those that have ended, newest first.
func (s *Store) Requests(ctx context.Context, by Actor, page int) ([]RequestInfo, error) {
	return s.ownRequests(ctx, by, record.Request{}, (page-1)*PageSize, PageSize)
}

// RequestsAfter lists up to limit of the requests that Requests lists, behind the given one; none
// if there are no more. So a walk misses none, even if requests begin or end meanwhile. A request
// that ends during the walk is found a second time, with the time of its end.
func (s *Store) RequestsAfter(ctx context.Context, by Actor, after record.Request, limit int) ([]RequestInfo, error) {
	return s.ownRequests(ctx, by, after, 0, limit)
}

func (s *Store) ownRequests(ctx context.Context, by Actor, after record.Request, skip, limit int) ([]RequestInfo, error) {
	if by.Account == 0 {
		return nil, record.ErrDenied
	}
	rs, err := cold.Requests(ctx, s.engine, by.Account, after, skip, limit)
	if err != nil {
		return nil, err
	}
	at := s.time.Read()
	list := make([]RequestInfo, len(rs))
	for i, r := range rs {
		if list[i], err = s.openRequest(r, at); err != nil {
			return nil, err
		}
		if err := s.countAnswers(ctx, &list[i], at); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// countAnswers says which answers of a request are live, and which of them its owner has not opened.
func (s *Store) countAnswers(ctx context.Context, r *RequestInfo, at clock.Instant) error {
	ps, err := s.engine.PushesByID(ctx, r.Answers)
	for _, p := range ps {
		if over, _ := isDue(p, at); over || !p.Live() || p.Request != r.ID {
			continue
		}
		r.Ready = true
		if p.ReadAt.IsZero() {
			r.Unread++
		}
	}
	return err
}

// mostFiltered is how many requests RequestsThat looks at.
const mostFiltered = 1000

// RequestsThat lists a page, from 1, of those requests that Requests lists and keep wants. It looks at the
// first thousand of them, the newest ended ones included.
func (s *Store) RequestsThat(ctx context.Context, by Actor, page int, keep func(RequestInfo) bool) (all []RequestInfo, err error) {
	var last record.Request
	for seen := 0; seen < mostFiltered && len(all) < page*PageSize; seen += PageSize {
		some, err := s.RequestsAfter(ctx, by, last, PageSize)
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			break
		}
		last = some[len(some)-1].Request
		all = append(all, slices.DeleteFunc(some, func(r RequestInfo) bool { return !keep(r) })...)
	}
	from := min((page-1)*PageSize, len(all))
	return all[from:min(from+PageSize, len(all))], nil
}

// Request returns a request of the actor's account, with its answers. ErrNotFound also for one of
// another account.
func (s *Store) Request(ctx context.Context, by Actor, id record.RequestID) (RequestInfo, error) {
	r, err := cold.Request(ctx, s.engine, id)
	switch {
	case err != nil:
		return RequestInfo{}, err
	case by.Account == 0 || r.Owner != by.Account:
		return RequestInfo{}, record.ErrNotFound
	}
	at := s.time.Read()
	info, err := s.openRequest(r, at)
	if err != nil {
		return RequestInfo{}, err
	}
	ps, err := s.engine.PushesByID(ctx, r.Answers)
	if err != nil {
		return RequestInfo{}, err
	}
	for _, p := range ps {
		if p.Request != r.ID || p.Owner != r.Owner {
			continue
		}
		opened, err := s.answer(ctx, p, at)
		if errors.Is(err, record.ErrNotFound) {
			continue // it was purged meanwhile
		}
		if err != nil {
			return RequestInfo{}, err
		}
		info.Pushes, info.Ready = append(info.Pushes, opened), info.Ready || opened.Live()
	}
	return info, nil
}

// EndRequest ends a request of the actor's account: once it returns, the request accepts no answer.
// Earlier answers stay. To end it twice is no error. ErrNotFound.
func (s *Store) EndRequest(ctx context.Context, by Actor, id record.RequestID) (RequestInfo, error) {
	at := s.time.Read()
	r, err := s.changeRequest(ctx, id, endRequestRule(by, at))
	if err != nil {
		return RequestInfo{}, err
	}
	info, err := s.openRequest(r, at)
	if err != nil {
		return RequestInfo{}, err
	}
	return info, s.countAnswers(ctx, &info, at)
}

// FindRequest returns a live request for the sender of an answer. ErrNotFound if there is none, it
// has ended, or its owner may not act or is not confirmed; the ID comes back also then, if the
// request exists. ErrClock if a jump of the clock leaves open whether it has ended.
func (s *Store) FindRequest(ctx context.Context, t RequestToken) (RequestInfo, error) {
	if t.IsZero() {
		return RequestInfo{}, record.ErrNotFound
	}
	r, err := cold.Request(ctx, s.engine, s.RequestID(t))
	at := s.time.Read()
	switch {
	case err != nil:
		return RequestInfo{}, err
	case !r.Live(at.Ends):
		return RequestInfo{Request: record.Request{ID: r.ID}}, record.ErrNotFound
	case !r.Live(at.Denies):
		return RequestInfo{}, record.ErrClock
	}
	owner, err := cold.Account(ctx, s.engine, r.Owner)
	if err != nil {
		return RequestInfo{}, err
	}
	if !owner.Active() || owner.Unconfirmed {
		return RequestInfo{Request: record.Request{ID: r.ID}}, record.ErrNotFound
	}
	info, err := s.openRequest(r, at)
	info.Answers, info.Token, info.Name, info.Note = nil, RequestToken{}, secret.Text{}, secret.Text{}
	info.Asker, info.Policy = email.Shown(owner.Email), s.policyFor(owner)
	return info, err
}

// changeRequest applies a rule.
func (s *Store) changeRequest(ctx context.Context, id record.RequestID, r record.RequestRule) (record.Request, error) {
	return sealing(ctx, s, func(ctx context.Context) (record.Request, error) { return cold.ChangeRequest(ctx, s.engine, id, r) })
}

// clearRequests records which requests are over. It removes a request as long after its end as
// expired pushes stay, unless the record of an answer still exists.
func (s *Store) clearRequests(ctx context.Context, at clock.Instant) error {
	if at.Now != at.Ends || at.Ends.Sub(s.clearedRequests) < clearRest {
		return nil
	}
	before := time.Time{} // no request ended before it
	if stay := s.options().PurgeAfter; stay > 0 {
		before = at.Ends.Add(-stay)
	}
	for rs, err := range s.scanRequests(ctx) {
		if err != nil {
			return err
		}
		for _, r := range rs {
			if err := s.clearRequest(ctx, r, at, before); err != nil {
				return err
			}
		}
	}
	s.clearedRequests = at.Ends
	return nil
}

func (s *Store) clearRequest(ctx context.Context, r record.Request, at clock.Instant, before time.Time) error {
	rule := sweepRequestRule(at, before)
	next, gone, _ := rule(r)
	if gone {
		answered, err := s.hasAnswer(ctx, r)
		if err != nil {
			return err
		}
		if gone = !answered; answered {
			rule = sweepRequestRule(at, time.Time{})
		}
	}
	if !gone && next.EndedAt.Equal(r.EndedAt) {
		return nil
	}
	_, err := s.changeRequest(ctx, r.ID, rule)
	return instead(err, record.ErrNotFound, nil)
}

// endRequests ends all live requests, because some may have been answered or ended since the backup
// was made.
func (s *Store) endRequests(ctx context.Context) error {
	at := s.time.Read()
	for rs, err := range s.scanRequests(ctx) {
		if err != nil {
			return err
		}
		for _, r := range rs {
			if !r.EndedAt.IsZero() {
				continue
			}
			_, err := s.changeRequest(ctx, r.ID, func(r record.Request) (record.Request, bool, error) {
				r.EndedAt = at.Now // also one whose time is over: a clock that is set back must not revive it
				return r, false, nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
