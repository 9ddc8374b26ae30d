package store

import (
	"context"
	"fmt"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// find returns the record of a push.
func (s *Store) find(ctx context.Context, t Token) (Push, error) {
	if t.IsZero() {
		return Push{}, ErrNotFound
	}
	return s.engine.Push(ctx, s.id(t))
}

func (s *Store) id(t Token) ID { return newID(t, s.ring.Load().MAC(t.Reveal())) }

// damaged is the error of a sealed part that does not open although it should.
func damaged(id ID, part string) error {
	return fmt.Errorf("%w: the %s of push %s does not open", ErrCorrupt, part, id)
}

// sealPush fills in the sealed parts of a push and returns its sealed payload.
func (s *Store) sealPush(ctx context.Context, p *Push, t Token, dek seal.DEK, in NewPush) (payload []byte, err error) {
	ring := s.ring.Load()
	wrap := func() error {
		p.Wrap = ring.Wrap(p.CreatedAt, p.ID[:], t.Text, in.Passphrase, dek)
		return nil
	}
	if p.Protected {
		err = s.guess.hash(ctx, wrap)
	} else {
		err = wrap()
	}
	if p.Kind == File {
		p.Files = in.Files.key.SealList(p.ID[:], encodeFiles(in.Files.files))
		p.Stored = in.Files.stored
	}
	d := details{name: in.Name, note: in.Note}
	if p.Owner != 0 {
		d.token = t.Text
	}
	if !d.token.IsZero() || !d.name.IsZero() || !d.note.IsZero() {
		p.Details = ring.SealDetails(p.CreatedAt, p.ID[:], d.encode())
	}
	return dek.SealPayload(p.ID[:], byte(p.Kind), in.Payload), err
}

// details are what only a push's sender can read again: the url_token of an
// owned push, its name and its note.
type details struct{ token, name, note secret.Text }

func (d details) encode() []byte {
	var b []byte
	for _, t := range [...]secret.Text{d.token, d.name, d.note} {
		b = appendBytes(b, t.Reveal())
	}
	return b
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
	for _, t := range [...]*secret.Text{&d.token, &d.name, &d.note} {
		*t = secret.New(string(r.bytes()))
	}
	if r.end() != nil {
		return d, damaged(p.ID, "details")
	}
	return d, nil
}

// maxAgent is how many characters of a user agent or referrer are kept.
const maxAgent = 255

// sealActor seals who did something, for the audit log of that push.
func (s *Store) sealActor(id ID, by Actor) []byte {
	b := make([]byte, 0, 256)
	for _, text := range [...]string{by.IP, cut(by.UserAgent), cut(by.Referrer)} {
		b = appendBytes(b, text)
	}
	return s.ring.Load().SealEntry(id[:], b)
}

// sealMailing seals who had the link sent by mail, and to whom.
func (s *Store) sealMailing(id ID, by Actor, recipients string) []byte {
	b := make([]byte, 0, 256+len(recipients))
	for _, text := range [...]string{by.IP, cut(by.UserAgent), cut(by.Referrer), recipients} {
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
	l := LogEntry{Kind: e.Kind, At: e.At, IP: string(r.bytes()), UserAgent: string(r.bytes()), Referrer: string(r.bytes())}
	if e.Kind == EntryMail {
		l.Recipients = secret.New(string(r.bytes()))
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
