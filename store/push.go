package store

import (
	"context"
	"crypto/subtle"
	"time"

	"pushbox/store/seal"

	"pushbox/internal/secret"
	"pushbox/store/record"
)

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
