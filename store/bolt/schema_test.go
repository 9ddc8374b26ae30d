package bolt

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pushbox/store/record"
)

func TestAfterIsTheLeastKeyBeyondAPrefix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prefix, want []byte }{
		{[]byte{1, 2}, []byte{1, 3}},
		{[]byte{1, 255}, []byte{2}},
		{[]byte{0, 255, 255}, []byte{1}},
		{[]byte{255, 254}, []byte{255, 255}},
		{[]byte{255, 255}, nil},
		{nil, nil},
	} {
		before := bytes.Clone(c.prefix)
		if got := after(c.prefix); !bytes.Equal(got, c.want) {
			t.Errorf("after %v: got %v, want %v", c.prefix, got, c.want)
		}
		if !bytes.Equal(before, c.prefix) {
			t.Errorf("prefix %v was changed to %v", before, c.prefix)
		}
	}
}

func TestKeysSortByTimeAndNumber(t *testing.T) {
	t.Parallel()
	at := func(ms int64) record.Push {
		return record.Push{State: record.Live, ExpiresAt: time.UnixMilli(ms)}
	}
	expired := record.Push{State: record.Expired, ExpiredAt: time.UnixMilli(1)}
	for name, keys := range map[string][][]byte{
		"expiry": {expiryRow(at(-5)), expiryRow(at(1)), expiryRow(at(255)), expiryRow(at(256)), expiryRow(at(1 << 40)), expiryRow(expired)},
		"audit":  {auditKey(record.ID{}, 0), auditKey(record.ID{}, 255), auditKey(record.ID{}, 256), auditKey(record.ID{21: 1}, 0)},
		"chunk": {
			chunkKey(record.ID{}, 0, 0), chunkKey(record.ID{}, 0, 255), chunkKey(record.ID{}, 0, 256), chunkKey(record.ID{}, 0, 1<<24),
			chunkKey(record.ID{}, 1, 0), chunkKey(record.ID{}, 256, 0), chunkKey(record.ID{21: 1}, 0, 0),
		},
		"session": {record.PairKey(1, 0), record.PairKey(1, 255), record.PairKey(1, 256), record.PairKey(2, 0), record.PairKey(256, 0)},
		"hook":    {record.PairKey(1, 0), record.PairKey(1, 255), record.PairKey(1, 256), record.PairKey(2, 0), record.PairKey(256, 0)},
		"message": {
			record.Message{Number: 9}.Key(), record.Message{NextAt: time.UnixMilli(255), Number: 2}.Key(),
			record.Message{NextAt: time.UnixMilli(256), Number: 1}.Key(), record.Message{NextAt: time.UnixMilli(256), Number: 256}.Key(),
		},
		"owner": {ownerPrefix(1, false), ownerPrefix(1, true), ownerPrefix(256, false)},
	} {
		if !slices.IsSortedFunc(keys, bytes.Compare) {
			t.Errorf("%s keys are out of order: %x", name, keys)
		}
	}
}

func TestAnIndexRowHasItsPushAndTime(t *testing.T) {
	t.Parallel()
	p := record.Push{ID: record.ID{1, 2, 21: 3}, Owner: 7, State: record.Live, ExpiresAt: time.UnixMilli(1234).UTC()}
	if row := expiryRow(p); len(row) != expiryLen || lastID(row) != p.ID || !expiryTime(row).Equal(p.ExpiresAt) {
		t.Errorf("expiry row %x", row)
	}
	if row := ownerRow(p); len(row) != ownerLen || lastID(row) != p.ID {
		t.Errorf("owner row %x", row)
	}
	if p.Owner = 0; ownerRow(p) != nil {
		t.Error("a push without an owner has an owner row")
	}
}

func TestRowsOfFilesBeginWithTheirPush(t *testing.T) {
	t.Parallel()
	id, digest := record.ID{1, 2, 21: 3}, record.GrantDigest{4, 31: 5}
	if k := chunkKey(id, 6, 7); len(k) != chunkLen || record.ID(k[:idLen]) != id {
		t.Errorf("chunk key %x", k)
	}
	row := grantRow(record.Grant{Push: id, Digest: digest})
	if len(row) != idLen+digestLen || record.ID(row[:idLen]) != id || record.GrantDigest(row[idLen:]) != digest {
		t.Errorf("grant row %x", row)
	}
	closed := record.Push{ID: id, State: record.Expired, ExpiresAt: time.UnixMilli(20).UTC(), ExpiredAt: time.UnixMilli(5), Files: []byte("list"), GrantsEnd: time.UnixMilli(9).UTC()}
	if row := expiryRow(closed); row[0] != byte(record.Granted) || !expiryTime(row).Equal(closed.GrantsEnd) || lastID(row) != id {
		t.Errorf("expiry row %x", row)
	}
}

func TestEveryBucketHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for b := range bucketCount {
		if name := b.String(); name == "" || seen[name] {
			t.Errorf("bucket %d is called %q", b, name)
		} else {
			seen[name] = true
		}
	}
}
