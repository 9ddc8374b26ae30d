package seal

import (
	"bytes"
	"errors"
	"testing"

	"pushbox/internal/secret"
)

// A text that is read as a key is written as a text that is read as the same key.
func FuzzParseRootKey(f *testing.F) {
	f.Add([]byte(keyComment + frozenKey + "\r\n"))
	f.Add([]byte(frozenKey + "\n" + frozenKey))
	f.Add([]byte("pushbox-key-1:"))
	f.Add(make([]byte, 40))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, err := ParseRootKey(text)
		if err != nil {
			if !errors.Is(err, ErrKey) || k.s != nil {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		if again, err := ParseRootKey(k.Text()); err != nil || *again.s != *k.s {
			t.Fatalf("it reads otherwise the second time: %v", err)
		}
		line := []byte(keyLine(k.bytes()))
		if !bytes.Contains(bytes.ToLower(text), line) {
			t.Fatal("it is not the key that stood there")
		}
	})
}

// Only what was sealed opens. No passphrase is given where one is needed, since Argon2
// would take all the time.
func FuzzOpenWrap(f *testing.F) {
	v, _, ring := loadVectors(f)
	f.Add([]byte(v.Wrap), []byte(v.PushID), v.Token)
	f.Add([]byte(v.WrapProtected), []byte(v.PushID), v.Token)
	f.Add([]byte(v.Wrap)[:wrapHead], []byte{}, "")
	f.Fuzz(func(t *testing.T, wrap, id []byte, token string) {
		dek, err := ring.OpenWrap(wrap, id, secret.New(token), secret.Text{})
		same := bytes.Equal(wrap, v.Wrap) && bytes.Equal(id, v.PushID) && token == v.Token
		if same != (err == nil) || same != (dek.s != nil) {
			t.Fatalf("the error is %v", err)
		}
		if errors.Is(err, ErrPassphrase) && wrapCost(wrap) == (Cost{}) {
			t.Fatal("a passphrase was asked for without need")
		}
	})
}

// Only what was sealed opens. What opens is a ring that can be written again, or is
// refused.
func FuzzOpenRing(f *testing.F) {
	v, root, ring := loadVectors(f)
	f.Add([]byte(v.SealedRing))
	f.Add(ring.encode())
	f.Add(ring.encode()[:keySize+1])
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := OpenRing(root, b); (err == nil) != bytes.Equal(b, v.SealedRing) || (r == nil) != (err != nil) {
			t.Fatalf("the error is %v", err)
		}
		r, err := decodeRing(b)
		if err != nil {
			return
		}
		if !bytes.Equal(r.encode(), b) {
			t.Fatal("it is written otherwise")
		}
		for _, f := range Families() {
			if len(r.Versions(f)) == 0 {
				t.Fatalf("it has no key of family %d", f)
			}
		}
	})
}

// Nothing opens but what was sealed.
func FuzzOpenRecords(f *testing.F) {
	v, _, ring := loadVectors(f)
	dek := DEK{keyOf(v.DEK)}
	f.Add([]byte(v.SealedPayload), []byte(v.PushID), v.Kind)
	f.Add([]byte(v.SealedDetails), []byte(v.PushID), byte(0))
	f.Add([]byte(v.SealedEntry), []byte(v.EntryID), byte(0))
	f.Fuzz(func(t *testing.T, sealed, id []byte, kind byte) {
		is := func(frozen, belongs []byte) bool { return bytes.Equal(sealed, frozen) && bytes.Equal(id, belongs) }
		if _, err := dek.OpenPayload(id, kind, sealed); (err == nil) != (is(v.SealedPayload, v.PushID) && kind == v.Kind) {
			t.Fatalf("payload: the error is %v", err)
		}
		if _, err := ring.OpenDetails(id, sealed); (err == nil) != is(v.SealedDetails, v.PushID) {
			t.Fatalf("details: the error is %v", err)
		}
		if _, err := ring.OpenEntry(id, sealed); (err == nil) != is(v.SealedEntry, v.EntryID) {
			t.Fatalf("entry: the error is %v", err)
		}
	})
}

// Nothing opens but what was sealed.
func FuzzOpenAccount(f *testing.F) {
	v, _, _ := loadVectors(f)
	frozen, ring := loadAccountVectors(f)
	f.Add([]byte(frozen.SealedOrigin), []byte(frozen.SessionDigest))
	f.Add([]byte(frozen.SealedTOTP), []byte(frozen.AccountID))
	f.Add([]byte(v.SealedEntry), []byte(v.EntryID))
	f.Fuzz(func(t *testing.T, sealed, id []byte) {
		is := func(part, belongs []byte) bool { return bytes.Equal(sealed, part) && bytes.Equal(id, belongs) }
		want := is(frozen.SealedOrigin, frozen.SessionDigest) || is(frozen.SealedTOTP, frozen.AccountID)
		if plain, err := ring.OpenAccount(id, sealed); (err == nil) != want || err != nil && (!errors.Is(err, ErrOpen) || plain != nil) {
			t.Fatalf("the error is %v", err)
		}
	})
}

// A text that is read as the hash of a password is written the same.
func FuzzReadPHC(f *testing.F) {
	f.Add(cheap.phc(make([]byte, saltSize), make([]byte, keySize)))
	f.Add("$argon2id$v=19$m=08,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, hash string) {
		c, salt, sum, err := readPHC(hash)
		if err != nil {
			return
		}
		if !c.bounded() || c == (Cost{}) || c.phc(salt, sum) != hash {
			t.Fatalf("%+v of %q", c, hash)
		}
	})
}

// Nothing opens but what was sealed.
func FuzzOpenGrant(f *testing.F) {
	v, frozen, ring := loadFileVectors(f)
	f.Add([]byte(frozen.SealedGrant), []byte(v.PushID), frozen.GrantToken)
	f.Add([]byte(v.SealedDetails), []byte(v.PushID), frozen.GrantToken)
	f.Add([]byte(frozen.SealedGrant)[:kekHead+overhead], []byte{}, "")
	f.Fuzz(func(t *testing.T, sealed, id []byte, token string) {
		files, err := ring.OpenGrant(id, secret.New(token), sealed)
		same := bytes.Equal(sealed, frozen.SealedGrant) && bytes.Equal(id, v.PushID) && token == frozen.GrantToken
		if same != (err == nil) || same != (files.s != nil) {
			t.Fatalf("the error is %v", err)
		}
		if err != nil && !errors.Is(err, ErrOpen) {
			t.Fatalf("the error is %v", err)
		}
	})
}

// Only the chunk that was sealed opens, and every chunk that can be sealed opens as it
// was. All chunks except the last are filled up to their size here, since long inputs
// would take all the time.
func FuzzOpenChunk(f *testing.F) {
	_, frozen, _ := loadFileVectors(f)
	c := FilesKey{keyOf(frozen.FilesKey)}.File(frozen.BlobID)
	f.Add([]byte(frozen.SealedChunk), frozen.ChunkNumber, true)
	f.Add([]byte(frozen.Chunk), frozen.ChunkNumber, true)
	f.Add([]byte{}, uint64(0), true)
	f.Add([]byte{1}, uint64(1), false)
	f.Fuzz(func(t *testing.T, b []byte, n uint64, last bool) {
		plain, err := c.Open(nil, n, last, b)
		same := bytes.Equal(b, frozen.SealedChunk) && n == frozen.ChunkNumber && last
		if same != (err == nil) || err != nil && (!errors.Is(err, ErrOpen) || plain != nil) {
			t.Fatalf("the error is %v", err)
		}
		if !last {
			b = append(b, make([]byte, max(0, ChunkSize-len(b)))...)
		}
		if !fits(n, last, len(b)) {
			return
		}
		sealed := c.Seal(nil, n, last, b)
		if len(sealed) != len(b)+ChunkOverhead {
			t.Fatalf("%d bytes are sealed in %d", len(b), len(sealed))
		}
		if back, err := c.Open(sealed[:0], n, last, sealed); err != nil || !bytes.Equal(back, b) {
			t.Fatalf("it comes back otherwise: %v", err)
		}
	})
}
