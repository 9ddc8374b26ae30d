package intake

import (
	"crypto/sha256"
	"io"
	"maps"
	"slices"
	"strings"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// HeaderKey is the header with the key of a create: requests with the same key are one, sent again.
// It is that of draft-ietf-httpapi-idempotency-key-header-07, which expired without an RFC.
const HeaderKey = store.FieldRepeat

// HeaderRepeated is the header of an answer to such a request if an earlier one made the push.
const HeaderRepeated = "Idempotency-Replayed"

// The least and the greatest length of a key, in characters.
const (
	MinKey = 16
	MaxKey = 255
)

// ErrKey refuses a key.
const ErrKey = action.BadRequest("The header Idempotency-Key must come once, with 16 to 255 printable ASCII characters. Send a new random key for each push, such as a UUID, or leave the header out.")

// readKey reads the key of a create, which may be in quotation marks; empty if there is none.
func readKey(r *action.Request) (key secret.Text, err error) {
	all := r.Header.Values(HeaderKey)
	if len(all) == 0 {
		return key, nil
	}
	text := all[0]
	if in, ok := strings.CutPrefix(text, `"`); ok && strings.HasSuffix(in, `"`) {
		text = strings.TrimSuffix(in, `"`)
	}
	unprintable := func(c rune) bool { return c < ' ' || c > '~' }
	if len(all) > 1 || len(text) < MinKey || len(text) > MaxKey || strings.ContainsFunc(text, unprintable) {
		return key, ErrKey
	}
	return secret.New(text), nil
}

// findKey reads the key of a create by a program, and whether the create is repeated.
func (c *Draft) findKey() (err error) {
	if c.Page || c.Answers() {
		return nil
	}
	if c.key, err = readKey(c.Request); err == nil {
		c.repeats, err = c.desk.Store.Repeats(c.Request.Context(), c.Request.Actor, c.key)
	}
	return err
}

// digested returns content, of which the digest becomes part of that of the create if it has a key.
func (c *Draft) digested(content io.Reader) io.Reader {
	if c.key.IsZero() {
		return content
	}
	c.sum = sha256.New()
	return io.TeeReader(content, c.sum)
}

// describeDigested notes the digest of the last file, with its name and media type as they were sent.
func (c *Draft) describeDigested(filename, mediaType string) {
	if c.sum != nil {
		c.sent = append(c.sent, string(c.sum.Sum(nil)), filename, mediaType)
	}
}

// repeatKey returns the key of the create with a digest of all that was sent, before it is converted.
func (c *Draft) repeatKey() (k store.RepeatKey) {
	if c.key.IsZero() {
		return k
	}
	all := sha256.New()
	add := func(texts ...string) {
		for _, text := range texts {
			_, _ = all.Write(record.AppendBytes(nil, text)) // never fails
		}
	}
	add(c.Wrapper)
	for _, name := range slices.Sorted(maps.Keys(c.Fields)) {
		add(name, string(rune(c.Fields[name].Shape)), c.Fields.Text(name), c.Fields[name].Items.Reveal())
	}
	add("") // no field has an empty name
	add(c.sent...)
	return store.RepeatKey{Key: c.key, Fields: [32]byte(all.Sum(nil))}
}
