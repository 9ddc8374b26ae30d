package store

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/url"

	"pushbox/internal/secret"
	"pushbox/store/record"
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

// hookPlace returns what a webhook's target is sealed for.
func hookPlace(h record.Hook) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(h.Owner))
	return binary.BigEndian.AppendUint64(b, uint64(h.CreatedAt.UnixMilli()))
}

// A HookTarget is the address of a webhook and the key that signs its messages. Both
// are secret: the address often holds a secret too.
type HookTarget struct{ URL, Secret secret.Text }

// A HookInfo is a webhook with its target.
type HookInfo struct {
	record.Hook
	HookTarget
}

func (t HookTarget) encode() []byte {
	return record.AppendBytes(record.AppendBytes(nil, t.URL.Reveal()), t.Secret.Reveal())
}

func (s *Store) sealHook(h *record.Hook, t HookTarget) {
	h.Sealed = s.ring.Load().SealHook(hookPlace(*h), t.encode())
}

func (s *Store) openHook(h record.Hook) (HookInfo, error) {
	plain, err := s.ring.Load().OpenHook(hookPlace(h), h.Sealed)
	r := record.Reader{Rest: plain}
	t := HookTarget{URL: secret.New(string(r.Bytes())), Secret: secret.New(string(r.Bytes()))}
	if err != nil || r.End() != nil {
		return HookInfo{}, fmt.Errorf("%w: webhook %d does not open", record.ErrCorrupt, h.ID)
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
func checkHook(address secret.Text, events []record.Event, bad *record.InvalidError) {
	checkLength("url", address.Len(), MaxHookURL, bad)
	u, err := url.Parse(address.Reveal())
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		bad.Add("url", "is not an http or https URL without a user name")
	}
	if len(events) == 0 {
		bad.Add("events", "are none")
	}
}
