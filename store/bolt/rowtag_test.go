package bolt

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pushbox/store/record"
	"pushbox/store/seal"
)

func TestARowOpensOnlyWhereAndAsItWasSealed(t *testing.T) {
	t.Parallel()
	keys, others := seal.NewRing(time.Now()), seal.NewRing(time.Now())
	key, value := []byte("key"), []byte("value")
	stored, share := sealRow([]byte("before"), keys, accounts, key, value)
	stored, found := bytes.CutPrefix(stored, []byte("before"))
	if !found || len(stored) != len(value)+tagLen {
		t.Fatalf("sealed it is %d bytes", len(stored))
	}
	got, again, err := openRow(keys, accounts, key, stored)
	if err != nil || !bytes.Equal(got, value) || again != share || shareIn(keys, accounts, key, stored) != share {
		t.Errorf("it opens as %q, %v", got, err)
	}
	refuse := func(what string, keys record.RowKeys, b bucket, key, stored []byte) {
		t.Helper()
		if got, _, err := openRow(keys, b, key, stored); !errors.Is(err, record.ErrCorrupt) || got != nil {
			t.Errorf("%s: it opens as %q, %v", what, got, err)
		}
	}
	refuse("other keys", others, accounts, key, stored)
	refuse("another bucket", keys, tokens, key, stored)
	refuse("another key", keys, accounts, []byte("kez"), stored)
	refuse("a longer key", keys, accounts, []byte("keyv"), stored)
	refuse("nothing", keys, accounts, key, nil)
	refuse("only a tag", keys, accounts, key, stored[len(value):])
	refuse("a byte less", keys, accounts, key, stored[:len(stored)-1])
	refuse("a byte more", keys, accounts, key, append(slices.Clone(stored), 0))
	for i := range stored {
		changed := slices.Clone(stored)
		changed[i] ^= 1
		refuse("a changed byte", keys, accounts, key, changed)
	}
}

func TestWhatIsReadBeforeThereAreKeysHasNoTag(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{metaSchema: false, metaKeyRing: false, metaLatestTime: true, metaSums: true} {
		if hasTag(meta, []byte(key)) != want {
			t.Errorf("%s has a tag: %t", key, !want)
		}
	}
	if !hasTag(accounts, []byte(metaSchema)) || hasTag(payloads, nil) {
		t.Error("an account has none, or a payload has one")
	}
}

func TestSharesAddUpModulo2To128(t *testing.T) {
	t.Parallel()
	s := share{0, math.MaxUint64}
	s.add(share{0, 1})
	if s != (share{1, 0}) {
		t.Errorf("it carries to %v", s)
	}
	s.subtract(share{0, 1})
	if s != (share{0, math.MaxUint64}) {
		t.Errorf("it borrows from %v", s)
	}
	s.add(share{math.MaxUint64, 1})
	if s != (share{}) {
		t.Errorf("it comes round to %v", s)
	}
}

func TestSumsReadBackAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	var s, again sums
	for b := range bucketCount {
		if tagged[b] {
			s.rows[b], s.last[b] = share{uint64(b) + 1, math.MaxUint64}, uint64(b)+7
		}
	}
	v, err := s.AppendBinary(nil)
	if err != nil || again.UnmarshalBinary(v) != nil || again != s {
		t.Errorf("they are %v", again)
	}
	for _, bad := range [][]byte{nil, v[:len(v)-1], append(slices.Clone(v), 0)} {
		if err := again.UnmarshalBinary(bad); err == nil {
			t.Errorf("%d bytes are read", len(bad))
		}
	}
}
