package cold_test

import (
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestRepeats(t *testing.T) {
	suite{
		"repeats are kept for a day":           keepsRepeats,
		"repeats are cleared batch by batch":   clearsRepeats,
		"the end of one does not touch others": endsOneRepeat,
	}.run(t)
}

// repeat keeps the n-th repeat, of a push that is made n seconds after epoch.
func repeat(t *testing.T, e record.Engine, n int) record.Repeat {
	t.Helper()
	r := record.Repeat{ID: record.RepeatID{byte(n + 1), 15: byte(n)}, At: epoch.Add(time.Duration(n) * time.Second), Sealed: []byte{byte(n)}}
	p := conformance.LivePush(n, 0)
	entry := conformance.Creation(p)
	entry.Repeat = &r
	must(t, conformance.Made(e.CreatePush(t.Context(), p, conformance.Payload(n), entry)))
	return r
}

func wantRepeats(t *testing.T, e record.Engine, all []record.Repeat, kept ...int) {
	t.Helper()
	there := make(map[int]bool)
	for _, n := range kept {
		there[n] = true
	}
	for n, r := range all {
		found, err := cold.Repeat(t.Context(), e, r.ID)
		if !there[n] {
			wantErr(t, err, record.ErrNotFound)
			continue
		}
		must(t, err)
		same(t, "repeat", found, r)
	}
}

func repeats(t *testing.T, e record.Engine, n int) (all []record.Repeat) {
	t.Helper()
	for i := range n {
		all = append(all, repeat(t, e, i))
	}
	return all
}

func keepsRepeats(t *testing.T, e record.Engine) {
	all := repeats(t, e, 1)
	end := epoch.Add(24 * time.Hour)
	must(t, cold.EndRepeat(t.Context(), e, all[0].ID, end.Add(-time.Millisecond)))
	wantRepeats(t, e, all, 0)
	must(t, cold.EndRepeat(t.Context(), e, all[0].ID, end))
	wantRepeats(t, e, all)
	must(t, cold.EndRepeat(t.Context(), e, all[0].ID, end))
}

func clearsRepeats(t *testing.T, e record.Engine) {
	all := repeats(t, e, 5)
	end := epoch.Add(24*time.Hour + 2*time.Second) // 0 to 2 are over
	last, more, err := cold.ClearRepeats(t.Context(), e, record.RepeatID{}, 2, end)
	must(t, err)
	same(t, "last", last, all[1].ID)
	same(t, "more", more, true)
	wantRepeats(t, e, all, 2, 3, 4)
	last, more, err = cold.ClearRepeats(t.Context(), e, last, 9, end)
	must(t, err)
	same(t, "last", last, all[4].ID)
	same(t, "more", more, false)
	wantRepeats(t, e, all, 3, 4)
	last, more, err = cold.ClearRepeats(t.Context(), e, last, 9, end)
	must(t, err)
	same(t, "last of none", last, all[4].ID)
	same(t, "more than none", more, false)
}

func endsOneRepeat(t *testing.T, e record.Engine) {
	all := repeats(t, e, 3)
	must(t, cold.EndRepeat(t.Context(), e, all[1].ID, epoch.AddDate(0, 0, 2)))
	wantRepeats(t, e, all, 0, 2)
}
