package store

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/store/clock"
)

// Limits of a request.
const (
	// MaxRequests is how many requests of an account may be live.
	MaxRequests = 100
	// MaxAnswers is the most answers that one request takes.
	MaxAnswers = 100
	// MaxAsked is the most characters of the text of a request.
	MaxAsked = 2000

	minRequestTime = 15 * time.Minute
)

// RequestDays are how long a request is live.
var RequestDays = Range{Default: 7, Min: 1, Max: 90}

// A RequestToken is the part of a link that names a request, and lets its holder answer. It
// is made as a url_token is, and finds no push; a url_token finds no request.
type RequestToken struct{ secret.Text }

// ParseRequestToken reads a RequestToken in upper or lower case. For any other text it
// returns ErrNotFound.
func ParseRequestToken(s string) (RequestToken, error) {
	t, err := ParseToken(s)
	if err != nil || t.Len() != tokenLength {
		return RequestToken{}, ErrNotFound
	}
	return RequestToken(t), nil
}

// A RequestID is the key of a request in the database, as an ID is that of a push. It names
// the request for its owner alone, and opens nothing.
type RequestID [len(ID{})]byte

// String is the ID as it is written: as a Handle.
func (id RequestID) String() string { return Handle(id).String() }

// ParseRequestID reads an ID in upper or lower case. For any other text it returns
// ErrNotFound.
func ParseRequestID(s string) (RequestID, error) {
	n, err := ParseName(s)
	h, ok := n.(Handle)
	if err != nil || !ok {
		return RequestID{}, ErrNotFound
	}
	return RequestID(h), nil
}

// A Request asks people without an account for secrets. What they send are pushes of its
// owner.
type Request struct {
	ID        RequestID
	Owner     AccountID
	CreatedAt time.Time
	ExpiresAt time.Time
	EndedAt   time.Time // when it ended; zero until that is noted, which may be after ExpiresAt

	Texts, Files bool // what answers may be
	MaxAnswers   int
	Answers      []ID // the pushes that came, oldest first; they may be gone

	// The limits of the pushes that come; 0 is the default of their kind at that time.
	Lifetime      time.Duration
	Views         int
	RetrievalStep bool

	// Public keys of the owner: 32 bytes, and an uncompressed point; nil: none. With one of
	// them, answers are encrypted by their sender.
	X25519, P256 []byte

	Sealed []byte // its text and its RequestToken
}

// Live reports whether the request takes answers at t.
func (r Request) Live(t time.Time) bool { return r.EndedAt.IsZero() && t.Before(r.ExpiresAt) }

// Encrypted reports whether answers must be encrypted by their sender.
func (r Request) Encrypted() bool { return r.X25519 != nil || r.P256 != nil }

// takes reports whether an answer may be of that kind.
func (r Request) takes(k Kind) bool { return k == Text && r.Texts || k == File && r.Files }

// Answer adds a push to the answers. It is for engines, in the step that creates the push.
// ErrNotFound if the request is not live at the push's creation or has another owner.
func (r Request) Answer(p Push) (Request, error) {
	if !r.Live(p.CreatedAt) || r.Owner != p.Owner || len(r.Answers) >= r.MaxAnswers {
		return r, ErrNotFound
	}
	r.Answers = append(slices.Clip(r.Answers), p.ID)
	if len(r.Answers) == r.MaxAnswers {
		r.EndedAt = p.CreatedAt
	}
	return r, nil
}

// A RequestRule decides a change of a request: what it shall be, or with gone that it is
// removed. It is quick and may run several times.
type RequestRule func(r Request) (next Request, gone bool, err error)

// endRequestRule ends a live request for its owner. One that has ended stays as it is.
func endRequestRule(by Actor, at clock.Instant) RequestRule {
	return func(r Request) (Request, bool, error) {
		switch {
		case by.Account == 0 || r.Owner != by.Account:
			return r, false, ErrNotFound
		case r.Live(at.Ends):
			r.EndedAt = at.Now
		}
		return r, false, nil
	}
}

// sweepRequestRule notes that the time of a request is over, and removes one that ended
// before a time.
func sweepRequestRule(at clock.Instant, before time.Time) RequestRule {
	return func(r Request) (Request, bool, error) {
		if r.EndedAt.IsZero() && !at.Ends.Before(r.ExpiresAt) {
			r.EndedAt = r.ExpiresAt
		}
		return r, !r.EndedAt.IsZero() && r.EndedAt.Before(before), nil
	}
}

// What a request takes and has.
const (
	takesTexts = 1 << iota
	takesFiles
	answersStep
	allRequestFlags = takesTexts | takesFiles | answersStep
)

func (r Request) flags() (f byte) {
	if r.Texts {
		f |= takesTexts
	}
	if r.Files {
		f |= takesFiles
	}
	if r.RetrievalStep {
		f |= answersStep
	}
	return f
}

// AppendBinary appends the request's record to b. The ID is not part of it: it is the key.
func (r Request) AppendBinary(b []byte) ([]byte, error) {
	b = binary.AppendUvarint(append(b, recordVersion, r.flags()), uint64(r.Owner))
	for _, t := range [...]time.Time{r.CreatedAt, r.ExpiresAt, r.EndedAt} {
		b = appendTime(b, t)
	}
	for _, n := range [...]uint64{uint64(r.Lifetime.Milliseconds()), uint64(r.Views), uint64(r.MaxAnswers), uint64(len(r.Answers))} {
		b = binary.AppendUvarint(b, n)
	}
	for _, id := range r.Answers {
		b = append(b, id[:]...)
	}
	return appendBytes(appendBytes(appendBytes(b, r.X25519), r.P256), r.Sealed), nil
}

// UnmarshalBinary reads a record and leaves the ID as it is. The request shares no memory
// with b.
func (r *Request) UnmarshalBinary(b []byte) error {
	in := reader{b: b}
	in.version()
	f := in.flags(allRequestFlags)
	q := Request{ID: r.ID, Texts: f&takesTexts != 0, Files: f&takesFiles != 0, RetrievalStep: f&answersStep != 0}
	q.Owner = AccountID(in.uvarint(1<<64 - 1))
	q.CreatedAt, q.ExpiresAt, q.EndedAt = in.time(), in.time(), in.time()
	q.Lifetime = time.Duration(in.uvarint(1<<40)) * time.Millisecond
	q.Views, q.MaxAnswers = int(in.uvarint(1<<31-1)), int(in.uvarint(MaxAnswers))
	for range in.uvarint(uint64(q.MaxAnswers)) {
		q.Answers = append(q.Answers, ID(in.take(len(ID{}))))
	}
	q.X25519, q.P256, q.Sealed = in.bytes(), in.bytes(), in.bytes()
	if err := in.end(); err != nil || q.MaxAnswers == 0 {
		return errRecord
	}
	*r = q
	return nil
}

// NewRequest is what an account asks for. Nil and zero fields take defaults.
type NewRequest struct {
	Text         secret.Text // what is asked for
	Texts, Files bool        // what answers may be; neither: both
	MaxAnswers   *int        // 1 to MaxAnswers; nil: 1

	Days     *int          // the request's own time limit
	Lifetime time.Duration // instead of Days, which wins when both are given

	// The limits of the pushes that come.
	AnswerDays     *int
	AnswerLifetime time.Duration
	AnswerViews    *int
	RetrievalStep  *bool

	X25519, P256 []byte // public keys, for answers that their sender encrypts
}

// RequestInfo is a request as one caller may see it, at one instant.
type RequestInfo struct {
	Request
	At    time.Time // the instant of the call
	Text  secret.Text
	Token RequestToken // only for the owner, while the request is live
	Asker string       // only for the sender of an answer: the address of the owner

	Policy Policy // only for the sender of an answer: that of the owner

	Unread int // only where the owner lists requests: answers that are live, and that the owner has not opened

	// Only where the owner asks for one request: the pushes that came and are not purged,
	// oldest first, as in the owner's lists.
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

func (s *Store) sealRequest(r *Request, text secret.Text, t RequestToken) {
	r.Sealed = s.ring.Load().SealRequest(r.ID[:], appendBytes(appendBytes(nil, text.Reveal()), t.Reveal()))
}

// openRequest opens a request for its owner.
func (s *Store) openRequest(r Request, at clock.Instant) (RequestInfo, error) {
	plain, err := s.ring.Load().OpenRequest(r.ID[:], r.Sealed)
	in := reader{b: plain}
	info := RequestInfo{Request: r, At: at.Denies, Text: in.text(), Token: RequestToken{in.text()}}
	if err != nil || in.end() != nil {
		return RequestInfo{}, fmt.Errorf("%w: request %s does not open", ErrCorrupt, r.ID)
	}
	if !info.Live() {
		info.Token = RequestToken{}
	}
	return info, nil
}
