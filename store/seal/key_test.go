package seal

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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
	j, err := json.Marshal(holder)
	env.OK(t, err)
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
