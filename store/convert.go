package store

import (
	"fmt"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// A converter gives records of schema 5 their present form. Schema 5 had the link of a
// push together with its name and note, also when the push had ended, and links in
// messages. It sealed all of them, and webhooks, under KEKs.
type converter struct{ ring *seal.Ring }

// ConvertPush reads the record of a push. One that has ended loses its link. Who made one
// without an owner is not known any more.
func (c converter) ConvertPush(id ID, record []byte, size int64) (Push, error) {
	p := Push{ID: id}
	if err := p.unmarshal(record, firstPushVersion); err != nil {
		return Push{}, fmt.Errorf("%w: the record of push %s is malformed", ErrCorrupt, id)
	}
	link, d, err := openFirstDetails(c.ring, p)
	if err != nil {
		return Push{}, err
	}
	p.Details, p.Size = d.seal(c.ring, id), size
	if p.Live() && !link.IsZero() {
		p.Link = c.ring.SealLink(p.CreatedAt, id[:], link)
	}
	return p, nil
}

// openFirstDetails opens the details of a push of schema 5.
func openFirstDetails(ring *seal.Ring, p Push) (link secret.Text, d details, err error) {
	if p.Details == nil {
		return link, d, nil
	}
	plain, err := ring.OpenDetails(p.ID[:], p.Details)
	r := reader{b: plain}
	link, d.name, d.note = r.text(), r.text(), r.text()
	if err != nil || r.end() != nil {
		return link, d, damaged(p.ID, "details")
	}
	return link, d, nil
}

// ConvertToken reads the record of an API token, which allows everything.
func (converter) ConvertToken(record []byte) (t APIToken, err error) {
	r := reader{b: record}
	r.version()
	if err := t.read(r, AllScopes); err != nil {
		return t, fmt.Errorf("%w: the record of an API token is malformed", ErrCorrupt)
	}
	return t, nil
}

// ConvertHook seals a webhook under a detail key.
func (c converter) ConvertHook(h Hook) (Hook, error) {
	target, err := c.ring.OpenHook(h.place(), h.Sealed)
	if err != nil {
		return Hook{}, fmt.Errorf("%w: webhook %d does not open", ErrCorrupt, h.ID)
	}
	h.Sealed = c.ring.SealHook(h.place(), target)
	return h, nil
}

// ConvertMessage seals a message under a detail key, without its link.
func (c converter) ConvertMessage(m Message) (Message, error) {
	plain, err := c.ring.OpenMessage(m.place(), m.Sealed)
	if err == nil {
		plain, err = convertContent(m.Route, plain)
	}
	if err != nil {
		return Message{}, fmt.Errorf("%w: message %d does not open", ErrCorrupt, m.Number)
	}
	m.Sealed = c.ring.SealMessage(m.place(), plain)
	return m, nil
}

// convertContent converts what a message of schema 5 says.
func convertContent(by Route, plain []byte) ([]byte, error) {
	r := reader{b: plain}
	r.version()
	if by == ByWebhook {
		n := r.notice()
		_, n.Name = r.text(), r.text()
		return n.encode(), r.end()
	}
	push := ID(r.take(len(ID{})))
	m := Mail{About: MailLink, ID: string(r.bytes()), To: r.text()}
	link := string(r.bytes())
	end := strings.LastIndex(link, "/p/") // a url_token and perhaps /r follow; a base_path before may have /p/, too
	if end < 0 {
		return nil, errRecord
	}
	m.Base, m.Language = link[:end], string(r.bytes())
	return m.encode(push), r.end()
}
