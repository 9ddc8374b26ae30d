package record

import (
	"encoding/binary"
	"slices"
	"time"
)

// Limits of a request.
const (
	// MaxRequests is how many requests of an account may be live.
	MaxRequests = 100
	// MaxAnswers is the most answers that one request takes.
	MaxAnswers = 100
	// MaxAsked is the most characters of the text of a request.
	MaxAsked = 2000
)

// A RequestID is the key of a request in the database, like the ID of a push. It names the request
// for its owner only, and opens nothing.
type RequestID [len(ID{})]byte

// String is the ID as it is written: as a Handle.
func (id RequestID) String() string { return Encoding.EncodeToString(id[:]) }

// A Request asks people without an account for secrets. Its owner owns the pushes that they send.
type Request struct {
	ID        RequestID
	Owner     AccountID
	CreatedAt time.Time
	ExpiresAt time.Time
	EndedAt   time.Time // when it ended; zero until that is recorded, which may be after ExpiresAt

	Texts, Files bool // the kinds of answers that it accepts
	MaxAnswers   int
	Answers      []ID // the answers, oldest first; they may have been purged

	// The limits of answers; 0 is the default of their kind at that time.
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

// Answer adds a push to the answers. Engines call it in the step that creates the push. ErrNotFound
// if the request is not live at the push's creation or has another owner.
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

// A RequestRule decides a change of a request: it returns the new request, or removes it with gone.
// It must be quick and may run several times.
type RequestRule func(r Request) (next Request, gone bool, err error)

// Flags of a request record.
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
		b = AppendTime(b, t)
	}
	for _, n := range [...]uint64{uint64(r.Lifetime.Milliseconds()), uint64(r.Views), uint64(r.MaxAnswers), uint64(len(r.Answers))} {
		b = binary.AppendUvarint(b, n)
	}
	for _, id := range r.Answers {
		b = append(b, id[:]...)
	}
	return AppendBytes(AppendBytes(AppendBytes(b, r.X25519), r.P256), r.Sealed), nil
}

// UnmarshalBinary reads a record and leaves the ID as it is. The request shares no memory
// with b.
func (r *Request) UnmarshalBinary(b []byte) error {
	in := Reader{Rest: b}
	in.Version()
	f := in.Flags(allRequestFlags)
	q := Request{ID: r.ID, Texts: f&takesTexts != 0, Files: f&takesFiles != 0, RetrievalStep: f&answersStep != 0}
	q.Owner = AccountID(in.Uvarint(1<<64 - 1))
	q.CreatedAt, q.ExpiresAt, q.EndedAt = in.Time(), in.Time(), in.Time()
	q.Lifetime = time.Duration(in.Uvarint(1<<40)) * time.Millisecond
	q.Views, q.MaxAnswers = int(in.Uvarint(1<<31-1)), int(in.Uvarint(MaxAnswers))
	for range in.Uvarint(uint64(q.MaxAnswers)) {
		q.Answers = append(q.Answers, ID(in.Take(len(ID{}))))
	}
	q.X25519, q.P256, q.Sealed = in.Bytes(), in.Bytes(), in.Bytes()
	if err := in.End(); err != nil || q.MaxAnswers == 0 {
		return ErrRecord
	}
	*r = q
	return nil
}

// Key is the ID.
func (r Request) Key() []byte { return r.ID[:] }

// Title is the ID.
func (r Request) Title() string { return "request " + r.ID.String() }

// Belongs returns the owner.
func (r Request) Belongs() AccountID { return r.Owner }

func readRequest(key []byte) (r Request, ok bool) {
	if len(key) != len(r.ID) {
		return r, false
	}
	return Request{ID: RequestID(key)}, true
}

// OwnedRequests is the prefix of the keys in RequestsByOwner of an account's requests: those
// without a recorded end, or the others.
func OwnedRequests(owner AccountID, live bool) []byte {
	if live {
		return append(NumberKey(uint64(owner)), 1)
	}
	return append(NumberKey(uint64(owner)), 0)
}
