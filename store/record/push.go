package record

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"
	"time"
)

// A Kind says what a push contains.
type Kind uint8

// The kinds of push. The numbers are stored.
const (
	Text Kind = 1 + iota
	File
	URL
	QR
)

var kindNames = [...]string{Text: "text", File: "file", URL: "url", QR: "qr"}

// Kinds lists the kinds of push. A new kind also needs an entry above; tests over this list name
// the other places.
func Kinds() []Kind { return []Kind{Text, File, URL, QR} }

// KindNames lists the names of the kinds for a sentence, with a word such as "or"
// before the last.
func KindNames(word string) string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.String())
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}

// ParseKind returns the kind of that name, or false.
func ParseKind(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// String is the kind's name on the wire.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return ""
}

// A State says whether a push can still be retrieved.
type State uint8

// The states of a push. The numbers are stored, except Purged.
const (
	Live    State = 1 + iota
	Expired       // by its view limit or its time limit
	Deleted       // by a person
	Purged        // a Rule returns it to remove the push with its audit log
)

// A Push is the record of a push: all that the store knows without its link. Times are in UTC and
// whole milliseconds.
type Push struct {
	ID    ID
	Kind  Kind
	State State
	Owner AccountID // 0: none

	Holder Holder // the client that made it without an account, or with an unconfirmed one
	Size   int64  // bytes of its sealed payload, its wrapped key, and its original name and note, while it is live

	CreatedAt time.Time
	UpdatedAt time.Time // of the last change, such as a view
	ExpiresAt time.Time // when its time limit ends it
	OpensAt   time.Time // it cannot be opened before; zero: it can at once
	ExpiredAt time.Time // when it stopped being live; zero until then

	Days      int // the time limit as whole days, rounded up
	ViewLimit int
	Views     int // counted so far

	CloseAfter time.Duration // its first view ends its time that much later, if that is before ExpiresAt; 0: it does not

	RetrievalStep     bool
	TypedReveal       bool // people type a number to open it, which a program that presses all buttons does not
	DeletableByViewer bool
	Protected         bool // by a passphrase
	ClientEncrypted   bool // the sender encrypted the payload, and only the link has the key
	Frozen            bool // by too many wrong passphrases, until its sender thaws it; false once it has ended
	Restricted        bool // to some readers, whom its details name
	Reminded          bool // its owner was told that it ends soon without a view

	Seq   uint32 // how many audit entries it has; the next one's number
	Minor uint32 // how many of them count towards MaxMinorEntries

	Failed int // wrong passphrases, since it was made or thawed

	Receipt ReceiptDigest // digest of the code of its receipt; zero: it has none

	Request    RequestID // the request that it answers; zero: none
	WrappedKey []byte    // the key of its envelope, which its sender encrypted for the owner of the request; nil: none
	ReadAt     time.Time // when its owner first opened the answer; zero: never, or it is not an answer

	Wrap    []byte // the sealed data encryption key; nil unless live
	Link    []byte // the url_token, sealed for the owner; nil unless live and owned
	Details []byte // name and note for the owner, sealed; nil when there are none

	// A push holds its files beyond its last view, until its last grant ends.
	Files     []byte    // their names, types and sizes, sealed; nil while it holds none
	Stored    int64     // bytes of their sealed chunks
	GrantsEnd time.Time // when its last grant ends; zero while it has none
}

// SetEnd moves the end of the time limit.
func (p *Push) SetEnd(t time.Time) {
	p.ExpiresAt, p.Days = t, WholeDays(t.Sub(p.CreatedAt))
}

// Early reports whether it is too early at t to open the push.
func (p Push) Early(t time.Time) bool { return t.Before(p.OpensAt) }

// Live reports whether the push can still be retrieved, time limit aside.
func (p Push) Live() bool { return p.State == Live }

// HoldsFiles reports whether the push has its files.
func (p Push) HoldsFiles() bool { return p.Files != nil }

// IsAnswer reports whether the push answers a request.
func (p Push) IsAnswer() bool { return p.Request != RequestID{} }

// ViewsRemaining is how many views are left.
func (p Push) ViewsRemaining() int { return max(0, p.ViewLimit-p.Views) }

// DaysRemaining is the whole days left at t, rounded up; 0 once expired.
func (p Push) DaysRemaining(t time.Time) int {
	left := p.ExpiresAt.Sub(t)
	if !p.Live() || left <= 0 {
		return 0
	}
	return WholeDays(left)
}

// Day is a day of a time limit: always 24 hours.
const Day = 24 * time.Hour

// WholeDays is a time limit in days, rounded up.
func WholeDays(d time.Duration) int { return int((d + Day - 1) / Day) }

// An ExpiryQueue is a part of the expiry index: pushes that wait for the same end.
type ExpiryQueue uint8

// The queues. The numbers are stored.
const (
	Expiring     ExpiryQueue = 1 + iota // live pushes, by ExpiresAt
	ExpiredAnon                         // expired pushes without an owner or with a Holder, by when they expired
	ExpiredOwned                        // other expired pushes of an account, by when they expired
	Granted                             // expired pushes whose files can still be downloaded, by when that ends
)

// An ExpiryPlace is the place of a push in its queue, which its time there and its ID order. The zero
// place is before all pushes.
type ExpiryPlace struct {
	At time.Time
	ID ID
}

// ExpiryQueue returns the queue that the push waits in, and its time there.
func (p Push) ExpiryQueue() (ExpiryQueue, time.Time) {
	switch {
	case p.Live():
		return Expiring, p.ExpiresAt
	case p.HoldsFiles():
		return Granted, p.FilesEnd()
	case p.Owner == 0, p.RoomOf() == RoomOfClient:
		return ExpiredAnon, p.staysFrom()
	default:
		return ExpiredOwned, p.staysFrom()
	}
}

// staysFrom is the start of the time for which the record of an expired push stays. For an imported
// push it is not before the time limit, so that a second import cannot bring the push back.
func (p Push) staysFrom() time.Time {
	if p.ID.Imported() && p.ExpiredAt.Before(p.ExpiresAt) {
		return p.ExpiresAt
	}
	return p.ExpiredAt
}

// FilesEnd is when the files of an expired push are removed: with its last grant, and never after
// its time limit, which an edit may have moved to an earlier time.
func (p Push) FilesEnd() time.Time { return Earlier(p.GrantsEnd, p.ExpiresAt) }

// InDays reports whether the time limit is whole days.
func (p Push) InDays() bool { return p.ExpiresAt.Equal(p.CreatedAt.Add(time.Duration(p.Days) * Day)) }

// A ReceiptDigest is the digest of the code of a receipt. The code proves that a caller is the
// sender of a push, also without an owner. It cannot be derived from the link.
type ReceiptDigest [sha256.Size]byte

// IsZero reports whether there is no receipt.
func (d ReceiptDigest) IsZero() bool { return d == ReceiptDigest{} }

// Alphabet is the alphabet of base32 by RFC 4648 section 6, in lower case.
const Alphabet = "abcdefghijklmnopqrstuvwxyz234567"

// Encoding is the base32 of IDs, without padding.
var Encoding = base32.NewEncoding(Alphabet).WithPadding(base32.NoPadding)

// An ID is the key of a push in the database: 6 bytes of creation time in milliseconds,
// then 16 bytes of HMAC-SHA256(id key, token). It finds a push and cannot open it. IDs
// of later pushes are greater.
type ID [22]byte

// Imported reports whether the push came from another server.
func (id ID) Imported() bool { return [6]byte(id[:6]) == [6]byte{} }

// String is the ID in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// A GrantDigest is the SHA-256 digest of a grant's token, and the key of the grant.
type GrantDigest [32]byte

// A Grant lets a client with its token download the files of a push: for a while after
// a retrieval, and longer while a download runs, but never beyond the time limit of the
// push.
type Grant struct {
	Digest    GrantDigest
	Push      ID
	ExpiresAt time.Time // unless a download extends it
	Until     time.Time // the latest time to which it can be extended
	Sealed    []byte    // the key of the files
}

// A NewGrant is a grant that begins. The engine removes grants of the same push that ended by
// Ended.
type NewGrant struct {
	Grant
	Ended time.Time
}

// A GrantRule decides one change of a grant and of its push. It is pure, like a Rule.
// Where keep is false, the engine removes the grant.
type GrantRule func(p Push, g Grant) (nextPush Push, nextGrant Grant, keep bool)

// Earlier returns the earlier of two times.
func Earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
