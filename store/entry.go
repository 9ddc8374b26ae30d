package store

import (
	"time"

	"pushbox/internal/secret"
)

// MaxMinorEntries is how many audit entries a push keeps of the kinds that can be
// caused without using it up.
const MaxMinorEntries = 2000

// An EntryKind says what an audit entry tells of.
type EntryKind uint8

// The kinds of audit entry. The numbers are stored.
const (
	EntryCreation EntryKind = 1 + iota
	EntryView
	EntryFailedView
	EntryExpire // by hand
	EntryFailedPassphrase
	EntryOwnerView
	EntryEdit // of the limits
	EntryMail // the link was given to be sent by mail
)

var entryNames = [...]string{
	EntryCreation:         "creation",
	EntryView:             "view",
	EntryFailedView:       "failed_view",
	EntryExpire:           "expire",
	EntryFailedPassphrase: "failed_passphrase",
	EntryOwnerView:        "owner_view",
	EntryEdit:             "edit",
	EntryMail:             "creation_email_send",
}

// String is the kind's name on the wire.
func (k EntryKind) String() string {
	if int(k) < len(entryNames) {
		return entryNames[k]
	}
	return ""
}

// Minor reports whether entries of this kind stop at MaxMinorEntries.
func (k EntryKind) Minor() bool {
	switch k {
	case EntryFailedView, EntryFailedPassphrase, EntryOwnerView, EntryEdit, EntryMail:
		return true
	default:
		return false
	}
}

// An Entry is a line of a push's audit log as it is stored: who it was is
// sealed, since a Referer may hold a link.
type Entry struct {
	Kind   EntryKind
	At     time.Time
	Sealed []byte
	Issue  *Issue // a grant issued in the same step, unless nil; it is kept elsewhere

	Then     *Entry    // where a push is created: another entry of the same step, unless nil
	Post     *Post     // mail that is sent with the step, unless nil; it is kept elsewhere
	Messages []Message // go into the outbox in the same step, also where no entry is appended; they are kept elsewhere
}

// LogEntry is an opened line of an audit log.
type LogEntry struct {
	Kind      EntryKind
	At        time.Time
	IP        string
	UserAgent string // at most 255 characters
	Referrer  string // at most 255 characters

	Recipients secret.Text // of EntryMail: addresses, separated by commas
}
