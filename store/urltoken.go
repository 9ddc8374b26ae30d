package store

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"strings"
	"time"

	"pushbox/store/seal"

	"pushbox/internal/secret"
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
// The url_token of an imported push is shorter and has another alphabet, so the two
// cannot be confused. NewToken never makes such a one.
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

// mostAhead is how many milliseconds the time in a url_token may be ahead of the creation.
const mostAhead = 250

// nextToken returns a token for what is created at t. Lists have the order of the times in
// tokens. So that they have the order of the creations, each token gets a millisecond of its
// own, after that of the token before. Only where for some time more than a thousand are
// created in a second, several share one.
func (s *Store) nextToken(t time.Time) Token {
	now := t.UnixMilli()
	for {
		last, next := s.lastToken.Load(), now
		if last >= now && last <= now+mostAhead { // else the clock, which was in doubt, was set back
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

// milliseconds is the creation time in the token, since 1970; 0 for an imported push,
// whose token does not tell.
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

// A Name is how a caller names a push: by its Token, or by its Handle.
type Name interface{ token() Token }

// A Handle names a push that has ended, for its owner alone. It is the ID in lower-case
// base32, of 36 characters; a url_token has 34. It opens nothing.
type Handle record.ID

// handleLength is the length of a handle in characters.
const handleLength = 36

// String is the handle as it is written.
func (h Handle) String() string { return record.Encoding.EncodeToString(h[:]) }

// token returns no token, which no push has.
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

// NewPush is what a sender asks for. Nil and zero fields take the defaults of the
// kind's Terms.
type NewPush struct {
	Kind       record.Kind
	Payload    secret.Text
	Files      *Upload     // of a push of any kind; nil: none; an upload has drawn the token of its push
	Passphrase secret.Text // empty: none
	Name, Note secret.Text

	Days     *int
	Lifetime time.Duration // instead of Days, which wins when both are given
	Views    *int

	RetrievalStep     *bool
	DeletableByViewer *bool

	Mail    *MailRequest // who gets its link by mail; nil: no mail
	Receipt bool         // with the code of a receipt, for its sender

	// An answer to a request has only kind, payload and files from its sender. The request
	// says all else, and its owner owns the push.
	Request    RequestToken // that it answers; zero: none
	WrappedKey []byte       // of an envelope that answers a request with public keys
}

// hasFiles reports whether the push is to hold files.
func (in NewPush) hasFiles() bool { return in.Files != nil && in.Files.Len() > 0 }

// PushInfo is a push as one caller may see it, at one instant.
type PushInfo struct {
	record.Push
	At         time.Time // the instant of the call
	Token      Token
	Name, Note secret.Text // only for the sender: at creation and in the owner's lists
	Payload    secret.Text // only where a retrieval delivered it
	Files      []FileInfo  // only where a retrieval delivered them
	Grant      secret.Text // lets Store.Download read those files
	Ended      bool        // by DeletePush: there was something to end, the push or its files
	Mark       secret.Text // only where a passphrase was right: see Actor.Marks
	Mailed     int         // by CreatePush and MailPush: how many mails go out

	ReceiptCode secret.Text // only at creation, and only if it was asked for
}

// An Actor identifies who does something, for permissions and the audit log.
type Actor struct {
	Role      Role
	Account   record.AccountID // of a Client; 0: anonymous
	Client    string           // that limits count by: an IPv4 address or an IPv6 /64
	Marks     []secret.Text    // that the browser got from a Store: see NewSession.Mark and PushInfo.Mark
	Local     bool             // a program on this machine: its pushes count against no room of a client
	IP        string
	UserAgent string
	Referrer  secret.Text // it may hold a link

	ReceiptCode secret.Text // of the push at hand
}

// TokenTerms say what an API token is to be.
type TokenTerms struct {
	Label    string
	Lifetime time.Duration // 0: for good
	Scopes   record.Scopes // 0: all
}

// A NewAPIToken is an API token at its creation, the only time that its secret can be
// seen.
type NewAPIToken struct {
	record.APIToken
	Secret secret.Text
}

// sentBy reports whether the actor is the push's owner, or has the code of its receipt.
func sentBy(p record.Push, a Actor) bool {
	if ownedBy(p, a) {
		return true
	}
	if p.Receipt.IsZero() || a.ReceiptCode.IsZero() {
		return false
	}
	d := seal.Digest(a.ReceiptCode)
	return subtle.ConstantTimeCompare(d[:], p.Receipt[:]) == 1
}

// Receipt returns a push for its sender, with a page, from 1, of its audit log. Its name and
// its note are there for the owner alone. ErrNotFound if there is no such push, or the actor is not
// its sender.
func (s *Store) Receipt(ctx context.Context, by Actor, t Token, page int) (History, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return History{}, err
	}
	if !sentBy(p, by) {
		return History{}, record.ErrNotFound
	}
	at := s.time.Read()
	if p, err = s.ended(ctx, p, at); err != nil {
		return History{}, err
	}
	h := History{PushInfo: PushInfo{Push: p, At: at.Now, Token: t}}
	if ownedBy(p, by) {
		d, err := s.openDetails(p)
		if err != nil {
			return History{}, err
		}
		h.Name, h.Note = d.name, d.note
	}
	h.Log, err = s.entries(ctx, p, (page-1)*PageSize, PageSize)
	return h, err
}

// MaxMinorEntries is how many minor audit entries a push keeps: those that callers can
// cause without using it up.
const MaxMinorEntries = 2000

// LogEntry is an opened line of an audit log.
type LogEntry struct {
	Kind      record.EntryKind
	At        time.Time
	IP        string
	UserAgent string      // at most 255 characters
	Referrer  secret.Text // at most 255 characters; it may hold a link

	Recipients secret.Text      // of EntryMail: addresses, separated by commas
	Request    record.RequestID // of EntryCreation: the request that the push answers; zero: none
}
