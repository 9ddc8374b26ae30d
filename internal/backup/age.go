package backup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"pushbox/internal/durable"
	"pushbox/internal/rights"
)

// Errors of encrypted backups.
var (
	// ErrEncrypted says that a backup is encrypted and no identity was given.
	ErrEncrypted = errors.New("the backup is encrypted to age recipients")
	// ErrIdentity says that none of the identities opens a backup.
	ErrIdentity = errors.New("the backup is encrypted to other recipients")
	// ErrSecret says that an identity, which is secret, was given as a recipient.
	ErrSecret = errors.New("that is an identity, which is secret, not a recipient, which begins with age1")
)

// Recipients are the age recipients that a backup is encrypted to. None: it is not
// encrypted.
type Recipients []age.Recipient

const maxRecipients = 1 << 20

// ParseRecipients reads recipients (age1…), and files of recipients, one a line. The error
// never quotes an identity that was given by mistake.
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
		content, err := rights.Read(name, func() ([]byte, error) { return durable.ReadBounded(name, maxRecipients) })
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
	if _, err := age.Encrypt(io.Discard, all...); err != nil { // some kinds of recipients cannot be combined
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

// Identities decrypt backups. They print as a pointer, so that none reaches a log.
type Identities struct{ all *[]age.Identity }

// IsZero reports whether there are none.
func (i Identities) IsZero() bool { return i.all == nil }

// LoadIdentities reads a file of identities, as age-keygen writes it. The error contains
// nothing of the file.
func LoadIdentities(name string) (Identities, error) {
	f, err := os.Open(name)
	if err != nil {
		return Identities{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	all, err := age.ParseIdentities(f)
	if err != nil {
		return Identities{}, fmt.Errorf("%s: it must hold age identities, and nothing else", name) // err may quote it
	}
	return Identities{&all}, nil
}

const (
	ageHead  = "age-encryption.org/"
	peekable = 64 << 10 // bytes
)

// Decrypt returns the content of a backup, and whether it was encrypted. ErrEncrypted and
// ErrIdentity come from Decrypt itself. If the backup was changed or truncated, reading the
// content fails before its end.
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
	return opened{content}, true, err
}

// ErrDamaged says that an encrypted backup was changed or truncated.
var ErrDamaged = errors.New("the encrypted backup is damaged or cut short")

type opened struct{ io.Reader }

// Read reads the content. The reader of age fails only where what it decrypts is wrong, or
// where the reader below fails with an error of the system.
func (o opened) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if path := (*fs.PathError)(nil); err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &path) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return n, err
}
