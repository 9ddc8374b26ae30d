package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pushbox/internal/clientip"
	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// push returns the record of a push, or ErrNotFound.
func (s *Store) push(ctx context.Context, id record.ID) (record.Push, error) {
	p, _, err := s.engine.Push(ctx, id)
	return p, err
}

// find returns the record of the push with that link, or ErrNotFound.
func (s *Store) find(ctx context.Context, t Token) (record.Push, error) {
	if t.IsZero() {
		return record.Push{}, record.ErrNotFound
	}
	return s.push(ctx, s.id(t))
}

// findFor returns the record of a push by a name that a caller gave, or ErrNotFound. Only the owner
// can use a handle, which names a push that has ended: other callers get ErrNotFound, as for any
// other text.
func (s *Store) findFor(ctx context.Context, by Actor, n Name) (record.Push, error) {
	switch n := n.(type) {
	case Token:
		return s.find(ctx, n)
	case Handle:
		p, err := s.push(ctx, record.ID(n))
		if err == nil && (p.Live() || !ownedBy(p, by)) {
			err = record.ErrNotFound
		}
		return p, err
	default:
		return record.Push{}, record.ErrNotFound
	}
}

// idFor is findFor for a caller that needs no record: it reads one only for a handle.
func (s *Store) idFor(ctx context.Context, by Actor, n Name) (record.ID, error) {
	if t, ok := n.(Token); ok && !t.IsZero() {
		return s.id(t), nil
	}
	p, err := s.findFor(ctx, by, n)
	return p.ID, err
}

func (s *Store) id(t Token) record.ID { return newID(t, s.ring.Load().MAC(t.Reveal())) }

// damaged returns the error for a sealed part that cannot be decrypted.
func damaged(id record.ID, part string) error {
	return fmt.Errorf("%w: the %s of push %s cannot be decrypted", record.ErrCorrupt, part, id)
}

// sealPush fills in the sealed parts of a push, under the keys of that moment, and
// returns its sealed payload.
func (s *Store) sealPush(ctx context.Context, by Actor, p *record.Push, t Token, dek seal.DEK, in NewPush, now time.Time) (payload []byte, err error) {
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
	d := details{access: access{recipient: in.Recipient, networks: in.Networks}}
	if p.Owner != 0 { // only an owner can read them again
		p.Link = ring.SealLink(now, p.ID[:], t.Text)
		d.name, d.note = in.Name, in.Note
	}
	p.Details = d.seal(ring, p.ID)
	return dek.SealPayload(p.ID[:], byte(p.Kind), in.Payload), err
}

// openLink opens the url_token of a live push for its owner.
func (s *Store) openLink(p record.Push) (Token, error) {
	text, err := s.ring.Load().OpenLink(p.ID[:], p.Link)
	if err != nil {
		return Token{}, damaged(p.ID, "link")
	}
	return Token{text}, nil
}

// details are the words of a push, which its owner can read even after it has ended, and who may open it.
type details struct {
	name, note secret.Text
	access     access
}

// access says who may open a push beside its owner; zero: anyone with its link.
type access struct {
	recipient secret.Text // an e-mail address, or @ and a domain
	networks  string      // prefixes, with spaces between them
}

// seal returns nil if there are none.
func (d details) seal(ring *seal.Ring, id record.ID) []byte {
	if d == (details{}) {
		return nil
	}
	b := record.AppendBytes(record.AppendBytes(nil, d.name.Reveal()), d.note.Reveal())
	if d.access != (access{}) {
		b = record.AppendBytes(record.AppendBytes(b, d.access.recipient.Reveal()), d.access.networks)
	}
	return ring.SealDetails(id[:], b)
}

func (s *Store) openDetails(p record.Push) (d details, err error) {
	if p.Details == nil {
		return d, nil
	}
	plain, err := s.ring.Load().OpenDetails(p.ID[:], p.Details)
	if err != nil {
		return d, damaged(p.ID, "details")
	}
	r := record.Reader{Rest: plain}
	d.name, d.note = r.Text(), r.Text()
	if p.Restricted {
		d.access.recipient, d.access.networks = r.Text(), string(r.Bytes())
	}
	if r.End() != nil {
		return d, damaged(p.ID, "details")
	}
	return d, nil
}

// openAccess returns who may open a live push. ErrCorrupt if its details do not say that of a
// restricted one.
func (s *Store) openAccess(p record.Push) (access, error) {
	if !p.Restricted || !p.Live() {
		return access{}, nil
	}
	d, err := s.openDetails(p)
	if err == nil && d.access == (access{}) {
		err = damaged(p.ID, "details")
	}
	return d.access, err
}

// joinNetworks returns the networks from which a push opens as its details have them.
func joinNetworks(text string, bad *record.InvalidError) string {
	all, err := clientip.ParseNetworks(text)
	checkLength(FieldNetworks, len(text), MaxNetworks, bad)
	if err != nil {
		bad.Add(FieldNetworks, err.Error())
	}
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.String()
	}
	return strings.Join(texts, " ")
}

// Admits returns ErrNetwork if the push is live and opens only from networks that the actor is not
// in. Its owner may open it from anywhere. An actor whose address is not known is in no network.
func (s *Store) Admits(by Actor, p record.Push) error {
	if ownedBy(p, by) {
		return nil
	}
	a, err := s.openAccess(p)
	if err != nil || a.networks == "" {
		return err
	}
	all, _ := clientip.ParseNetworks(a.networks) // it was joined from valid ones
	if !slices.ContainsFunc(all, func(n netip.Prefix) bool { return n.Contains(by.Addr.Unmap()) }) {
		return record.ErrNetwork
	}
	return nil
}

// maxAgent is how many bytes of a user agent or referrer are kept.
const maxAgent = 255

// sealActor seals the client and the further details of an entry for the audit log of a push.
func (s *Store) sealActor(id record.ID, by Actor, more ...string) []byte {
	b := make([]byte, 0, 256)
	for _, text := range [...]string{by.IP, cut(by.UserAgent), cut(by.Referrer.Reveal())} {
		b = record.AppendBytes(b, text)
	}
	for _, text := range more {
		b = record.AppendBytes(b, text)
	}
	return s.ring.Load().SealEntry(id[:], b)
}

func (s *Store) openEntry(id record.ID, e record.Entry) (LogEntry, error) {
	if len(e.Sealed) == 0 { // of a sweep, or written while space was scarce
		return LogEntry{Kind: e.Kind, At: e.At}, nil
	}
	plain, err := s.ring.Load().OpenEntry(id[:], e.Sealed)
	if err != nil {
		return LogEntry{}, damaged(id, "audit log")
	}
	r := record.Reader{Rest: plain}
	l := LogEntry{Kind: e.Kind, At: e.At, IP: string(r.Bytes()), UserAgent: string(r.Bytes()), Referrer: r.Text()}
	if e.Kind == record.EntryMail || len(r.Rest) > 0 {
		l.Recipients = r.Text()
	}
	if r.End() != nil {
		return LogEntry{}, damaged(id, "audit log")
	}
	return l, nil
}

// cut shortens a text to at most maxAgent bytes, at the end of a character.
func cut(text string) string {
	if len(text) <= maxAgent {
		return text
	}
	end := maxAgent
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// hookPlace returns what a webhook's target is sealed for.
func hookPlace(h record.Hook) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(h.Owner))
	return binary.BigEndian.AppendUint64(b, uint64(h.CreatedAt.UnixMilli()))
}

func (t HookTarget) encode() []byte {
	b := record.AppendBytes(record.AppendBytes(nil, t.URL.Reveal()), t.Secret.Reveal())
	if t.Form != record.FormStandard { // the form of those that are older than this field
		b = append(b, byte(t.Form))
	}
	return b
}

func (s *Store) sealHook(h *record.Hook, t HookTarget) {
	h.Sealed = s.ring.Load().SealHook(hookPlace(*h), t.encode())
}

func (s *Store) openHook(h record.Hook) (HookInfo, error) {
	plain, err := s.ring.Load().OpenHook(hookPlace(h), h.Sealed)
	r := record.Reader{Rest: plain}
	t := HookTarget{URL: secret.New(string(r.Bytes())), Secret: secret.New(string(r.Bytes()))}
	if !r.Bad && len(r.Rest) > 0 {
		t.Form = record.HookForm(r.Byte())
	}
	if err != nil || r.End() != nil || !t.Form.Valid() {
		return HookInfo{}, fmt.Errorf("%w: webhook %d cannot be decrypted", record.ErrCorrupt, h.ID)
	}
	return HookInfo{Hook: h, HookTarget: t}, nil
}

// maxStale is how often an operation begins again because another server has replaced the keys. A
// rotation replaces them twice.
const maxStale = 4

// sealing runs op, which seals something and passes it to the engine. Keys that op may use are not
// dropped before it ends. If another server has replaced them, the engine stored nothing, and op
// runs again: it must read and seal from the start. Calls may be nested: then the outermost op runs
// again.
func sealing[T any](ctx context.Context, s *Store, op func(ctx context.Context) (T, error)) (v T, err error) {
	defer s.epochs.leave(s.epochs.enter())
	if _, nested := record.SealedUnder(ctx); nested {
		return op(ctx)
	}
	for range maxStale {
		v, err = op(record.SealUnder(ctx, s.ring.Load().RowVersion()))
		if !errors.Is(err, record.ErrStaleKeys) {
			return v, err
		}
	}
	return v, err
}

// keeping is sealing for an operation without a result.
func (s *Store) keeping(ctx context.Context, op func(ctx context.Context) error) error {
	_, err := sealing(ctx, s, func(ctx context.Context) (struct{}, error) { return struct{}{}, op(ctx) })
	return err
}

// instead returns other if err is is, else err.
func instead(err, is, other error) error {
	if errors.Is(err, is) {
		return other
	}
	return err
}

func invalidField(field, message string) error {
	return &record.InvalidError{Fields: map[string][]string{field: {message}}}
}
