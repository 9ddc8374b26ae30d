package store

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// tokenLength is the length of a url_token in characters.
const tokenLength = 34

const (
	importedAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789-_" // RFC 4648 section 5, as Password Pusher writes it
	timeBits         = 45                                       // milliseconds since 1970: enough until the year 3084
	timeChars        = timeBits / 5
)

// The lengths in characters of url_tokens that other servers made.
const (
	minImported = 8
	maxImported = tokenLength - 1
)

// A Token is a url_token: the part of a link that names a push and opens it. It holds
// 45 bits of creation time in milliseconds (see nextToken) and 125 random bits, is never
// stored in clear, and prints as "[redacted]".
//
// The url_token of an imported push is shorter and has a different alphabet, so the two cannot be
// confused. NewToken never makes such a token.
type Token struct{ secret.Text }

// NewToken returns a token for a push created at t.
func NewToken(t time.Time) Token {
	ms := uint64(t.UnixMilli())
	var b [tokenLength]byte
	for i := range timeChars {
		b[i] = record.Alphabet[ms>>(timeBits-5*(i+1))&31]
	}
	random := b[timeChars:]
	_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
	for i := range random {
		random[i] = record.Alphabet[random[i]&31]
	}
	return Token{secret.New(string(b[:]))}
}

// mostAhead is how many milliseconds the time in a url_token may be later than its creation.
const mostAhead = 250

// nextToken returns a token for a push that is created at t. Lists are sorted by the times in
// tokens. To sort them by creation, each token gets its own millisecond, later than the token
// before. Only if more than a thousand pushes a second are created for some time, several share
// one.
func (s *Store) nextToken(t time.Time) Token {
	now := t.UnixMilli()
	for {
		last, next := s.lastToken.Load(), now
		if last >= now && last <= now+mostAhead { // else a clock in doubt was set back
			next = min(last+1, now+mostAhead)
		}
		if s.lastToken.CompareAndSwap(last, next) {
			return NewToken(time.UnixMilli(next))
		}
	}
}

// ParseToken reads a url_token in upper or lower case. For any other text it returns
// ErrNotFound, so that malformed and unknown tokens look the same.
func ParseToken(s string) (Token, error) {
	length := len(s)
	s = strings.ToLower(s)
	alphabet := record.Alphabet
	switch {
	case len(s) != length: // a character beyond ASCII became one of it
		return Token{}, record.ErrNotFound
	case len(s) >= minImported && len(s) <= maxImported:
		alphabet = importedAlphabet
	case len(s) != tokenLength:
		return Token{}, record.ErrNotFound
	}
	for _, c := range []byte(s) {
		if strings.IndexByte(alphabet, c) < 0 {
			return Token{}, record.ErrNotFound
		}
	}
	return Token{secret.New(s)}, nil
}

// milliseconds is the creation time in the token, since 1970; 0 for an imported push, whose token
// does not contain it.
func (t Token) milliseconds() uint64 {
	if t.Len() != tokenLength {
		return 0
	}
	var ms uint64
	for _, c := range []byte(t.Reveal()[:timeChars]) {
		ms = ms<<5 | uint64(strings.IndexByte(record.Alphabet, c))
	}
	return ms
}

func newID(t Token, mac [16]byte) (id record.ID) {
	binary.BigEndian.PutUint64(id[:8], t.milliseconds()<<16)
	copy(id[6:], mac[:])
	return id
}

// createdAt is when the url_token was made.
func createdAt(id record.ID) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(id[:8]) >> 16))
}

// A Name names a push in a request: by its Token, or by its Handle.
type Name interface{ token() Token }

// A Handle names a push that has ended, for its owner alone. It is the ID in lower-case
// base32, of 36 characters; a url_token has 34. It opens nothing.
type Handle record.ID

// handleLength is the length of a handle in characters.
const handleLength = 36

// String is the handle as it is written.
func (h Handle) String() string { return record.Encoding.EncodeToString(h[:]) }

// token returns the zero Token, which matches no push.
func (h Handle) token() Token { return Token{} }

func (t Token) token() Token { return t }

// ParseName reads a url_token or a handle in upper or lower case. For any other text it
// returns ErrNotFound, so that malformed and unknown ones look the same.
func ParseName(s string) (Name, error) {
	if len(s) != handleLength {
		return ParseToken(s)
	}
	var h Handle
	s = strings.ToLower(s)
	n, err := record.Encoding.Decode(h[:], []byte(s))
	if err != nil || n != len(h) || h.String() != s { // the last character has bits to spare
		return Token{}, record.ErrNotFound
	}
	return h, nil
}

// Handle names the push once it has ended.
func (p PushInfo) Handle() Handle { return Handle(p.ID) }

// URLToken is what answers name the push by: its url_token, or the handle of a push
// that has ended and was not found by its url_token.
func (p PushInfo) URLToken() string {
	if p.Token.IsZero() {
		return p.Handle().String()
	}
	return p.Token.Reveal()
}

// repeatID identifies the key of a create. Senders do not share keys.
func (s *Store) repeatID(by Actor, key secret.Text) record.RepeatID {
	sender := "client " + by.Client
	if by.Account != 0 {
		sender = "account " + strconv.FormatUint(uint64(by.Account), 10)
	}
	return s.ring.Load().MAC("repeat of " + sender + " " + key.Reveal()) // no url_token has a space
}

// errReused refuses a create with the key of one that asked for something else, or whose push is gone.
func errReused() error {
	return invalidField(FieldRepeat, "was used in the last 24 hours, for a push with other fields or for one that is gone: send a new key for each push")
}

// newRepeat lets a create be repeated that makes the push with that url_token; nil without a key.
func (s *Store) newRepeat(by Actor, of RepeatKey, t Token, now time.Time) *record.Repeat {
	if of.Key.IsZero() {
		return nil
	}
	id := s.repeatID(by, of.Key)
	return &record.Repeat{ID: id, At: now, Sealed: s.ring.Load().SealRepeat(of.Key, id[:], of.Fields, t.Text)}
}

// Repeats reports whether CreatePush with that key makes no push, since it made one.
func (s *Store) Repeats(ctx context.Context, by Actor, key secret.Text) (bool, error) {
	if key.IsZero() {
		return false, nil
	}
	r, err := cold.Repeat(ctx, s.engine, s.repeatID(by, key))
	if errors.Is(err, record.ErrNotFound) {
		return false, nil
	}
	return err == nil && !r.Over(s.time.Read().Ends), err
}

// createOnce creates a push with a key, or returns the push that an earlier create with it made. The
// engine keeps key and push in one step, so that of two creates at the same time one is first.
func (s *Store) createOnce(ctx context.Context, by Actor, in NewPush) (PushInfo, error) {
	at := s.time.Read()
	if at.Jumped {
		return PushInfo{}, record.ErrClock
	}
	p, err := s.repeated(ctx, by, in, at)
	if !errors.Is(err, record.ErrNotFound) {
		return p, err
	}
	p, err = s.createPush(ctx, by, in)
	if errors.Is(err, record.ErrExists) {
		return s.repeated(ctx, by, in, s.time.Read())
	}
	return p, err
}

// repeated returns the push of an earlier create with the same key and fields, as CreatePush did.
// ErrNotFound if there was none; *InvalidError if its fields were others, or its push is purged.
func (s *Store) repeated(ctx context.Context, by Actor, in NewPush, at clock.Instant) (info PushInfo, err error) {
	id := s.repeatID(by, in.Repeat.Key)
	r, err := cold.Repeat(ctx, s.engine, id)
	if err == nil && r.Over(at.Ends) {
		if err = cold.EndRepeat(ctx, s.engine, id, at.Ends); err == nil {
			err = record.ErrNotFound
		}
	}
	if err != nil {
		return info, err
	}
	text, err := s.ring.Load().OpenRepeat(in.Repeat.Key, id[:], in.Repeat.Fields, r.Sealed)
	if err != nil {
		return info, errReused()
	}
	p, err := s.find(ctx, Token{text})
	if err == nil {
		p, err = s.ended(ctx, p, at)
	}
	if err != nil {
		return info, instead(err, record.ErrNotFound, errReused())
	}
	mailed := len(s.recipients(by, in.Mail, new(record.InvalidError)))
	d, err := s.openDetails(p)
	info = PushInfo{Push: p, At: at.Now, Token: Token{text}, Name: in.Name, Note: in.Note, Recipient: d.access.recipient, Networks: d.access.networks, Mailed: mailed, Repeated: true}
	if p.Owner != 0 {
		info.Name, info.Note = d.name, d.note
	}
	return info, err
}
