package store

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// testdata/schema5.json holds rows that pushbox 3.0.0 wrote, with its key and its ring.
//
//go:embed testdata/schema5.json
var schema5JSON []byte

type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.AppendDecode(nil, text)
	return err
}

type schema5 struct {
	KeyText    string                `json:"key_text"`
	SealedRing hexBytes              `json:"sealed_ring"`
	Pushes     map[string]schema5Row `json:"pushes"`
	Hook       schema5Row            `json:"hook"`
	Messages   map[string]schema5Row `json:"messages"`
}

type schema5Row struct {
	ID                      hexBytes `json:"id"`
	Number                  uint64   `json:"number"`
	Owner                   uint64   `json:"owner"`
	Token, Name, Note, Says string
	Record                  hexBytes `json:"record"`
}

// loadSchema5 returns the rows, and a store with nothing but their key ring.
func loadSchema5(t *testing.T) (rows schema5, s *Store) {
	t.Helper()
	env.OK(t, json.Unmarshal(schema5JSON, &rows))
	root, err := seal.ParseRootKey([]byte(rows.KeyText))
	env.OK(t, err)
	ring, err := seal.OpenRing(root, rows.SealedRing)
	env.OK(t, err)
	s = &Store{shared: &shared{}}
	s.ring.Store(ring)
	return rows, s
}

// hook returns the webhook.
func (rows schema5) hook(t *testing.T) record.Hook {
	t.Helper()
	h := record.Hook{ID: record.HookID(rows.Hook.Number), Owner: record.AccountID(rows.Hook.Owner)}
	env.OK(t, h.UnmarshalBinary(rows.Hook.Record))
	return h
}

// message returns the message of that name.
func (rows schema5) message(t *testing.T, name string) record.Message {
	t.Helper()
	m := record.Message{Number: rows.Messages[name].Number}
	env.OK(t, m.UnmarshalBinary(rows.Messages[name].Record))
	return m
}

// withoutOldKEKs returns the store with a ring that opens only what is sealed under the
// newest KEK and under the other families.
func withoutOldKEKs(s *Store) *Store {
	ring, ok := s.ring.Load().Renew(time.Now())
	if !ok {
		panic("the ring was not renewed")
	}
	for _, p := range ring.Versions(seal.KEKs) {
		ring = ring.Drop(seal.KEKs, p.Version)
	}
	later := &Store{shared: &shared{}}
	later.ring.Store(ring)
	return later
}

func TestPushesOfSchema5KeepAllButTheLinksOfEndedOnes(t *testing.T) {
	t.Parallel()
	rows, s := loadSchema5(t)
	c := converter{s.ring.Load()}
	for name, row := range rows.Pushes {
		id := record.ID(row.ID)
		var before record.Push
		env.OK(t, before.UnmarshalVersion(row.Record, record.FirstPushVersion))
		after, err := c.ConvertPush(id, row.Record, 77)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d, err := withoutOldKEKs(s).openDetails(after)
		if err != nil || d.name.Reveal() != row.Name || d.note.Reveal() != row.Note {
			t.Errorf("%s: its details open as %q, %q, %v", name, d.name.Reveal(), d.note.Reveal(), err)
		}
		if (after.Details == nil) != (row.Name+row.Note == "") || bytes.Equal(after.Details, before.Details) && before.Details != nil {
			t.Errorf("%s: its details are %x", name, after.Details)
		}
		if linked := after.Live() && after.Owner != 0; linked != (after.Link != nil) {
			t.Errorf("%s: its link is %x", name, after.Link)
		} else if linked {
			if link, err := s.openLink(after); err != nil || link.Reveal() != row.Token {
				t.Errorf("%s: its link opens as %q, %v", name, link.Reveal(), err)
			}
		}
		if after.Size != 77 || after.Holder != (record.Holder{}) {
			t.Errorf("%s: %d bytes of %x", name, after.Size, after.Holder)
		}
		after.ID, after.Size, after.Link, after.Details, before.Details = before.ID, 0, nil, nil, nil
		was, _ := before.AppendBinary(nil)
		is, _ := after.AppendBinary(nil)
		if !bytes.Equal(was, is) {
			t.Errorf("%s: %+v became %+v", name, before, after)
		}
	}
}

func TestWebhooksAndMessagesOfSchema5OpenUnderNoKEK(t *testing.T) {
	t.Parallel()
	rows, s := loadSchema5(t)
	c := converter{s.ring.Load()}
	s = withoutOldKEKs(s)
	push := rows.Pushes["live, owned"]

	h, err := c.ConvertHook(rows.hook(t))
	if err != nil || !h.Disabled || h.Events != record.NewEventSet(record.EventView, record.EventLastView, record.EventExpire, record.EventFailedPassphrase) {
		t.Errorf("the webhook is %+v, %v", h, err)
	}
	if info, err := s.openHook(h); err != nil || info.URL.Reveal() != "https://hooks.example.com/" || info.Secret.Reveal() != "whsec_abc" {
		t.Errorf("the webhook opens as %q, %v", info.URL.Reveal(), err)
	}

	open := func(name string) (record.Message, []byte) {
		t.Helper()
		m, err := c.ConvertMessage(rows.message(t, name))
		if err != nil {
			t.Fatal(name, err)
		}
		plain, err := s.ring.Load().OpenMessage(messagePlace(m), m.Sealed)
		if err != nil || bytes.Contains(plain, []byte(push.Token)) {
			t.Errorf("%s opens as %q, %v", name, plain, err)
		}
		return m, plain
	}
	for name, own := range map[string]string{"webhook": "a name", "webhook of the instance": ""} {
		m, plain := open(name)
		n, err := decodeNotice(plain)
		if err != nil || n.ID != "msg_1" || n.Event != record.EventExpire || n.Cause != CauseHand || n.Push != record.ID(push.ID) || n.IP != "192.0.2.1" || n.Name.Reveal() != own {
			t.Errorf("%s says %+v, %v", name, n, err)
		}
		if own != "" && m.Attempts != 2 {
			t.Errorf("%s is %+v", name, m)
		}
	}
	for name, base := range map[string]string{"mail": "https://push.example.com", "mail, with a step": "https://push.example.com/base"} {
		_, plain := open(name)
		id, l, err := decodeMail(plain)
		if err != nil || id != record.ID(push.ID) || l.Base != base || l.To.Reveal() != "bob@example.net" || l.Language != "de" || l.ID == "" {
			t.Errorf("%s says %+v, %v", name, l, err)
		}
	}
}

// The path below which a server answers may itself have the part that begins a link.
func TestAMailOfSchema5KeepsABasePathThatLooksLikeALink(t *testing.T) {
	t.Parallel()
	rows, s := loadSchema5(t)
	m, c := rows.message(t, "mail"), converter{s.ring.Load()}
	plain, err := c.ring.OpenMessage(messagePlace(m), m.Sealed)
	env.OK(t, err)
	const base = "https://push.example.com"
	old := base + "/p/" + rows.Pushes["live, owned"].Token
	for _, path := range []string{"/p", "/p/p", "/a/p/b"} {
		longer := base + path + strings.TrimPrefix(old, base)
		was, is := record.AppendBytes(nil, old), record.AppendBytes(nil, longer)
		if bytes.Count(plain, was) != 1 {
			t.Fatalf("the mail says %q", plain)
		}
		m.Sealed = c.ring.SealMessage(messagePlace(m), bytes.Replace(plain, was, is, 1))
		converted, err := c.ConvertMessage(m)
		env.OK(t, err)
		after, err := c.ring.OpenMessage(messagePlace(m), converted.Sealed)
		env.OK(t, err)
		if _, mail, err := decodeMail(after); err != nil || mail.Base != base+path || mail.Language != "de" {
			t.Errorf("%s: it says %+v, %v", path, mail, err)
		}
	}
}

func TestRowsOfSchema5ThatDoNotOpenAreRefused(t *testing.T) {
	t.Parallel()
	rows, s := loadSchema5(t)
	c, other := converter{s.ring.Load()}, converter{seal.NewRing(newYear)}
	push, hook, message := rows.Pushes["expired, owned"], rows.hook(t), rows.message(t, "mail")
	wantRefused := func(how string, err error) {
		t.Helper()
		if !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: %v", how, err)
		}
	}
	for name, c := range map[string]converter{"under another ring": other, "changed": c} {
		p, h, m := record.ID(push.ID), hook, message
		if name == "changed" {
			p[0]++
			h.Owner++
			m.To++
		}
		_, err := c.ConvertPush(p, push.Record, 0)
		wantRefused("a push "+name, err)
		_, err = c.ConvertHook(h)
		wantRefused("a webhook "+name, err)
		_, err = c.ConvertMessage(m)
		wantRefused("a message "+name, err)
	}
	for n := range push.Record {
		_, err := c.ConvertPush(record.ID(push.ID), push.Record[:n], 0)
		wantRefused("a push that was cut short", err)
	}
	converted, err := c.ConvertPush(record.ID(push.ID), push.Record, 0)
	env.OK(t, err)
	again, _ := converted.AppendBinary(nil)
	_, err = c.ConvertPush(record.ID(push.ID), again, 0)
	wantRefused("a push that was converted", err)
	message.Sealed = s.ring.Load().SealMessage(messagePlace(message), []byte{1})
	_, err = c.ConvertMessage(message)
	wantRefused("a message that says nothing", err)
}
