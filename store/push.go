package store

import (
	"time"

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
