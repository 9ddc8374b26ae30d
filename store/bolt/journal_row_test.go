package bolt

import (
	"bytes"
	"math"
	"testing"

	"pushbox/store"
)

// FuzzJournalRow: what is read and written again is the same, or means the same.
func FuzzJournalRow(f *testing.F) {
	for _, r := range []journalRow{
		{id: store.ID{1, 21: 2}, delta: delta{views: 1, seq: 2, updated: 1}, entry: []byte("entry")},
		{delta: delta{views: math.MaxInt32, seq: math.MaxUint32, minor: math.MaxUint32, updated: -62135596800000}},
	} {
		b, err := r.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again journalRow
		if r.UnmarshalBinary(b) != nil {
			return
		}
		c, err := r.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(c); err != nil || again.id != r.id || again.delta != r.delta || !bytes.Equal(again.entry, r.entry) {
			t.Errorf("%x became %+v, %v", b, again, err)
		}
	})
}

func TestCountsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, p := range []store.Push{{}, testPush(1), {Views: 3, Seq: 4, Minor: 5, UpdatedAt: testPush(2).CreatedAt}} {
		q := p
		q.Views, q.Seq, q.Minor, q.UpdatedAt = 9, 9, 9, testPush(3).CreatedAt
		deltaOf(p).applyTo(&q)
		if deltaOf(q) != deltaOf(p) || !q.UpdatedAt.Equal(p.UpdatedAt) || q.UpdatedAt.IsZero() != p.UpdatedAt.IsZero() {
			t.Errorf("%+v became %+v", deltaOf(p), deltaOf(q))
		}
	}
}
