package record

import (
	"fmt"
	"slices"
	"time"
)

// A HookID names a webhook; it is not a secret. 0 is the webhook of the instance, which
// the configuration holds.
type HookID uint64

// MaxHooks is how many webhooks an account may have.
const MaxHooks = 16

// A HookForm is what the messages of a webhook look like: JSON for programs, or a sentence in the
// form that a chat takes.
type HookForm uint8

// The forms. The numbers are stored.
const (
	FormStandard HookForm = iota // JSON with all of the event
	FormSlack
	FormTeams
	FormDiscord
	FormNtfy
	FormText
)

var hookFormNames = [...]string{"standard", "slack", "teams", "discord", "ntfy", "text"}

// HookForms lists the forms.
func HookForms() (all []HookForm) {
	for f := range hookFormNames {
		all = append(all, HookForm(f))
	}
	return all
}

// ParseHookForm returns the form of that name.
func ParseHookForm(name string) (f HookForm, ok bool) {
	i := slices.Index(hookFormNames[:], name)
	return HookForm(max(0, i)), i >= 0
}

// String is the form's name on the wire.
func (f HookForm) String() string {
	if f.Valid() {
		return hookFormNames[f]
	}
	return ""
}

// Valid reports whether there is such a form.
func (f HookForm) Valid() bool { return int(f) < len(hookFormNames) }

// A Hook is a webhook: an address that the events of its owner's pushes are sent to.
type Hook struct {
	ID        HookID
	Owner     AccountID
	CreatedAt time.Time
	Events    EventSet
	Disabled  bool       // its receiver answered 410, so it gets no messages
	Sealed    []byte     // the address, the signing secret and the form
	Tried     []Delivery // the last tries to send it a message, oldest first
}

const (
	flagHookDisabled = 1 << iota
	flagHookTried    // the record has Tried
	allHookFlags     = flagHookDisabled | flagHookTried
)

// AppendBinary appends the webhook's record to b. Owner and ID are not part of it:
// they are the key.
func (h Hook) AppendBinary(b []byte) ([]byte, error) {
	var f byte
	if h.Disabled {
		f = flagHookDisabled
	}
	if len(h.Tried) > 0 {
		f |= flagHookTried
	}
	b = AppendTime(append(b, recordVersion, f, byte(h.Events)), h.CreatedAt)
	if b = AppendBytes(b, h.Sealed); len(h.Tried) > 0 {
		b = append(b, byte(len(h.Tried)))
		for _, d := range h.Tried {
			b = d.append(b)
		}
	}
	return b, nil
}

// UnmarshalBinary reads a record and leaves owner and ID as they are. The webhook
// shares no memory with b.
func (h *Hook) UnmarshalBinary(b []byte) error {
	r := Reader{Rest: b}
	r.Version()
	f := r.Flags(allHookFlags)
	n := Hook{ID: h.ID, Owner: h.Owner, Disabled: f&flagHookDisabled != 0, Events: EventSet(r.Byte())}
	n.CreatedAt, n.Sealed = r.Time(), r.Bytes()
	if f&flagHookTried != 0 {
		count := int(r.Byte())
		r.Bad = r.Bad || count == 0 || count > MaxDeliveries
		for range min(count, MaxDeliveries) {
			n.Tried = append(n.Tried, r.delivery())
		}
	}
	if err := r.End(); err != nil {
		return err
	}
	*h = n
	return nil
}

// Key is the owner and the ID.
func (h Hook) Key() []byte { return PairKey(uint64(h.Owner), uint64(h.ID)) }

// Place gives the webhook its owner and its ID.
func (h *Hook) Place(owner AccountID, number uint64) { h.Owner, h.ID = owner, HookID(number) }

// Title is the ID.
func (h Hook) Title() string { return fmt.Sprintf("webhook %d", h.ID) }

// Belongs returns the owner.
func (h Hook) Belongs() AccountID { return h.Owner }
