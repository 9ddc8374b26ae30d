package seal

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func TestAPayloadOpensOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	dek := NewDEK()
	sealed := dek.SealPayload(testID, 1, testWords)
	for _, c := range []struct {
		name string
		dek  DEK
		id   []byte
		kind byte
		want error
	}{
		{"in its place", dek, testID, 1, nil},
		{"under another id", dek, otherID, 1, ErrOpen},
		{"under a shorter id", dek, testID[:21], 1, ErrOpen},
		{"as another kind", dek, testID, 2, ErrOpen},
		{"with the kind in the id", dek, append(bytes.Clone(testID), 1), 1, ErrOpen},
		{"under another key", NewDEK(), testID, 1, ErrOpen},
	} {
		if text, err := c.dek.OpenPayload(c.id, c.kind, sealed); !errors.Is(err, c.want) || err != nil && !text.IsZero() {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
}

func TestAPayloadComesBackAsItWas(t *testing.T) {
	t.Parallel()
	dek := NewDEK()
	for _, text := range []string{"", "\x00", "größer ☃", "\xff\xfe", strings.Repeat("0123456789abcdef", 1<<16)} {
		sealed := dek.SealPayload(testID, 4, secret.New(text))
		if len(sealed) != plainHead+overhead+len(text) {
			t.Errorf("%d bytes are sealed in %d", len(text), len(sealed))
		}
		back, err := dek.OpenPayload(testID, 4, sealed)
		if err != nil || back.Reveal() != text {
			t.Errorf("%d bytes: they come back otherwise: %v", len(text), err)
		}
	}
}

func TestAListOfFilesOpensOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	files := NewDEK().FilesKey()
	sealed := files.SealList(testID, []byte("a list"))
	for _, c := range []struct {
		name  string
		files FilesKey
		id    []byte
		want  error
	}{
		{"in its place", files, testID, nil},
		{"of another push", files, otherID, ErrOpen},
		{"under another key", NewDEK().FilesKey(), testID, ErrOpen},
	} {
		if list, err := c.files.OpenList(c.id, sealed); !errors.Is(err, c.want) || (err == nil) != (string(list) == "a list") {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
}

func TestDetailsAndEntriesOpenOnlyWhereTheyBelong(t *testing.T) {
	t.Parallel()
	r, other := NewRing(birth), NewRing(birth)
	details, entry := r.SealDetails(testID, []byte("d")), r.SealEntry(testID, []byte("e"))
	for _, c := range []struct {
		name string
		ring *Ring
		id   []byte
		want error
	}{
		{"in their place", r, testID, nil},
		{"under another id", r, otherID, ErrOpen},
		{"under no id", r, nil, ErrOpen},
		{"under another ring", other, testID, ErrOpen},
	} {
		if plain, err := c.ring.OpenDetails(c.id, details); !errors.Is(err, c.want) || err != nil && plain != nil {
			t.Errorf("details %s: the error is %v", c.name, err)
		}
		if plain, err := c.ring.OpenEntry(c.id, entry); !errors.Is(err, c.want) || err != nil && plain != nil {
			t.Errorf("an entry %s: the error is %v", c.name, err)
		}
	}
}

func TestAnEventOpensOnlyWithItsDigest(t *testing.T) {
	t.Parallel()
	r, digest := NewRing(birth), [32]byte{1}
	sealed := r.SealEvent(digest, []byte("e"))
	if plain, err := r.OpenEvent(digest, sealed); err != nil || string(plain) != "e" {
		t.Errorf("it opens as %q: %v", plain, err)
	}
	_, err := r.OpenEvent([32]byte{2}, sealed)
	env.ErrorIs(t, "with another digest", err, ErrOpen)
	_, err = NewRing(birth).OpenEvent(digest, sealed)
	env.ErrorIs(t, "under another ring", err, ErrOpen)
	_, err = r.OpenEntry(digest[:], r.SealEntry(testID, []byte("e")))
	env.ErrorIs(t, "an entry of a push opens with the digest of an event", err, ErrOpen)
}

func TestNoErrorRevealsPlainText(t *testing.T) {
	t.Parallel()
	for _, e := range envelopes() {
		sealed := e.seal()
		sealed[len(sealed)-1] ^= 1
		_, err := e.open(sealed)
		for _, s := range []string{testWords.Reveal(), testToken.Reveal(), string(testID), "a payload", "a name", "an entry", "an address", "a file name"} {
			if err == nil || strings.Contains(err.Error(), s) {
				t.Errorf("%s: the error is %v", e.name, err)
			}
		}
	}
}

func TestSealingLeavesItsInputAlone(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	plain, id := []byte("some details"), bytes.Clone(testID)
	r.SealDetails(id, plain)
	r.SealEntry(id, plain)
	if string(plain) != "some details" || !bytes.Equal(id, testID) {
		t.Error("it was changed")
	}
}

func TestHooksAndMessagesOpenOnlyWhereTheyBelong(t *testing.T) {
	t.Parallel()
	r, other := NewRing(birth), NewRing(birth)
	place, elsewhere := []byte("0123456789abcdef"), []byte("0123456789abcdeg")
	hook, message := r.SealHook(place, []byte("h")), r.SealMessage(place, []byte("m"))
	for _, c := range []struct {
		name  string
		ring  *Ring
		place []byte
		want  error
	}{
		{"in their place", r, place, nil},
		{"in another place", r, elsewhere, ErrOpen},
		{"in a shorter place", r, place[:15], ErrOpen},
		{"under another ring", other, place, ErrOpen},
	} {
		if plain, err := c.ring.OpenHook(c.place, hook); !errors.Is(err, c.want) || (err == nil) != (string(plain) == "h") {
			t.Errorf("hook %s: %v", c.name, err)
		}
		if plain, err := c.ring.OpenMessage(c.place, message); !errors.Is(err, c.want) || (err == nil) != (string(plain) == "m") {
			t.Errorf("message %s: %v", c.name, err)
		}
	}
	_, err := r.OpenHook(place, message)
	env.ErrorIs(t, "a message opens as a hook", err, ErrOpen)
	_, err = r.OpenMessage(place, hook)
	env.ErrorIs(t, "a hook opens as a message", err, ErrOpen)
	_, err = r.OpenDetails(place, hook)
	env.ErrorIs(t, "a hook opens as details", err, ErrOpen)
	for n := range len(message) {
		if _, err := r.OpenMessage(place, message[:n]); !errors.Is(err, ErrOpen) {
			t.Errorf("a message cut to %d bytes: %v", n, err)
		}
		bad := bytes.Clone(hook)
		if n < len(bad) {
			bad[n] ^= 1
			if _, err := r.OpenHook(place, bad); !errors.Is(err, ErrOpen) {
				t.Errorf("a hook with byte %d changed: %v", n, err)
			}
		}
	}
}
