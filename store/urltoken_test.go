package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pushbox/store/record"

	"pgregory.net/rapid"
)

func TestATokenHoldsItsTimeAndOrdersByIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(0, 1<<timeBits-1).Draw(t, "ms"))
		later := time.UnixMilli(rapid.Int64Range(at.UnixMilli(), 1<<timeBits-1).Draw(t, "later"))
		a, b := NewToken(at), NewToken(later)
		if a.Len() != tokenLength || a.milliseconds() != uint64(at.UnixMilli()) {
			t.Fatalf("token of %v has length %d and time %d", at, a.Len(), a.milliseconds())
		}
		idA, idB := newID(a, [16]byte{0xff}), newID(b, [16]byte{})
		if later.After(at) && string(idA[:]) >= string(idB[:]) {
			t.Fatal("the ID of a later push is not greater")
		}
	})
}

func TestTokensDoNotRepeat(t *testing.T) {
	t.Parallel()
	at, seen := time.Now(), make(map[string]bool)
	for range 10_000 {
		s := NewToken(at).Reveal()
		if seen[s] {
			t.Fatal("a token repeats")
		}
		seen[s] = true
	}
}

func TestEachCharacterOfATokenBehindItsTimeIsRandom(t *testing.T) {
	t.Parallel()
	var seen [tokenLength]map[byte]bool
	for range 2000 { // one of 32 is missing somewhere once in 10^25 runs
		for i, c := range []byte(NewToken(time.Now()).Reveal()) {
			if seen[i] == nil {
				seen[i] = make(map[byte]bool)
			}
			seen[i][c] = true
		}
	}
	for i := timeChars; i < tokenLength; i++ {
		if len(seen[i]) != len(record.Alphabet) {
			t.Errorf("character %d takes %d values", i, len(seen[i]))
		}
	}
}

func TestATokenIsReadWithoutRegardToCase(t *testing.T) {
	t.Parallel()
	a := NewToken(time.Now())
	b, err := ParseToken(strings.ToUpper(a.Reveal()))
	if err != nil || b.Reveal() != a.Reveal() {
		t.Errorf("in upper case it is %v, %v", b, err)
	}
}

func TestWhatCannotBeATokenIsNotFound(t *testing.T) {
	t.Parallel()
	good := NewToken(time.Now()).Reveal()
	for name, s := range map[string]string{
		"empty":          "",
		"short":          good[:minImported-1],
		"long":           good + "a",
		"digit 0":        "0" + good[1:],
		"digit 1":        good[:33] + "1",
		"digit 8":        good[:33] + "8",
		"before a":       good[:33] + "`",
		"behind z":       good[:33] + "{",
		"padding":        good[:33] + "=",
		"not ASCII":      good[:32] + "é",
		"kelvin sign":    good[:31] + "\u212a", // lower-cases to k
		"kelvin signs":   strings.Repeat("\u212a", 11) + "a",
		"of another":     "abc123+xyz",
		"long, of one":   "0" + good,
		"white space":    " " + good[1:],
		"path separator": good[:33] + "/",
	} {
		if _, err := ParseToken(s); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATokenOfAnotherServerIsShorter(t *testing.T) {
	t.Parallel()
	for s, ok := range map[string]bool{
		"abc123-xyz": true, "ABC123_XYZ": true,
		strings.Repeat("a", minImported-1): false, strings.Repeat("a", minImported): true,
		strings.Repeat("0", maxImported): true, strings.Repeat("0", maxImported+1): false,
	} {
		token, err := ParseToken(s)
		if ok != (err == nil) {
			t.Errorf("%q: %v", s, err)
		}
		if ok && (token.Reveal() != strings.ToLower(s) || !newID(token, [16]byte{1}).Imported()) {
			t.Errorf("%q is another token, or its push is not an imported one", s)
		}
	}
	if newID(NewToken(time.Now()), [16]byte{}).Imported() {
		t.Error("a token of our own is taken for an imported one")
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(NewToken(time.UnixMilli(0)).Reveal())
	f.Add("")
	f.Add("abc123-XYZ_0")
	f.Add("KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK")
	f.Fuzz(func(t *testing.T, s string) {
		token, err := ParseToken(s)
		if err != nil {
			return
		}
		if !strings.EqualFold(token.Reveal(), s) || token.Len() != tokenLength && (token.Len() < minImported || token.Len() > maxImported) {
			t.Fatalf("%q became another token", s)
		}
		again, err := ParseToken(token.Reveal())
		if err != nil || again.Reveal() != token.Reveal() {
			t.Fatalf("a parsed token does not parse: %v", err)
		}
		_ = newID(token, [16]byte{})
	})
}
