package record

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"
	"time"
)

// A Kind says what a push carries.
type Kind uint8

// The kinds of push. The numbers are stored.
const (
	Text Kind = 1 + iota
	File
	URL
	QR
)

var kindNames = [...]string{Text: "text", File: "file", URL: "url", QR: "qr"}

// Kinds lists the kinds of push. A new kind also needs an entry above; tests that range
// over this list name the other places.
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
	Purged        // what a Rule returns to have the push removed with its audit log
)

// A Push is the record of a push: all that is known without its link.
// Times are in UTC and whole milliseconds.
type Push struct {
	ID    ID
	Kind  Kind
	State State
	Owner AccountID // 0: none

	Holder Holder // the client that made it, without an account or with one that was not confirmed
	Size   int64  // bytes of its sealed payload, its wrapped key, and the name and note that it was made with, as long as it is live

	CreatedAt time.Time
	UpdatedAt time.Time // of the last change; a view is one
	ExpiresAt time.Time // when its time limit ends it
	ExpiredAt time.Time // when it stopped being live; zero until then

	Days      int // the time limit as whole days, rounded up
	ViewLimit int
	Views     int // counted so far

	RetrievalStep     bool
	DeletableByViewer bool
	Protected         bool // by a passphrase
	ClientEncrypted   bool // its payload is an envelope: the sender encrypted it, and only the link has the key
	Frozen            bool // by too many wrong passphrases, until its sender thaws it; never true of one that has ended

	Seq   uint32 // how many audit entries it has; the next one's number
	Minor uint32 // how many of them have a kind that stops at MaxMinorEntries

	Failed int // wrong passphrases, since it was made or thawed

	Receipt ReceiptDigest // of the code of its receipt; zero: it has none

	Request    RequestID // of a push that answers a request; zero: it answers none
	WrappedKey []byte    // the key of its envelope, which its sender encrypted for the owner of the request; nil: none
	ReadAt     time.Time // when its owner first opened it; zero: never, or it answers none

	Wrap    []byte // the sealed data encryption key; nil unless live
	Link    []byte // the url_token, sealed for the owner; nil unless live and owned
	Details []byte // name and note for the owner, sealed; nil when there are none

	// A push holds its files beyond its last view, until its last grant ends.
	Files     []byte    // their names, types and sizes, sealed; nil while it holds none
	Stored    int64     // bytes of their sealed chunks
	GrantsEnd time.Time // when its last grant ends; zero while it has none
}

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
	return int((left + Day - 1) / Day)
}

// Day is a day of a time limit, whatever the calendar says.
const Day = 24 * time.Hour

// An ExpiryQueue is a part of the expiry index: pushes that wait for the same end.
type ExpiryQueue uint8

// The queues. The numbers are stored.
const (
	Expiring     ExpiryQueue = 1 + iota // live pushes, by ExpiresAt
	ExpiredAnon                         // expired pushes without an owner, or that count for their client, by when they expired
	ExpiredOwned                        // other expired pushes of an account, by when they expired
	Granted                             // expired pushes whose files can still be downloaded, by when that ends
)

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

// staysFrom is when the time begins for which the record of an expired push stays. That
// of an imported push stays beyond its time limit: as long as it is there, a second
// import cannot bring the push back.
func (p Push) staysFrom() time.Time {
	if p.ID.Imported() && p.ExpiredAt.Before(p.ExpiresAt) {
		return p.ExpiresAt
	}
	return p.ExpiredAt
}

// FilesEnd is when the files of an expired push go: with its last grant, and never
// after its time limit, which an edit may have brought forward.
func (p Push) FilesEnd() time.Time { return Earlier(p.GrantsEnd, p.ExpiresAt) }

// InDays reports whether the time limit is whole days.
func (p Push) InDays() bool { return p.ExpiresAt.Equal(p.CreatedAt.Add(time.Duration(p.Days) * Day)) }

// A ReceiptDigest is the digest of the code of a receipt. The code shows that a caller is the
// sender of a push, also of one without an owner; a link does not lead to it.
type ReceiptDigest [sha256.Size]byte

// IsZero reports whether there is no receipt.
func (d ReceiptDigest) IsZero() bool { return d == ReceiptDigest{} }

// Alphabet is that of base32 by RFC 4648 section 6, in lower case.
const Alphabet = "abcdefghijklmnopqrstuvwxyz234567"

// Encoding is base32 as IDs are written in it, without padding.
var Encoding = base32.NewEncoding(Alphabet).WithPadding(base32.NoPadding)

// An ID is the key of a push in the database: 6 bytes of creation time in milliseconds,
// then 16 bytes of HMAC-SHA256(id key, token). It finds a push and cannot open it. IDs
// of later pushes are greater.
type ID [22]byte

// Imported reports whether the push came from another server.
func (id ID) Imported() bool { return [6]byte(id[:6]) == [6]byte{} }

// String is the ID in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// A GrantDigest is the SHA-256 digest of a grant's token, by which the grant is kept
// and found.
type GrantDigest [32]byte

// A Grant lets a client with its token download the files of a push: for a while after
// a retrieval, and longer while a download runs, but never beyond the time limit of the
// push.
type Grant struct {
	Digest    GrantDigest
	Push      ID
	ExpiresAt time.Time // unless a download extends it
	Until     time.Time // the most that it can be extended to
	Sealed    []byte    // the key of the files
}

// A NewGrant is a grant that begins. The engine removes others of the same push that
// ended by Ended.
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
