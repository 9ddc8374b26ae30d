package endtoend

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"pushbox/internal/secret"
)

const (
	prefix    = "pushbox-end-to-end.1."
	nonceSize = 12
	tagSize   = 16

	// MaxText is the length in bytes of the longest text that fits into a push without
	// files: an envelope is a third longer, and a push has at most 1 MiB.
	MaxText = 768<<10 - 1024
)

// envelopes matches every envelope: both sections have a nonce and a tag at least.
var envelopes = regexp.MustCompile(`^pushbox-end-to-end\.1\.[A-Za-z0-9_-]{38,}\.[A-Za-z0-9_-]{38,}$`)

// IsEnvelope reports whether the payload of a push has the form of an envelope.
func IsEnvelope(payload string) bool {
	return strings.HasPrefix(payload, prefix) && envelopes.MatchString(payload)
}

// Content is the content of an envelope.
type Content struct {
	Text  secret.Text
	Files []File
}

// A File describes a file of a push. Its content is stored beside the envelope.
type File struct {
	Name string `json:"name"`
	Type string `json:"type"` // media type
}

type metadata struct {
	Files []File `json:"files"`
}

// Seal encrypts a text and the descriptions of files into an envelope.
func (k Key) Seal(c Content) (secret.Text, error) { return k.seal(c, rand.Reader) }

func (k Key) seal(c Content, random io.Reader) (secret.Text, error) {
	meta, err := json.Marshal(metadata{append([]File{}, c.Files...)})
	if err != nil {
		return secret.Text{}, err
	}
	first, err := sealSection(k.cipher(metaLabel), meta, random)
	if err != nil {
		return secret.Text{}, err
	}
	second, err := sealSection(k.cipher(textLabel), []byte(c.Text.Reveal()), random)
	if err != nil {
		return secret.Text{}, err
	}
	return secret.New(prefix + first + "." + second), nil
}

func sealSection(a cipher.AEAD, plain []byte, random io.Reader) (string, error) {
	b := make([]byte, nonceSize, nonceSize+len(plain)+tagSize)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(a.Seal(b, b, plain, nil)), nil
}

// Open decrypts an envelope. The error is ErrNotEncrypted or ErrOpen.
func (k Key) Open(envelope secret.Text) (c Content, err error) {
	text := envelope.Reveal()
	if !IsEnvelope(text) {
		return c, ErrNotEncrypted
	}
	first, second, _ := strings.Cut(strings.TrimPrefix(text, prefix), ".")
	meta, err := openSection(k.cipher(metaLabel), first)
	if err != nil {
		return c, err
	}
	body, err := openSection(k.cipher(textLabel), second)
	if err != nil {
		return c, err
	}
	var m metadata
	if json.Unmarshal(meta, &m) != nil || m.Files == nil || !utf8.Valid(meta) || !utf8.Valid(body) || slices.ContainsFunc(m.Files, func(f File) bool { return f.Name == "" }) {
		return c, ErrOpen
	}
	return Content{secret.New(string(body)), m.Files}, nil
}

func openSection(a cipher.AEAD, text string) ([]byte, error) {
	b, err := decode(text)
	if err != nil || len(b) < nonceSize+tagSize {
		return nil, ErrOpen
	}
	plain, err := a.Open(nil, b[:nonceSize], b[nonceSize:], nil)
	if err != nil {
		return nil, ErrOpen
	}
	return plain, nil
}
