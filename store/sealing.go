package store

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// find returns the record of the push with that link, or ErrNotFound.
func (s *Store) find(ctx context.Context, t Token) (Push, error) {
	if t.IsZero() {
		return Push{}, ErrNotFound
	}
	return s.engine.Push(ctx, s.id(t))
}

// findFor returns the record of a push by a name that a caller gave, or ErrNotFound. A
// handle is the name of a push that has ended, and for its owner alone: for all others
// it is as unknown as any other text.
func (s *Store) findFor(ctx context.Context, by Actor, n Name) (Push, error) {
	switch n := n.(type) {
	case Token:
		return s.find(ctx, n)
	case Handle:
		p, err := s.engine.Push(ctx, ID(n))
		if err == nil && (p.Live() || !p.ownedBy(by)) {
			err = ErrNotFound
		}
		return p, err
	default:
		return Push{}, ErrNotFound
	}
}

// idFor is findFor for a caller that needs no record: it reads one only for a handle.
func (s *Store) idFor(ctx context.Context, by Actor, n Name) (ID, error) {
	if t, ok := n.(Token); ok && !t.IsZero() {
		return s.id(t), nil
	}
	p, err := s.findFor(ctx, by, n)
	return p.ID, err
}

func (s *Store) id(t Token) ID { return newID(t, s.ring.Load().MAC(t.Reveal())) }

// damaged returns the error for a sealed part that does not open.
func damaged(id ID, part string) error {
	return fmt.Errorf("%w: the %s of push %s does not open", ErrCorrupt, part, id)
}

// sealPush fills in the sealed parts of a push, under the keys of that moment, and
// returns its sealed payload.
func (s *Store) sealPush(ctx context.Context, by Actor, p *Push, t Token, dek seal.DEK, in NewPush, now time.Time) (payload []byte, err error) {
	ring := s.ring.Load()
	wrap := func() error {
		p.Wrap = ring.Wrap(now, p.ID[:], t.Text, in.Passphrase, dek, s.options().Argon2)
		return nil
	}
	if p.Protected {
		err = doQueued(ctx, s.guess.passphrases, by.Client, wrap)
	} else {
		err = wrap()
	}
	if in.hasFiles() {
		p.Files = in.Files.key.SealList(p.ID[:], encodeFiles(in.Files.files))
		p.Stored = in.Files.stored
	}
	if p.Owner != 0 { // no other person can read them again
		p.Link = ring.SealLink(now, p.ID[:], t.Text)
		p.Details = details{in.Name, in.Note}.seal(ring, p.ID)
	}
	return dek.SealPayload(p.ID[:], byte(p.Kind), in.Payload), err
}

// openLink opens the url_token of a live push for its owner.
func (s *Store) openLink(p Push) (Token, error) {
	text, err := s.ring.Load().OpenLink(p.ID[:], p.Link)
	if err != nil {
		return Token{}, damaged(p.ID, "link")
	}
	return Token{text}, nil
}

// details are what the owner of a push can read again, also when it has ended.
type details struct{ name, note secret.Text }

// seal returns nil if there are none.
func (d details) seal(ring *seal.Ring, id ID) []byte {
	if d.name.IsZero() && d.note.IsZero() {
		return nil
	}
	return ring.SealDetails(id[:], appendBytes(appendBytes(nil, d.name.Reveal()), d.note.Reveal()))
}

func (s *Store) openDetails(p Push) (d details, err error) {
	if p.Details == nil {
		return d, nil
	}
	plain, err := s.ring.Load().OpenDetails(p.ID[:], p.Details)
	if err != nil {
		return d, damaged(p.ID, "details")
	}
	r := reader{b: plain}
	d.name, d.note = r.text(), r.text()
	if r.end() != nil {
		return d, damaged(p.ID, "details")
	}
	return d, nil
}

// maxAgent is how many characters of a user agent or referrer are kept.
const maxAgent = 255

// sealActor seals who does something, and what else the entry says, for the audit log
// of a push.
func (s *Store) sealActor(id ID, by Actor, more ...string) []byte {
	b := make([]byte, 0, 256)
	for _, text := range [...]string{by.IP, cut(by.UserAgent), cut(by.Referrer.Reveal())} {
		b = appendBytes(b, text)
	}
	for _, text := range more {
		b = appendBytes(b, text)
	}
	return s.ring.Load().SealEntry(id[:], b)
}

func (s *Store) openEntry(id ID, e Entry) (LogEntry, error) {
	plain, err := s.ring.Load().OpenEntry(id[:], e.Sealed)
	if err != nil {
		return LogEntry{}, damaged(id, "audit log")
	}
	r := reader{b: plain}
	l := LogEntry{Kind: e.Kind, At: e.At, IP: string(r.bytes()), UserAgent: string(r.bytes()), Referrer: r.text()}
	if e.Kind == EntryMail {
		l.Recipients = r.text()
	}
	if r.end() != nil {
		return LogEntry{}, damaged(id, "audit log")
	}
	return l, nil
}

// cut shortens a text to maxAgent characters.
func cut(text string) string {
	if len(text) <= maxAgent {
		return text
	}
	end := 0
	for range maxAgent {
		_, n := utf8.DecodeRuneInString(text[end:])
		if end += n; end == len(text) {
			break
		}
	}
	return text[:end]
}
