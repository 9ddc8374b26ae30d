package seal

import (
	"bytes"
	"errors"
	"testing"
)

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
	if _, err := r.OpenHook(place, message); !errors.Is(err, ErrOpen) {
		t.Errorf("a message opens as a hook: %v", err)
	}
	if _, err := r.OpenMessage(place, hook); !errors.Is(err, ErrOpen) {
		t.Errorf("a hook opens as a message: %v", err)
	}
	if _, err := r.OpenDetails(place, hook); !errors.Is(err, ErrOpen) {
		t.Errorf("a hook opens as details: %v", err)
	}
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
