package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"regexp"
	"sync"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func TestAGrantTokenHasItsForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z2-7]{32}$`)
	seen := make(map[string]bool)
	for range 100 {
		token := NewGrantToken().Reveal()
		if !form.MatchString(token) || seen[token] {
			t.Fatalf("a token has a wrong form, or came twice: %s", token)
		}
		seen[token] = true
	}
}

func TestAGrantOpensOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	sealed := r.SealGrant(birth, testID, testGrant, NewDEK().FilesKey())
	for _, c := range []struct {
		name  string
		ring  *Ring
		id    []byte
		grant secret.Text
		want  error
	}{
		{"in its place", r, testID, testGrant, nil},
		{"of another push", r, otherID, testGrant, ErrOpen},
		{"of no push", r, nil, testGrant, ErrOpen},
		{"of a shorter id", r, testID[:21], testGrant, ErrOpen},
		{"with another token", r, testID, NewGrantToken(), ErrOpen},
		{"with the token cut short", r, testID, secret.New(testGrant.Reveal()[:31]), ErrOpen},
		{"with a longer token", r, testID, secret.New(testGrant.Reveal() + "\x00"), ErrOpen},
		{"with the token in upper case", r, testID, secret.New("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"), ErrOpen},
		{"with no token", r, testID, secret.Text{}, ErrOpen},
		{"under another ring", NewRing(birth), testID, testGrant, ErrOpen},
	} {
		files, err := c.ring.OpenGrant(c.id, c.grant, sealed)
		if !errors.Is(err, c.want) || (err == nil) != (files.s != nil) {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
}

func TestAGrantOpensTheFilesWithoutTheLink(t *testing.T) {
	t.Parallel()
	r, dek := NewRing(birth), NewDEK()
	sealed := dek.FilesKey().File(testBlob).Seal(nil, 0, true, []byte("the file"))
	files := env.Must(r.OpenGrant(testID, testGrant, r.SealGrant(birth, testID, testGrant, dek.FilesKey())))(t)
	plain, err := files.File(testBlob).Open(nil, 0, true, sealed)
	if err != nil || string(plain) != "the file" {
		t.Errorf("the file does not open: %v", err)
	}
}

// A client with a grant has the files key, and must not get further with it.
func TestAGrantOpensNothingElseOfThePush(t *testing.T) {
	t.Parallel()
	dek := NewDEK()
	payload := dek.SealPayload(testID, 1, testWords)
	_, err := (DEK{dek.FilesKey().key}).OpenPayload(testID, 1, payload)
	env.ErrorIs(t, "the error", err, ErrOpen)
}

func TestAGrantWithoutAKeyInItIsRefused(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	k := &r.keys[KEKs][0]
	head := k.head(KEKs)
	for size, want := range map[int]error{0: ErrOpen, keySize - 1: ErrOpen, keySize: nil, keySize + 1: ErrOpen} {
		sealed := encrypt(k.granting(testGrant), head, bind(head, testID), pattern(size))
		if _, err := r.OpenGrant(testID, testGrant, sealed); !errors.Is(err, want) {
			t.Errorf("%d bytes: the error is %v", size, err)
		}
	}
}

func TestAGrantOfAnUnknownKEKIsRefused(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	sealed := r.SealGrant(birth, testID, testGrant, NewDEK().FilesKey())
	sealed[plainHead+3] = 9
	_, err := r.OpenGrant(testID, testGrant, sealed)
	env.ErrorIs(t, "the error", err, ErrOpen)
}

func TestARowSumIsOfBucketKeyAndValue(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	version := r.RowVersion()
	one, ok := r.RowSum(version, "pushes", []byte("key"), []byte("value"))
	if again, _ := r.RowSum(version, "pushes", []byte("key"), []byte("value")); !ok || one != again {
		t.Fatalf("the sum of the same row is %x and %x, %t", one, again, ok)
	}
	for name, other := range map[string]struct {
		ring               *Ring
		bucket, key, value string
	}{
		"of another ring":             {NewRing(birth), "pushes", "key", "value"},
		"in another bucket":           {r, "pushe", "skey", "value"},
		"under another key":           {r, "pushes", "kez", "value"},
		"of another value":            {r, "pushes", "key", "valuf"},
		"of no value":                 {r, "pushes", "key", ""},
		"with its key in the value":   {r, "pushes", "ke", "yvalue"},
		"with its value in the key":   {r, "pushes", "keyv", "alue"},
		"with its bucket in the rest": {r, "", "pusheskey", "value"},
	} {
		sum, ok := other.ring.RowSum(version, other.bucket, []byte(other.key), []byte(other.value))
		if !ok || sum == one {
			t.Errorf("a row %s has the sum %x, %t", name, sum, ok)
		}
	}
}

func TestARowSumIsThatOfTheStandardLibrary(t *testing.T) {
	t.Parallel()
	k := newKey()
	row := rowStates(k).New().(*rowState)
	for size := range 300 {
		key, value := make([]byte, size%40), make([]byte, size)
		mac := hmac.New(sha256.New, k.bytes())
		mac.Write([]byte("audit\x00"))
		mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(key))))
		mac.Write(key)
		mac.Write(value)
		if sum := row.of("audit", key, value); string(sum[:]) != string(mac.Sum(nil)) {
			t.Fatalf("a row of %d bytes has another sum", size)
		}
	}
}

func TestARowKeyThatIsNotInTheRingSumsNothing(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	for _, version := range []uint16{0, r.RowVersion() + 1} {
		if sum, ok := r.RowSum(version, "pushes", nil, nil); ok || sum != [32]byte{} {
			t.Errorf("version %d: %x, %t", version, sum, ok)
		}
	}
}

func TestRowSumsAreComputedSideBySide(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	var want [8][32]byte
	for i := range want {
		want[i], _ = r.RowSum(r.RowVersion(), "pushes", []byte{byte(i)}, nil)
	}
	var g sync.WaitGroup
	for i := range want {
		g.Go(func() {
			for range 1000 {
				if sum, _ := r.RowSum(r.RowVersion(), "pushes", []byte{byte(i)}, nil); sum != want[i] {
					t.Errorf("row %d has another sum", i)
					return
				}
			}
		})
	}
	g.Wait()
}

// Not in parallel: it counts what the process allocates.
func TestARowSumAllocatesNothing(t *testing.T) {
	if env.UnderRace {
		t.Skip("the race detector has sync.Pool forget states")
	}
	r, key, value := NewRing(birth), make([]byte, 22), make([]byte, 4000)
	if n := testing.AllocsPerRun(1000, func() { r.RowSum(1, "pushes", key, value) }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}
