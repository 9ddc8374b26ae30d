package bolt

import (
	"bytes"
	"math"
	"reflect"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

// FuzzJournalRow checks that a row that is read and written again is the same, or means
// the same.
func FuzzJournalRow(f *testing.F) {
	for _, r := range []journalRow{
		{id: record.ID{1, 21: 2}, delta: delta{views: 1, seq: 2, updated: 1}, entry: []byte("entry")},
		{delta: delta{views: math.MaxInt32, seq: math.MaxUint32, minor: math.MaxUint32, updated: -62135596800000}, entry: []byte{0}},
		{id: record.ID{1, 21: 2}, delta: delta{views: 1, seq: 2, updated: 1, state: record.Live, grants: 5}, entry: []byte("entry")},
		{delta: delta{seq: 1, state: record.Expired, files: true, owner: math.MaxUint64, expires: math.MaxInt64, expired: -1}},
		{delta: delta{seq: 1, state: record.Deleted, owner: 1, expires: 2, expired: 1}, entry: []byte("entry")},
	} {
		b, err := r.AppendBinary(nil)
		env.OK(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again journalRow
		if r.UnmarshalBinary(b) != nil {
			return
		}
		c, err := r.AppendBinary(nil)
		env.OK(t, err)
		if err := again.UnmarshalBinary(c); err != nil || again.id != r.id || again.delta != r.delta || !bytes.Equal(again.entry, r.entry) {
			t.Errorf("%x became %+v, %v", b, again, err)
		}
	})
}

func TestCountsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, p := range []record.Push{{}, testPush(1), {Views: 3, Seq: 4, Minor: 5, UpdatedAt: testPush(2).CreatedAt}} {
		q := p
		q.Views, q.Seq, q.Minor, q.UpdatedAt = 9, 9, 9, testPush(3).CreatedAt
		deltaOf(p).applyTo(&q)
		if deltaOf(q) != deltaOf(p) || !q.UpdatedAt.Equal(p.UpdatedAt) || q.UpdatedAt.IsZero() != p.UpdatedAt.IsZero() {
			t.Errorf("%+v became %+v", deltaOf(p), deltaOf(q))
		}
	}
}

// An end leaves neither the key of a push nor, if it gives them up, its files.
func TestAnEndTakesAllThatItDestroys(t *testing.T) {
	t.Parallel()
	live := testPush(1)
	live.Files, live.Stored, live.GrantsEnd = []byte("sealed names"), 5, testPush(3).ExpiresAt
	kept, given := live, live
	kept.State, kept.ExpiredAt, kept.Wrap = record.Expired, testPush(2).ExpiresAt, nil
	given.State, given.ExpiredAt, given.Wrap = record.Deleted, testPush(2).ExpiresAt, nil
	given.Files, given.Stored, given.GrantsEnd = nil, 0, time.Time{}
	for _, want := range []record.Push{kept, given} {
		for _, from := range []record.Push{live, want} {
			got := from
			if deltaOf(want).applyTo(&got); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v became %+v", from, got)
			}
		}
		q := deltaOf(want).indexed(want.ID)
		if !bytes.Equal(expiryRow(q), expiryRow(want)) || !bytes.Equal(ownerRow(q), ownerRow(want)) {
			t.Errorf("%+v has other index rows than %+v", q, want)
		}
	}
}

// Rows of schema 5 have counts alone, and leave all else as the record has it.
func TestRowsOfTheFirstVersionAreRead(t *testing.T) {
	t.Parallel()
	b := append([]byte{1}, make([]byte, idLen)...)
	b = append(b, 3, 4, 1, 10) // views, entries, minor entries, and a time of 5 ms
	var r journalRow
	if err := r.UnmarshalBinary(append(b, "entry"...)); err != nil || string(r.entry) != "entry" || r.ended() {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, p := range []record.Push{testPush(1), {State: record.Expired, ExpiredAt: testPush(1).ExpiresAt, GrantsEnd: testPush(2).ExpiresAt, Files: []byte("sealed names"), Stored: 5}} {
		want := p
		want.Views, want.Seq, want.Minor, want.UpdatedAt = 3, 4, 1, time.UnixMilli(5).UTC()
		if r.applyTo(&p); !reflect.DeepEqual(p, want) {
			t.Errorf("%+v, not %+v", p, want)
		}
	}
}
