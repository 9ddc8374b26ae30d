// Package passkey implements WebAuthn (Level 3): it writes requests to browsers, and checks their
// answers. It stores nothing and trusts nothing in an answer: its callers check who owns a passkey
// and whether a challenge is valid.
//
// It neither asks for attestation nor reads it, because pushbox accepts all devices.
package passkey

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"pushbox/internal/secret"
)

// Limits of the stored parts of a passkey.
const (
	maxID         = 1023 // bytes, which WebAuthn allows
	maxKey        = 1024 // bytes: an RSA key of 4096 bits has about 530
	maxTransports = 8
	maxTransport  = 16 // bytes
)

// ErrAnswer says that an answer does not match the request. It hides what the library says, whose
// texts have parts of the answer.
var ErrAnswer = errors.New("the browser's answer about a passkey is not valid")

// A Site is the web site that a passkey is for. The passkey works nowhere else.
type Site struct {
	host   string // the relying party's ID
	origin string
}

// SiteOf returns the site of an origin; false if browsers have no passkeys there: they need
// HTTPS and a host with a name, or localhost.
func SiteOf(origin string) (Site, bool) {
	u, err := url.Parse(origin)
	if err != nil {
		return Site{}, false
	}
	host := u.Hostname()
	_, err = netip.ParseAddr(host)
	ok := err != nil && host != "" && (u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || strings.HasSuffix(host, ".localhost")))
	return Site{host, origin}, ok
}

// Origin is the origin of the site.
func (s Site) Origin() string { return s.origin }

// A Ref names a passkey to a browser.
type Ref struct {
	ID         []byte
	Transports []string // how a browser may reach it
}

// A User is the future owner of a passkey. The browser and the device show the name.
type User struct {
	Handle []byte
	Name   string
}

// The algorithms of keys, by preference. Every browser has the first.
var algorithms = []webauthncose.COSEAlgorithmIdentifier{webauthncose.AlgES256, webauthncose.AlgEdDSA, webauthncose.AlgRS256}

type (
	bytesJSON = protocol.URLEncodedBase64
	refJSON   struct {
		Type       string    `json:"type"`
		ID         bytesJSON `json:"id"`
		Transports []string  `json:"transports,omitempty"`
	}
	algorithmJSON struct {
		Type      string                               `json:"type"`
		Algorithm webauthncose.COSEAlgorithmIdentifier `json:"alg"`
	}
	siteJSON struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	userJSON struct {
		ID          bytesJSON `json:"id"`
		Name        string    `json:"name"`
		DisplayName string    `json:"displayName"`
	}
	selectionJSON struct {
		ResidentKey      string `json:"residentKey"`
		UserVerification string `json:"userVerification"`
	}
	creationJSON struct {
		Challenge   bytesJSON       `json:"challenge"`
		Site        siteJSON        `json:"rp"`
		User        userJSON        `json:"user"`
		Algorithms  []algorithmJSON `json:"pubKeyCredParams"`
		Known       []refJSON       `json:"excludeCredentials"`
		Selection   selectionJSON   `json:"authenticatorSelection"`
		Attestation string          `json:"attestation"`
	}
	requestJSON struct {
		Challenge        bytesJSON `json:"challenge"`
		Site             string    `json:"rpId"`
		Allowed          []refJSON `json:"allowCredentials"`
		UserVerification string    `json:"userVerification"`
	}
)

// Creation returns the request to make a passkey, as the JSON of WebAuthn: one that can sign in
// alone, if the device supports that. A device with one of the known passkeys does not make
// another.
func (s Site) Creation(challenge []byte, u User, known []Ref) string {
	all := make([]algorithmJSON, len(algorithms))
	for i, a := range algorithms {
		all[i] = algorithmJSON{typeKey, a}
	}
	return encode(creationJSON{
		challenge,
		siteJSON{s.host, s.host},
		userJSON{u.Handle, u.Name, u.Name},
		all, refs(known),
		selectionJSON{ResidentKey: "preferred", UserVerification: "preferred"},
		"none",
	})
}

// Request returns the request to use one of these passkeys. Without any, the user chooses one that
// the browser has for the site; that signs in alone, so the device must verify the user.
func (s Site) Request(challenge []byte, allowed []Ref) string {
	verification := "preferred"
	if len(allowed) == 0 {
		verification = "required"
	}
	return encode(requestJSON{challenge, s.host, refs(allowed), verification})
}

const typeKey = "public-key"

func refs(of []Ref) []refJSON {
	all := make([]refJSON, len(of))
	for i, one := range of {
		all[i] = refJSON{typeKey, one.ID, one.Transports}
	}
	return all
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // these types have nothing that cannot be encoded
	}
	return string(b)
}

// A Made is a passkey that was made.
type Made struct {
	Ref
	Key   []byte // public, in COSE form
	Count uint32
}

// Made reads the answer to Creation. ErrAnswer.
func (s Site) Made(answer secret.Text, challenge []byte) (Made, error) {
	a, err := protocol.ParseCredentialCreationResponseBytes([]byte(answer.Reveal()))
	if err != nil {
		return Made{}, ErrAnswer
	}
	// With a verifier of every format, hostile statements would have much to reach, for nothing.
	a.Response.AttestationObject.Format, a.Response.AttestationObject.AttStatement = string(protocol.AttestationFormatNone), nil
	all := make([]protocol.CredentialParameter, len(algorithms))
	for i, one := range algorithms {
		all[i] = protocol.CredentialParameter{Type: typeKey, Algorithm: one}
	}
	_, err = a.Verify(base64.RawURLEncoding.EncodeToString(challenge), s.host, []string{s.origin}, nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, false, true, nil, all, protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil {
		return Made{}, ErrAnswer
	}
	data := a.Response.AttestationObject.AuthData
	m := Made{Ref{ID: data.AttData.CredentialID}, data.AttData.CredentialPublicKey, data.Counter}
	if _, err := webauthncose.ParsePublicKey(m.Key); err != nil || len(m.ID) > maxID || len(m.Key) > maxKey {
		return Made{}, ErrAnswer
	}
	for _, t := range a.Response.Transports[:min(len(a.Response.Transports), maxTransports)] {
		if len(t) <= maxTransport {
			m.Transports = append(m.Transports, string(t))
		}
	}
	return m, nil
}

// A Use is the answer to Request. Nothing in it is to be believed before Check.
type Use struct {
	ID     []byte // of the passkey
	Handle []byte // of its user; nil if the passkey does not know
	parsed *protocol.ParsedCredentialAssertionData
}

// ReadUse reads an answer to Request. ErrAnswer.
func ReadUse(answer secret.Text) (Use, error) {
	a, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer.Reveal()))
	if err != nil {
		return Use{}, ErrAnswer
	}
	return Use{a.RawID, a.Response.UserHandle, a}, nil
}

// Check checks that the passkey with this public key gave the answer, to this challenge, on
// this site, and with verify that the device verified its user. It returns the passkey's count
// of uses. ErrAnswer.
func (u Use) Check(s Site, challenge, key []byte, verify bool) (count uint32, err error) {
	err = u.parsed.Verify(base64.RawURLEncoding.EncodeToString(challenge), s.host, "", []string{s.origin}, nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, verify, true, key, protocol.SignaturePolicy{})
	if err != nil {
		return 0, ErrAnswer
	}
	return u.parsed.Response.AuthenticatorData.Counter, nil
}
