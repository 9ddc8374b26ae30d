package seal

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"pushbox/internal/secret"
)

var (
	birth = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cheap = Cost{memory: 8, passes: 1, threads: 1}

	testID    = []byte("0123456789abcdefghijkl")
	otherID   = []byte("0123456789abcdefghijkm")
	testToken = secret.New("agn4gtbyaabcdefghijklmnopqrstuvwxy")
	testWords = secret.New("open sesame")
	testGrant = secret.New("abcdefghijklmnopqrstuvwxyz234567")
	testBlob  = []byte("0123456789abcdef")
)

// An envelope is a sealed record, and the functions that open it and seal it again.
type envelope struct {
	name  string
	seal  func() []byte
	open  func(sealed []byte) ([]byte, error)
	plain []byte // nil: a new key each time
}

// envelopes returns an envelope of each kind, under new keys.
func envelopes() []envelope {
	root, ring := NewRootKey(), NewRing(birth)
	dek := NewDEK()
	wrap := func(c Cost, p secret.Text) envelope {
		return envelope{
			seal: func() []byte { return ring.keys[KEKs][0].wrap(c, testID, testToken, p, NewDEK()) },
			open: func(sealed []byte) ([]byte, error) {
				d, err := ring.OpenWrap(sealed, testID, testToken, p)
				if err != nil {
					return nil, err
				}
				return d.bytes(), nil
			},
		}
	}
	plain, protected := wrap(Cost{}, secret.Text{}), wrap(cheap, testWords)
	plain.name, protected.name = "wrap", "protected wrap"
	return []envelope{plain, protected, {
		name: "ring",
		seal: func() []byte { return ring.Sealed(root) },
		open: func(sealed []byte) ([]byte, error) {
			r, err := OpenRing(root, sealed)
			if err != nil {
				return nil, err
			}
			return r.encode(), nil
		},
		plain: ring.encode(),
	}, {
		name: "payload",
		seal: func() []byte { return dek.SealPayload(testID, 1, secret.New("a payload")) },
		open: func(sealed []byte) ([]byte, error) {
			text, err := dek.OpenPayload(testID, 1, sealed)
			return []byte(text.Reveal()), err
		},
		plain: []byte("a payload"),
	}, {
		name: "link",
		seal: func() []byte { return ring.SealLink(birth, testID, testToken) },
		open: func(sealed []byte) ([]byte, error) {
			link, err := ring.OpenLink(testID, sealed)
			return []byte(link.Reveal()), err
		},
		plain: []byte(testToken.Reveal()),
	}, {
		name:  "details",
		seal:  func() []byte { return ring.SealDetails(testID, []byte("a name")) },
		open:  func(sealed []byte) ([]byte, error) { return ring.OpenDetails(testID, sealed) },
		plain: []byte("a name"),
	}, {
		name:  "entry",
		seal:  func() []byte { return ring.SealEntry(testID, []byte("an entry")) },
		open:  func(sealed []byte) ([]byte, error) { return ring.OpenEntry(testID, sealed) },
		plain: []byte("an entry"),
	}, {
		name:  "event",
		seal:  func() []byte { return ring.SealEvent([32]byte{1}, []byte("an account")) },
		open:  func(sealed []byte) ([]byte, error) { return ring.OpenEvent([32]byte{1}, sealed) },
		plain: []byte("an account"),
	}, {
		name:  "account",
		seal:  func() []byte { return ring.SealAccount(testID, []byte("an address")) },
		open:  func(sealed []byte) ([]byte, error) { return ring.OpenAccount(testID, sealed) },
		plain: []byte("an address"),
	}, {
		name: "grant",
		seal: func() []byte { return ring.SealGrant(birth, testID, testGrant, dek.FilesKey()) },
		open: func(sealed []byte) ([]byte, error) {
			files, err := ring.OpenGrant(testID, testGrant, sealed)
			if err != nil {
				return nil, err
			}
			return files.bytes(), nil
		},
		plain: dek.FilesKey().bytes(),
	}, {
		name:  "list of files",
		seal:  func() []byte { return dek.FilesKey().SealList(testID, []byte("a file name")) },
		open:  func(sealed []byte) ([]byte, error) { return dek.FilesKey().OpenList(testID, sealed) },
		plain: []byte("a file name"),
	}}
}

// wantRefusal fails the test unless err is an error of this package and there is no
// plain text.
func wantRefusal(t *testing.T, what string, plain []byte, err error) {
	t.Helper()
	if !errors.Is(err, ErrOpen) && !errors.Is(err, ErrKey) && !errors.Is(err, ErrPassphrase) {
		t.Errorf("%s: the error is %v", what, err)
	}
	if len(plain) > 0 {
		t.Errorf("%s: something was opened", what)
	}
}

func TestWhatWasSealedOpens(t *testing.T) {
	t.Parallel()
	for _, e := range envelopes() {
		sealed := e.seal()
		before := bytes.Clone(sealed)
		plain, err := e.open(sealed)
		if err != nil || e.plain != nil && !bytes.Equal(plain, e.plain) {
			t.Errorf("%s: opened as %q, %v", e.name, plain, err)
		}
		if !bytes.Equal(sealed, before) {
			t.Errorf("%s: opening changed it", e.name)
		}
		if e.plain != nil && bytes.Contains(sealed, e.plain) {
			t.Errorf("%s: the plain text is in it", e.name)
		}
	}
}

func TestNothingOpensWithAFlippedBit(t *testing.T) {
	t.Parallel()
	for _, e := range envelopes() {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			sealed := e.seal()
			for i := range len(sealed) * 8 {
				sealed[i/8] ^= 1 << (i % 8)
				plain, err := e.open(sealed)
				wantRefusal(t, e.name, plain, err)
				sealed[i/8] ^= 1 << (i % 8)
			}
		})
	}
}

func TestNothingOpensCutShortOrMadeLonger(t *testing.T) {
	t.Parallel()
	for _, e := range envelopes() {
		sealed := e.seal()
		for n := range sealed {
			plain, err := e.open(slices.Clip(sealed[:n]))
			wantRefusal(t, e.name, plain, err)
		}
		plain, err := e.open(append(sealed, 0))
		wantRefusal(t, e.name, plain, err)
	}
}

func TestNoEnvelopeOpensAsAnotherKind(t *testing.T) {
	t.Parallel()
	all := envelopes()
	for i, from := range all {
		for j, to := range all {
			// A wrap without a passphrase opens with any passphrase.
			if i != j && !(from.name == "wrap" && to.name == "protected wrap") {
				plain, err := to.open(from.seal())
				wantRefusal(t, from.name+" as "+to.name, plain, err)
			}
		}
	}
}

func TestTwoSealsOfTheSameDiffer(t *testing.T) {
	t.Parallel()
	for _, e := range envelopes() {
		a, b := e.seal(), e.seal()
		head := len(a) - overhead - len(e.plain)
		if e.plain == nil {
			head = wrapSalt
		}
		for i := head; i+8 <= len(a); i += 8 {
			if bytes.Equal(a[i:i+8], b[i:i+8]) {
				t.Errorf("%s: bytes %d to %d are the same", e.name, i, i+8)
			}
		}
	}
}
