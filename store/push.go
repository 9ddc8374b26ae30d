package store

import (
	"time"

	"pushbox/internal/secret"
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

// ParseKind returns the kind of that name, or false.
func ParseKind(name string) (Kind, bool) {
	for k, n := range kindNames {
		if n != "" && n == name {
			return Kind(k), true
		}
	}
	return 0, false
}

// String is the kind's name on the wire: text, file, url or qr.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return ""
}

// A State says whether a push can still be retrieved.
type State uint8

// The states of a push. The numbers are stored, but for Purged.
const (
	Live    State = 1 + iota
	Expired       // by its view limit or its time limit
	Deleted       // expired by hand
	Purged        // asked for by a Rule: nothing of the push stays, its audit log included
)

// A Push is the record of a push: all that is known of it without its link.
// Times are in UTC and whole milliseconds.
type Push struct {
	ID    ID
	Kind  Kind
	State State
	Owner AccountID // 0: nobody

	CreatedAt time.Time
	UpdatedAt time.Time // of the last change, a counted view included
	ExpiresAt time.Time // when its time limit ends it
	ExpiredAt time.Time // when it stopped being live; zero until then

	Days      int // the time limit as whole days, rounded up
	ViewLimit int
	Views     int // counted so far

	RetrievalStep     bool
	DeletableByViewer bool
	Protected         bool // by a passphrase

	Seq   uint32 // how many audit entries it has; the next one's number
	Minor uint32 // how many of them are of a kind that stops at MaxMinorEntries

	Wrap    []byte // the sealed data encryption key; nil unless live
	Details []byte // url_token (owned pushes only), name and note, sealed; nil when there is none

	// Of a push that holds files, which after its last view it does until its
	// last grant ends:
	Files     []byte    // what they are, sealed; nil where there are none, or none any more
	Stored    int64     // bytes that their sealed chunks take
	GrantsEnd time.Time // when the last of its grants ends; zero while it has none
}

// Live reports whether the push can still be retrieved, time limit aside.
func (p Push) Live() bool { return p.State == Live }

// HoldsFiles reports whether files of the push are there.
func (p Push) HoldsFiles() bool { return p.Files != nil }

// ViewsRemaining is how many views are left; never below 0.
func (p Push) ViewsRemaining() int { return max(0, p.ViewLimit-p.Views) }

// DaysRemaining is the whole days left at t, rounded up; 0 once expired.
func (p Push) DaysRemaining(t time.Time) int {
	left := p.ExpiresAt.Sub(t)
	if !p.Live() || left <= 0 {
		return 0
	}
	return int((left + day - 1) / day)
}

const day = 24 * time.Hour

// A Shelf is a part of the expiry index: pushes that wait for the same end.
type Shelf uint8

// The shelves. The numbers are stored.
const (
	Expiring     Shelf = 1 + iota // live pushes, by ExpiresAt
	ExpiredAnon                   // expired pushes without an owner, by ExpiredAt
	ExpiredOwned                  // expired pushes of an account, by ExpiredAt
	Granted                       // expired pushes whose files can still be downloaded, by when that ends
)

// Shelf returns where the push stands in the expiry index, and under which time.
func (p Push) Shelf() (Shelf, time.Time) {
	switch {
	case p.Live():
		return Expiring, p.ExpiresAt
	case p.HoldsFiles():
		return Granted, p.filesEnd()
	case p.Owner == 0:
		return ExpiredAnon, p.ExpiredAt
	default:
		return ExpiredOwned, p.ExpiredAt
	}
}

// filesEnd is when the files of a push that has expired go: with its last grant, and
// never after its time limit, which an edit may have brought forward.
func (p Push) filesEnd() time.Time { return earlier(p.GrantsEnd, p.ExpiresAt) }

// NewPush is what a sender asks for. Nil and zero fields take the defaults of
// the kind's Terms.
type NewPush struct {
	Kind       Kind
	Payload    secret.Text
	Files      *Upload     // nil: none; they come with a token of their own
	Passphrase secret.Text // empty: none
	Name, Note secret.Text

	Days     *int
	Lifetime time.Duration // instead of Days, which wins when both are given
	Views    *int

	RetrievalStep     *bool
	DeletableByViewer *bool

	Mail *Mailing // who gets its link by mail; nil: nobody
}

// PushInfo is a push as one caller may see it, at one instant.
type PushInfo struct {
	Push
	At         time.Time // the instant of the call
	Token      Token
	Name, Note secret.Text // only for a sender: create and the owner's lists
	Payload    secret.Text // only where a retrieval delivered it
	Files      []FileInfo  // only where a retrieval delivered them
	Grant      secret.Text // with it Store.Download gives those files
	Ended      bool        // by DeletePush: it was live, or its files were there
	Mailed     int         // by CreatePush and MailPush: how many mails are going to be sent
}
