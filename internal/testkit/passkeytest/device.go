// Package passkeytest has a device with a passkey and the browser in front of it, for tests.
// Its fields are what a test may forge.
package passkeytest

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"pushbox/internal/testkit/env"
)

// The flags of what a device says.
const (
	Present  = 1 << 0 // the user was there
	Verified = 1 << 2 // and proved to be the user of the device

	attested = 1 << 6 // the public key comes along
)

// A Device has one passkey.
type Device struct {
	T      testing.TB
	Origin string // of the page, as the browser tells it
	Site   string // the ID of the site for which the device signs; empty: that of the request
	Flags  byte
	Count  uint32 // of uses until now; 0: the device does not count
	Handle []byte // of the user, from Create; nil is not sent
	ID     []byte // of the passkey

	Challenge string // in place of that of the request
	Ceremony  string // in place of the right one

	key *ecdsa.PrivateKey
}

// New returns a device whose browser shows pages of that origin, and which verifies its user.
func New(t testing.TB, origin string) *Device {
	t.Helper()
	key := env.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	return &Device{T: t, Origin: origin, Flags: Present | Verified, ID: id, key: key}
}

// options are what tests need of the options of a request.
type options struct {
	Challenge string
	RPID      string
	RP        struct{ ID string }
	User      struct{ ID string }
}

func (d *Device) read(text string) (o options) {
	d.T.Helper()
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		d.T.Fatalf("options %q: %v", text, err)
	}
	return o
}

// Create makes the passkey, and returns the browser's answer.
func (d *Device) Create(text string) string {
	d.T.Helper()
	o := d.read(text)
	handle := env.Must(base64.RawURLEncoding.DecodeString(o.User.ID))(d.T)
	d.Handle = handle
	data := append(d.data(o.RP.ID, attested), make([]byte, 16)...) // no AAGUID
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(d.ID))), d.ID...)
	data = append(data, d.PublicKey()...)
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"), byte(len(data)>>8), byte(len(data)))
	return d.answer(map[string]any{
		"clientDataJSON": encode(d.client("webauthn.create", o)), "attestationObject": encode(append(object, data...)), "transports": []string{"internal"},
	})
}

// Get uses the passkey, and returns the browser's answer.
func (d *Device) Get(text string) string {
	d.T.Helper()
	if d.Count > 0 {
		d.Count++
	}
	o := d.read(text)
	client, data := d.client("webauthn.get", o), d.data(o.RPID, 0)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(data[:len(data):len(data)], hash[:]...))
	signature := env.Must(ecdsa.SignASN1(rand.Reader, d.key, sum[:]))(d.T)
	response := map[string]any{"clientDataJSON": encode(client), "authenticatorData": encode(data), "signature": encode(signature)}
	if d.Handle != nil {
		response["userHandle"] = encode(d.Handle)
	}
	return d.answer(response)
}

// PublicKey is the key in COSE form.
func (d *Device) PublicKey() []byte {
	point, err := d.key.PublicKey.Bytes() // 4, x, y
	env.OK(d.T, err)
	b := append([]byte("\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"), point[1:33]...)
	return append(append(b, "\x22\x58\x20"...), point[33:]...)
}

func (d *Device) client(ceremony string, o options) []byte {
	b, err := json.Marshal(map[string]any{
		"type": cmp.Or(d.Ceremony, ceremony), "challenge": cmp.Or(d.Challenge, o.Challenge), "origin": d.Origin, "crossOrigin": false,
	})
	env.OK(d.T, err)
	return b
}

func (d *Device) data(site string, flags byte) []byte {
	hash := sha256.Sum256([]byte(cmp.Or(d.Site, site)))
	return binary.BigEndian.AppendUint32(append(hash[:], d.Flags|flags), d.Count)
}

func (d *Device) answer(response map[string]any) string {
	b, err := json.Marshal(map[string]any{
		"id": encode(d.ID), "rawId": encode(d.ID), "type": "public-key", "response": response, "clientExtensionResults": map[string]any{},
	})
	env.OK(d.T, err)
	return string(b)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
