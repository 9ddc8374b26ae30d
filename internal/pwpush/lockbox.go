package pwpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf8"

	"pushbox/internal/secret"
)

// DefaultMasterKey is the master key of a Password Pusher server that was given none. It is in
// Password Pusher's source, so whatever it encrypts is public to everyone who has the database.
const DefaultMasterKey = "749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f"

// Errors of encrypted values.
var (
	// ErrMasterKey is a master key that does not have the form of one.
	ErrMasterKey = errors.New("a master key of Password Pusher has 64 hexadecimal digits")

	// ErrSealed is a value that no master key opens: another one encrypted it, or it is damaged.
	ErrSealed = errors.New("none of the master keys opens it")
)

// Keys are the master keys of a Password Pusher server.
type Keys struct{ masters []secret.Text }

// NewKeys returns keys from PWPUSH_MASTER_KEY, and from the former ones that are in
// PWPUSH_MASTER_KEY_PREVIOUS with commas between them. An empty master key means the
// default one.
func NewKeys(master, previous secret.Text) (Keys, error) {
	all := []string{DefaultMasterKey}
	if !master.IsZero() {
		all[0] = strings.TrimSpace(master.Reveal())
	}
	for one := range strings.SplitSeq(previous.Reveal(), ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	var k Keys
	for _, one := range all {
		raw, err := hex.DecodeString(one)
		if err != nil || len(raw) != 32 {
			return Keys{}, ErrMasterKey
		}
		k.masters = append(k.masters, secret.New(string(raw)))
	}
	return k, nil
}

// A Sealed is a text that Lockbox encrypted.
type Sealed struct {
	table, column string
	text          string // in base64
}

// IsZero reports whether there is no text: Lockbox leaves NULL and the empty text as they are.
func (s Sealed) IsZero() bool { return s.text == "" }

// Open returns the text of a sealed one. ErrSealed.
func (k Keys) Open(s Sealed) (secret.Text, error) {
	if s.IsZero() {
		return secret.Text{}, nil
	}
	raw, err := base64.StdEncoding.DecodeString(s.text)
	if err != nil {
		return secret.Text{}, ErrSealed
	}
	for _, master := range k.masters {
		box, err := s.box(master)
		if err != nil {
			return secret.Text{}, err
		}
		if len(raw) < box.NonceSize() {
			break
		}
		if plain, err := box.Open(nil, raw[:box.NonceSize()], raw[box.NonceSize():], nil); err == nil && utf8.Valid(plain) {
			return secret.New(string(plain)), nil
		}
	}
	return secret.Text{}, ErrSealed
}

// box returns the cipher of a column: AES-256-GCM under a key of its own, which HKDF derives
// with the table as salt.
func (s Sealed) box(master secret.Text) (cipher.AEAD, error) {
	info := strings.Repeat("\xb4", 32) + s.column
	key, err := hkdf.Key(sha512.New384, []byte(master.Reveal()), []byte(s.table), info, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
