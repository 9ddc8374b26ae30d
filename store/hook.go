package store

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"

	"pushbox/internal/secret"
)

const (
	// MaxHooks is how many webhooks an account may have.
	MaxHooks = 16
	// MaxHookURL is the most bytes of the address of a webhook.
	MaxHookURL = 2048
	// HookSecretPrefix begins the secret of a webhook; base64 follows.
	HookSecretPrefix = "whsec_"

	hookSecretSize = 32 // random bytes
)

// A HookID names a webhook; it is not a secret. 0 is the webhook of the instance, which
// the configuration holds.
type HookID uint64

// A Hook is a webhook: an address that the events of its owner's pushes are sent to.
type Hook struct {
	ID        HookID
	Owner     AccountID
	CreatedAt time.Time
	Events    EventSet
	Disabled  bool       // its receiver answered that it is gone, so it is sent nothing
	Sealed    []byte     // the address and the signing secret
	Tried     []Delivery // the last tries to send it something, oldest first
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
	b = appendTime(append(b, recordVersion, f, byte(h.Events)), h.CreatedAt)
	if b = appendBytes(b, h.Sealed); len(h.Tried) > 0 {
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
	r := reader{b: b}
	r.version()
	f := r.flags(allHookFlags)
	n := Hook{ID: h.ID, Owner: h.Owner, Disabled: f&flagHookDisabled != 0, Events: EventSet(r.byte())}
	n.CreatedAt, n.Sealed = r.time(), r.bytes()
	if f&flagHookTried != 0 {
		count := int(r.byte())
		r.bad = r.bad || count == 0 || count > MaxDeliveries
		for range min(count, MaxDeliveries) {
			n.Tried = append(n.Tried, r.delivery())
		}
	}
	if err := r.end(); err != nil {
		return err
	}
	*h = n
	return nil
}

// place returns what a webhook's target is sealed for.
func (h Hook) place() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(h.Owner))
	return binary.BigEndian.AppendUint64(b, uint64(h.CreatedAt.UnixMilli()))
}

// A HookTarget is the address of a webhook and the key that signs its messages. Both
// are secret: the address often holds a secret too.
type HookTarget struct{ URL, Secret secret.Text }

// A HookInfo is a webhook with its target.
type HookInfo struct {
	Hook
	HookTarget
}

func (t HookTarget) encode() []byte {
	return appendBytes(appendBytes(nil, t.URL.Reveal()), t.Secret.Reveal())
}

func (s *Store) sealHook(h *Hook, t HookTarget) {
	h.Sealed = s.ring.Load().SealHook(h.place(), t.encode())
}

func (s *Store) openHook(h Hook) (HookInfo, error) {
	plain, err := s.ring.Load().OpenHook(h.place(), h.Sealed)
	r := reader{b: plain}
	t := HookTarget{URL: secret.New(string(r.bytes())), Secret: secret.New(string(r.bytes()))}
	if err != nil || r.end() != nil {
		return HookInfo{}, fmt.Errorf("%w: webhook %d does not open", ErrCorrupt, h.ID)
	}
	return HookInfo{Hook: h, HookTarget: t}, nil
}

// newHookSecret returns a signing secret in the form of the Standard Webhooks
// specification.
func newHookSecret() secret.Text {
	b := make([]byte, hookSecretSize)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return secret.New(HookSecretPrefix + base64.StdEncoding.EncodeToString(b))
}

// checkHook refuses what no webhook can be. Which hosts are allowed is decided where
// messages are sent.
func checkHook(address secret.Text, events []Event, bad *InvalidError) {
	checkLength("url", address.Len(), MaxHookURL, bad)
	u, err := url.Parse(address.Reveal())
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		bad.Add("url", "is not an http or https URL without a user name")
	}
	if len(events) == 0 {
		bad.Add("events", "are none")
	}
}
