package backup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// Errors of what is encrypted.
var (
	// ErrEncrypted says that a backup is encrypted and no identity was given.
	ErrEncrypted = errors.New("the backup is encrypted to age recipients")
	// ErrIdentity says that none of the identities opens a backup.
	ErrIdentity = errors.New("the backup is encrypted to others than this identity")
	// ErrSecret says that an identity, which is secret, was given as a recipient.
	ErrSecret = errors.New("that is an identity, which is secret, and not a recipient, which begins with age1")
)

// Recipients are who can read what is encrypted to them. None: it is not encrypted.
type Recipients []age.Recipient

// ParseRecipients reads recipients (age1…), and those of files, which have one a
// line. The error never quotes an identity that was given in the place of one.
func ParseRecipients(texts, files []string) (Recipients, error) {
	var all Recipients
	for i, text := range texts {
		some, err := parseRecipients(strings.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("recipient %d: %w", i+1, err)
		}
		all = append(all, some...)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		some, err := parseRecipients(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	if _, err := age.Encrypt(io.Discard, all...); err != nil { // they may not go together
		return nil, err
	}
	return all, nil
}

func parseRecipients(r io.Reader) (Recipients, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(text, []byte("AGE-SECRET-KEY-")) {
		return nil, ErrSecret
	}
	return age.ParseRecipients(bytes.NewReader(text))
}

// Identities open what is encrypted to their recipients. They print as an address.
type Identities struct{ all *[]age.Identity }

// IsZero reports whether there are none.
func (i Identities) IsZero() bool { return i.all == nil }

// LoadIdentities reads the identities of a file, as age-keygen writes it. The error
// holds nothing of what is in it.
func LoadIdentities(name string) (Identities, error) {
	f, err := os.Open(name)
	if err != nil {
		return Identities{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	all, err := age.ParseIdentities(f)
	if err != nil {
		return Identities{}, fmt.Errorf("%s: it holds something else than age identities, or none", name) // err may quote it
	}
	return Identities{&all}, nil
}

const (
	ageHead  = "age-encryption.org/"
	peekable = 64 << 10 // bytes
)

// Decrypt returns what a backup holds, decrypted where it is encrypted, and tells
// whether it was. ErrEncrypted and ErrIdentity come at once; what was changed or cut
// is an error of reading, before the end of it is read.
func Decrypt(r io.Reader, with Identities) (content io.Reader, encrypted bool, err error) {
	b := bufio.NewReaderSize(r, peekable)
	head, err := b.Peek(len(armor.Header))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	var sealed io.Reader = b
	switch {
	case strings.HasPrefix(string(head), armor.Header):
		sealed = armor.NewReader(b)
	case !strings.HasPrefix(string(head), ageHead):
		return b, false, nil
	}
	if with.IsZero() {
		return nil, true, ErrEncrypted
	}
	content, err = age.Decrypt(sealed, *with.all...)
	if none := (*age.NoIdentityMatchError)(nil); errors.As(err, &none) {
		return nil, true, ErrIdentity
	}
	return content, true, err
}
