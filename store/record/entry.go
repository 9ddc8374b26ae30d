package record

import (
	"time"
)

// An EntryKind says what an audit entry reports.
type EntryKind uint8

// The kinds of audit entry. The numbers are stored.
const (
	EntryCreation EntryKind = 1 + iota
	EntryView
	EntryFailedView
	EntryExpire // by a delete of a person
	EntryFailedPassphrase
	EntryOwnerView
	EntryEdit   // of limits, name or note
	EntryMail   // the link goes out by mail
	EntryFreeze // a wrong passphrase, after which the push is frozen
	EntryThaw   // the sender lets a frozen push be opened again
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
	EntryFreeze:           "freeze",
	EntryThaw:             "thaw",
}

// String is the kind's name on the wire.
func (k EntryKind) String() string {
	if int(k) < len(entryNames) {
		return entryNames[k]
	}
	return ""
}

// Minor reports whether MaxMinorEntries limits entries of this kind.
func (k EntryKind) Minor() bool {
	switch k {
	case EntryFailedView, EntryFailedPassphrase, EntryOwnerView, EntryEdit, EntryMail:
		return true
	default:
		return false
	}
}

// Dispensable reports whether engines leave out entries of this kind while there is no space for
// creates. Clients can cause any number of them; the reserved space is for views, deletes and
// expiry.
func (k EntryKind) Dispensable() bool {
	switch k {
	case EntryFailedView, EntryFailedPassphrase, EntryOwnerView:
		return true
	default:
		return false
	}
}

// An Entry is a line of a push's audit log as it is stored. The client is sealed, since
// a Referer may hold a link.
type Entry struct {
	Kind   EntryKind
	At     time.Time
	Sealed []byte
	Grant  *NewGrant // issued in the same step, unless nil; not stored in the entry

	Most     Room       // at creation for an account: its room limit, in place of RoomLimits.Account unless zero
	Then     []Entry    // at creation: more entries of the same step
	Repeat   *Repeat    // at creation: kept in the same step, unless nil; not stored in the entry
	Mail     *MailBatch // sent with the step, unless nil; not stored in the entry
	Messages []Message  // put into the outbox in the same step, even if no entry is appended
}
