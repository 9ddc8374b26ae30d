package seal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"pushbox/internal/secret"
)

func TestAWrapNeedsAllOfItsParts(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	k := &r.keys[KEKs][0]
	open := k.wrap(Cost{}, testID, testToken, secret.Text{}, NewDEK())
	locked := k.wrap(cheap, testID, testToken, testWords, NewDEK())
	otherToken := secret.New(strings.Replace(testToken.Reveal(), "y", "z", 1))
	for _, c := range []struct {
		name              string
		ring              *Ring
		wrap, id          []byte
		token, passphrase secret.Text
		want              error
	}{
		{"all that it needs", r, open, testID, testToken, secret.Text{}, nil},
		{"a passphrase that it does not need", r, open, testID, testToken, testWords, nil},
		{"another id", r, open, otherID, testToken, secret.Text{}, ErrOpen},
		{"another token", r, open, testID, otherToken, secret.Text{}, ErrOpen},
		{"no token", r, open, testID, secret.Text{}, secret.Text{}, ErrOpen},
		{"another ring", NewRing(birth), open, testID, testToken, secret.Text{}, ErrOpen},

		{"the passphrase", r, locked, testID, testToken, testWords, nil},
		{"no passphrase", r, locked, testID, testToken, secret.Text{}, ErrPassphrase},
		{"another passphrase", r, locked, testID, testToken, secret.New("Open sesame"), ErrPassphrase},
		{"a passphrase cut short", r, locked, testID, testToken, secret.New("open sesam"), ErrPassphrase},
		{"the passphrase, another id", r, locked, otherID, testToken, testWords, ErrPassphrase},
		{"the passphrase, another token", r, locked, testID, otherToken, testWords, ErrPassphrase},
		{"the passphrase, another ring", NewRing(birth), locked, testID, testToken, testWords, ErrPassphrase},
	} {
		if _, err := c.ring.OpenWrap(c.wrap, c.id, c.token, c.passphrase); !errors.Is(err, c.want) {
			t.Errorf("%s: the error is %v", c.name, err)
		} else if errors.Is(err, ErrOpen) && errors.Is(err, ErrPassphrase) {
			t.Errorf("%s: the error is both", c.name)
		}
	}
}

func TestAWrapGivesBackItsKey(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	for _, p := range []secret.Text{{}, testWords} {
		made := NewDEK()
		wrap := r.Wrap(birth, testID, testToken, p, made, Cost{})
		opened, err := r.OpenWrap(wrap, testID, testToken, p)
		if err != nil || *made.s != *opened.s {
			t.Errorf("it holds another key: %v", err)
		}
		if free := wrapCost(wrap) == (Cost{}); free != p.IsZero() {
			t.Errorf("its cost is zero: %t", free)
		}
		if bytes.Contains(wrap, made.bytes()[:8]) {
			t.Error("the key is in the wrap")
		}
	}
}

func TestANewWrapHasTheStandardCost(t *testing.T) {
	t.Parallel()
	wrap := NewRing(birth).Wrap(birth, testID, testToken, testWords, NewDEK(), Cost{})
	if c := wrapCost(wrap); c != (Cost{memory: 19456, passes: 2, threads: 1}) {
		t.Errorf("it has %+v", c)
	}
}

// The head alone must show each of these: Argon2 would need 4 TiB for the worst of
// them.
func TestAWrapThatCostsTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	good := r.keys[KEKs][0].wrap(cheap, testID, testToken, testWords, NewDEK())
	for name, c := range map[string]Cost{
		"memory":          {memory: 256<<10 + 1, passes: 1, threads: 1},
		"all memory":      {memory: 1<<32 - 1, passes: 255, threads: 255},
		"passes":          {memory: 8, passes: 17, threads: 1},
		"threads":         {memory: 8, passes: 1, threads: 5},
		"no memory":       {memory: 0, passes: 1, threads: 1},
		"no pass":         {memory: 8, passes: 0, threads: 1},
		"no thread":       {memory: 8, passes: 1, threads: 0},
		"memory alone":    {memory: 8},
		"threads alone":   {threads: 1},
		"passes alone":    {passes: 1},
		"memory, no more": {memory: 19456},
	} {
		wrap := bytes.Clone(good)
		binary.BigEndian.PutUint32(wrap[wrapMemory:], c.memory)
		wrap[wrapPasses], wrap[wrapThreads] = c.passes, c.threads
		if _, err := r.OpenWrap(wrap, testID, testToken, testWords); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// Without its cost a wrap looks as if it had no passphrase. It must not open then.
func TestAPassphraseCannotBeTakenOffAWrap(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	wrap := r.keys[KEKs][0].wrap(cheap, testID, testToken, testWords, NewDEK())
	clear(wrap[wrapMemory:wrapSalt])
	if _, err := r.OpenWrap(wrap, testID, testToken, testWords); !errors.Is(err, ErrOpen) {
		t.Errorf("the error is %v", err)
	}
}

func TestAWrapOfAnUnknownKEKIsNotAWrongPassphrase(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	wrap := r.keys[KEKs][0].wrap(cheap, testID, testToken, testWords, NewDEK())
	wrap[plainHead+3] = 9
	_, err := r.OpenWrap(wrap, testID, testToken, testWords)
	if !errors.Is(err, ErrOpen) || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("the error is %v", err)
	}
}
