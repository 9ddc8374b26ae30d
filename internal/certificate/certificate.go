// Package certificate has the form of certificates of the end of a push, and their check.
//
// A certificate is a JSON object with the payload, which is the JSON of a Statement, its Ed25519
// signature (RFC 8032), and the public key as an SPKI, all in base64. The signature is over the
// bytes of the payload, so no canonical form of JSON is needed.
package certificate

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
)

// KeyPath is where a server has the public key, as PEM.
const KeyPath = "/.well-known/pushbox-certificate-key"

// Type is the type of a Statement.
const Type = "pushbox certificate of the end, version 1"

// Standard names the words of a Method.
const Standard = "NIST SP 800-88 Rev. 2"

// A Statement is what a certificate says. Times are as in RFC 3339.
type Statement struct {
	Type       string   `json:"type"`
	Server     string   `json:"server"` // its base URL
	IssuedAt   string   `json:"issued_at"`
	Push       Push     `json:"push"`
	Standard   string   `json:"standard"`
	Methods    []Method `json:"methods"`
	Verified   []string `json:"verified"`
	NotVouched []string `json:"not_vouched_for"`
}

// A Push is what a certificate says of a push. None of it opens anything.
type Push struct {
	Handle          string   `json:"handle"`
	TokenSHA256     string   `json:"url_token_sha256,omitempty"` // in hexadecimal; empty if the server no longer knew the url_token
	Kind            string   `json:"kind"`
	ClientEncrypted bool     `json:"client_encrypted"`
	CreatedAt       string   `json:"created_at"`
	EndedAt         string   `json:"ended_at"`
	Cause           string   `json:"cause"`                // view_limit, time_limit or deleted
	DeletedBy       []string `json:"deleted_by,omitempty"` // who may have deleted it: the audit log has addresses, not roles
	Views           int      `json:"views"`
	ViewLimit       int      `json:"view_limit"`
}

// A Method is how something was sanitized.
type Method struct {
	Technique string `json:"technique"` // a word of the standard
	Complete  bool   `json:"complete"`
	How       string `json:"how"`
}

// A File is a certificate as it is kept.
type File struct {
	Payload   string `json:"payload"`
	Signature string `json:"signature"`
	Key       string `json:"key"`
}

// Make signs a statement.
func Make(s Statement, sign func([]byte) ([]byte, ed25519.PublicKey)) (File, error) {
	s.Type, s.Standard = Type, Standard
	payload, err := json.Marshal(s)
	if err != nil {
		return File{}, err
	}
	signature, key := sign(payload)
	spki, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return File{}, err
	}
	base64 := base64.StdEncoding.EncodeToString
	return File{Payload: base64(payload), Signature: base64(signature), Key: base64(spki)}, nil
}

// Before begins the line with the fingerprint of a key.
const Before = "SHA-256: "

// Public returns a public key as a PEM, behind a line with its fingerprint.
func Public(key ed25519.PublicKey) []byte {
	spki, _ := x509.MarshalPKIXPublicKey(key) // which fails only for other types
	return append([]byte(Before+Fingerprint(spki)+"\n"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki})...)
}

// Fingerprint is the SHA-256 digest of a key's SPKI in hexadecimal.
func Fingerprint(spki []byte) string {
	sum := sha256.Sum256(spki)
	return hex.EncodeToString(sum[:])
}

// Reasons why a certificate is refused.
var (
	ErrForm      = errors.New("is not a certificate")
	ErrOtherKey  = errors.New("was signed with another key")
	ErrSignature = errors.New("has a wrong signature: it was changed, or made up")
)

// Check returns the statement of a certificate, if it was signed with the key of that fingerprint:
// ErrForm, ErrOtherKey or ErrSignature.
func Check(text []byte, fingerprint string) (s Statement, err error) {
	var f File
	if err := decode(text, &f); err != nil {
		return s, err
	}
	var parts [3][]byte
	for i, part := range [...]string{f.Payload, f.Signature, f.Key} {
		if parts[i], err = base64.StdEncoding.Strict().DecodeString(part); err != nil {
			return s, ErrForm
		}
	}
	parsed, err := x509.ParsePKIXPublicKey(parts[2])
	key, ok := parsed.(ed25519.PublicKey)
	switch {
	case err != nil, !ok:
		return s, ErrForm
	case Fingerprint(parts[2]) != fingerprint:
		return s, ErrOtherKey
	case !ed25519.Verify(key, parts[0], parts[1]):
		return s, ErrSignature
	}
	if err := decode(parts[0], &s); err != nil || s.Type != Type {
		return Statement{}, fmt.Errorf("%w that this version of pushbox knows", ErrForm)
	}
	return s, nil
}

// decode reads one JSON object without unknown members.
func decode(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil || d.More() {
		return ErrForm
	}
	return nil
}
