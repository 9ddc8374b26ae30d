package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func TestNoKeyPrints(t *testing.T) {
	t.Parallel()
	marker := []byte("0123456789abcdef0123456789abcdef")
	type keys struct{ dek DEK }
	root, dek := RootKey{keyOf(marker)}, DEK{keyOf(marker)}
	files := FilesKey{keyOf(marker)}
	file := &FileCipher{aead: must(chacha20poly1305.New(marker))}
	ring := &Ring{id: keyOf(marker)}
	for _, f := range Families() {
		ring.keys[f] = []familyKey{newFamilyKey(f, keyOf(marker), 1, 0)}
	}
	ring.RowSum(1, "pushes", nil, nil) // makes a state that has the key in it
	holder := struct {
		Root   RootKey
		Ring   *Ring
		hidden RootKey
		dek    DEK
		ring   *Ring
		rings  []*Ring
		deeper []keys
		deep   *keys
		files  FilesKey
		file   *FileCipher
		opened []*FileCipher
	}{root, ring, root, dek, ring, []*Ring{ring}, []keys{{dek}}, &keys{dek}, files, file, []*FileCipher{file}}

	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%o", "%U"} {
		for _, v := range []any{root, &root, dek, &dek, *ring, ring, ring.keys, ring.keys[KEKs], files, &files, *file, file, holder, &holder} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	j := env.Must(json.Marshal(holder))(t)
	out.Write(j)
	out.WriteString(root.String())

	list := strings.Trim(fmt.Sprint(marker[:6]), "[]")
	quoted := strings.Trim(fmt.Sprintf("%#v", marker[:6]), "[]byte{}")
	for _, form := range []string{string(marker[:6]), hex.EncodeToString(marker[:6]), list, quoted} {
		if strings.Contains(strings.ToLower(out.String()), form) {
			t.Errorf("a key was printed as %s", form)
		}
	}
	if !strings.Contains(out.String(), "[redacted]") || string(j) == "{}" {
		t.Error("[redacted] was not printed")
	}
}

func TestTheZeroKeySealsNothing(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(){
		"root key as text":     func() { RootKey{}.Text() },
		"ring under no key":    func() { NewRing(birth).Sealed(RootKey{}) },
		"payload under no key": func() { DEK{}.SealPayload(testID, 1, testWords) },
		"wrap of no key":       func() { NewRing(birth).Wrap(birth, testID, testToken, secret.Text{}, DEK{}, Cost{}) },
		"files key of no key":  func() { DEK{}.FilesKey() },
		"file under no key":    func() { FilesKey{}.File(testBlob) },
		"grant of no key":      func() { NewRing(birth).SealGrant(birth, testID, testGrant, FilesKey{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			use()
		}()
	}
}

func TestKeysAreDifferent(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{string(make([]byte, keySize)): true}
	for range 100 {
		k := newKey()
		if seen[*k.s] {
			t.Fatal("a key came twice, or is zero")
		}
		seen[*k.s] = true
	}
}

func TestACostIsBoundedOnBothSides(t *testing.T) {
	t.Parallel()
	for c, want := range map[Cost]bool{
		{}:                                 true,
		standard:                           true,
		cheap:                              true,
		most:                               true,
		{memory: 1, passes: 1, threads: 1}: true,
		{memory: 256 << 10, passes: 16, threads: 4}:    true,
		{memory: 256<<10 + 1, passes: 16, threads: 4}:  false,
		{memory: 256 << 10, passes: 17, threads: 4}:    false,
		{memory: 256 << 10, passes: 16, threads: 5}:    false,
		{memory: 0, passes: 1, threads: 1}:             false,
		{memory: 1, passes: 0, threads: 1}:             false,
		{memory: 1, passes: 1, threads: 0}:             false,
		{memory: 1<<32 - 1, passes: 255, threads: 255}: false,
	} {
		if c.bounded() != want {
			t.Errorf("%+v: %t", c, !want)
		}
	}
}

func TestAPasswordIsHashedInPHCForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^\$argon2id\$v=19\$m=19456,t=2,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$`)
	hash := Cost{}.HashPassword(testWords)
	parts := form.FindStringSubmatch(hash)
	if parts == nil {
		t.Fatalf("the hash is %s", hash)
	}
	salt := env.Must(base64.RawStdEncoding.DecodeString(parts[1]))(t)
	want := argon2.IDKey([]byte(testWords.Reveal()), salt, 2, 19456, 1, 32)
	if base64.RawStdEncoding.EncodeToString(want) != parts[2] {
		t.Error("it is not the hash of the password")
	}
	if (Cost{}).HashPassword(testWords) == hash {
		t.Error("two hashes of a password are the same")
	}
}

func TestAPasswordIsVerified(t *testing.T) {
	t.Parallel()
	hash := Cost{}.HashPassword(testWords)
	for password, want := range map[string]bool{
		testWords.Reveal():       true,
		testWords.Reveal() + " ": false,
		"Open sesame":            false,
		"":                       false,
	} {
		if ok, err := VerifyPassword(hash, secret.New(password)); ok != want || err != nil {
			t.Errorf("%q: %t, %v", password, ok, err)
		}
	}
}

func TestTheFrozenPasswordIsVerified(t *testing.T) {
	t.Parallel()
	v, _, _ := loadVectors(t)
	if ok, err := VerifyPassword(standard.phc(v.PasswordSalt, v.PasswordHash), secret.New(v.Passphrase)); !ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
}

func TestAMalformedHashIsRefusedBeforeHashing(t *testing.T) {
	t.Parallel()
	good := cheap.phc(make([]byte, saltSize), make([]byte, keySize))
	if ok, err := VerifyPassword(good, testWords); ok || err != nil {
		t.Fatalf("%s: %t, %v", good, ok, err)
	}
	change := func(from, to string) string {
		bad := strings.Replace(good, from, to, 1)
		if bad == good {
			t.Fatalf("there is no %s in %s", from, good)
		}
		return bad
	}
	for _, hash := range []string{
		"", "$", "password", good + "$", good + "A", good[1:],
		change("argon2id", "argon2i"), change("v=19", "v=16"), change("m=8", "m=08"), change("m=8", "m=-8"),
		change("m=8", "m=262145"), change("t=1", "t=17"), change("t=1", "t=257"), change("p=1", "p=5"),
		change("m=8,t=1,p=1", "m=0,t=0,p=0"), change("m=8,t=1,p=1", "m=8,t=1"), change("m=8,t=1,p=1", "m=8,t=1,p=1,x=1"),
		change("AAAA$", "AAAB$"), change("AAAA$", "$"), change("AA$", "AA==$"), change("AA$", "A-$"),
	} {
		if ok, err := VerifyPassword(hash, testWords); ok || !errors.Is(err, ErrOpen) {
			t.Errorf("%s: %t, %v", hash, ok, err)
		}
	}
}

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
		env.Equal(t, "its cost is zero", wrapCost(wrap) == (Cost{}), p.IsZero())
		if bytes.Contains(wrap, made.bytes()[:8]) {
			t.Error("the key is in the wrap")
		}
	}
}

func TestANewWrapHasTheStandardCost(t *testing.T) {
	t.Parallel()
	wrap := NewRing(birth).Wrap(birth, testID, testToken, testWords, NewDEK(), Cost{})
	env.Equal(t, "it has", wrapCost(wrap), (Cost{memory: 19456, passes: 2, threads: 1}))
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
		_, err := r.OpenWrap(wrap, testID, testToken, testWords)
		env.ErrorIs(t, name, err, ErrOpen)
	}
}

// Without its cost a wrap looks as if it had no passphrase. It must not open then.
func TestAPassphraseCannotBeTakenOffAWrap(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	wrap := r.keys[KEKs][0].wrap(cheap, testID, testToken, testWords, NewDEK())
	clear(wrap[wrapMemory:wrapSalt])
	_, err := r.OpenWrap(wrap, testID, testToken, testWords)
	env.ErrorIs(t, "the error", err, ErrOpen)
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
