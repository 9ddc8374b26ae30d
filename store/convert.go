package store

import (
	"fmt"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A converter gives records of schema 5 their present form. Schema 5 sealed the link of a push
// together with its name and note, and kept it after the push had ended; messages contained links.
// It sealed these, and webhooks, under KEKs.
type converter struct{ ring *seal.Ring }

// ConvertPush reads the record of a push. A push that has ended loses its link. The client that
// made a push without an owner is no longer known.
func (c converter) ConvertPush(id record.ID, raw []byte, size int64) (record.Push, error) {
	p := record.Push{ID: id}
	if err := p.UnmarshalVersion(raw, record.FirstPushVersion); err != nil {
		return record.Push{}, fmt.Errorf("%w: the record of push %s is malformed", record.ErrCorrupt, id)
	}
	link, d, err := openFirstDetails(c.ring, p)
	if err != nil {
		return record.Push{}, err
	}
	p.Details, p.Size = d.seal(c.ring, id), size
	if p.Live() && !link.IsZero() {
		p.Link = c.ring.SealLink(p.CreatedAt, id[:], link)
	}
	return p, nil
}

// openFirstDetails opens the details of a push of schema 5.
func openFirstDetails(ring *seal.Ring, p record.Push) (link secret.Text, d details, err error) {
	if p.Details == nil {
		return link, d, nil
	}
	plain, err := ring.OpenDetails(p.ID[:], p.Details)
	r := record.Reader{Rest: plain}
	link, d.name, d.note = r.Text(), r.Text(), r.Text()
	if err != nil || r.End() != nil {
		return link, d, damaged(p.ID, "details")
	}
	return link, d, nil
}

// ConvertToken reads the record of an API token, which allows everything.
func (converter) ConvertToken(raw []byte) (t record.APIToken, err error) {
	r := record.Reader{Rest: raw}
	r.Version()
	if err := t.ReadVersion(r, record.AllScopes); err != nil {
		return t, fmt.Errorf("%w: the record of an API token is malformed", record.ErrCorrupt)
	}
	return t, nil
}

// ConvertHook seals a webhook under a detail key.
func (c converter) ConvertHook(h record.Hook) (record.Hook, error) {
	target, err := c.ring.OpenHook(hookPlace(h), h.Sealed)
	if err != nil {
		return record.Hook{}, fmt.Errorf("%w: webhook %d cannot be decrypted", record.ErrCorrupt, h.ID)
	}
	h.Sealed = c.ring.SealHook(hookPlace(h), target)
	return h, nil
}

// ConvertMessage seals a message under a detail key, without its link.
func (c converter) ConvertMessage(m record.Message) (record.Message, error) {
	plain, err := c.ring.OpenMessage(messagePlace(m), m.Sealed)
	if err == nil {
		plain, err = convertContent(m.Route, plain)
	}
	if err != nil {
		return record.Message{}, fmt.Errorf("%w: message %d cannot be decrypted", record.ErrCorrupt, m.Number)
	}
	m.Sealed = c.ring.SealMessage(messagePlace(m), plain)
	return m, nil
}

// convertContent converts the content of a message of schema 5.
func convertContent(by record.Route, plain []byte) ([]byte, error) {
	r := record.Reader{Rest: plain}
	r.Version()
	if by == record.ByWebhook {
		n := readNotice(&r)
		_, n.Name = r.Text(), r.Text()
		return n.encode(), r.End()
	}
	push := record.ID(r.Take(len(record.ID{})))
	m := Mail{About: MailLink, ID: string(r.Bytes()), To: r.Text()}
	link := string(r.Bytes())
	end := strings.LastIndex(link, "/p/") // a url_token and perhaps /r follow; a base_path before may have /p/, too
	if end < 0 {
		return nil, record.ErrRecord
	}
	m.Base, m.Language = link[:end], string(r.Bytes())
	return m.encode(push), r.End()
}
