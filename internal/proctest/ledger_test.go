package proctest

import (
	"testing"
	"time"
)

// The ledger accepts what a server may answer after a kill, and refuses each answer
// that breaks a promise.
func TestTheLedgerRefusesWrongAnswers(t *testing.T) {
	t.Parallel()
	const payload = "s3cret"
	for name, test := range map[string]struct {
		limit int
		tell  func(view, remove func(Record) error, cut func()) error
		want  string // the promise broken; empty: none
	}{
		"two views": {2, func(view, _ func(Record) error, _ func()) error {
			_ = view(delivery(1, payload))
			return view(delivery(0, payload))
		}, ""},
		"a view cut off after it was counted": {2, func(view, _ func(Record) error, cut func()) error {
			cut()
			return view(delivery(0, payload))
		}, ""},
		"a view cut off before it was counted": {2, func(view, _ func(Record) error, cut func()) error {
			cut()
			return view(delivery(1, payload))
		}, ""},
		"the only view cut off": {1, func(view, _ func(Record) error, cut func()) error {
			cut()
			return view(Record{Expired: true})
		}, ""},
		"a delete": {2, func(view, remove func(Record) error, _ func()) error {
			_ = remove(Record{Remaining: 2, Expired: true, Deleted: true})
			return view(Record{Remaining: 2, Expired: true, Deleted: true})
		}, ""},

		"expired without a reason": {1, func(view, _ func(Record) error, _ func()) error {
			return view(Record{Remaining: 1, Expired: true})
		}, "P1"},
		"deleted without a reason": {1, func(view, _ func(Record) error, cut func()) error {
			cut()
			return view(Record{Remaining: 1, Expired: true, Deleted: true})
		}, "P1"},
		"delivered twice at limit 1": {1, func(view, _ func(Record) error, _ func()) error {
			_ = view(delivery(0, payload))
			return view(delivery(0, payload))
		}, "P2"},
		"a count that was lost": {3, func(view, _ func(Record) error, cut func()) error {
			_ = view(delivery(2, payload))
			cut()
			return view(delivery(2, payload))
		}, "P3"},
		"a count without a view": {3, func(view, _ func(Record) error, _ func()) error {
			return view(delivery(1, payload))
		}, "P3"},
		"two cut off and three counted": {5, func(view, _ func(Record) error, cut func()) error {
			cut()
			cut()
			return view(delivery(1, payload))
		}, "P3"},
		"delivered after a delete": {2, func(view, remove func(Record) error, _ func()) error {
			_ = remove(Record{Remaining: 2, Expired: true, Deleted: true})
			return view(delivery(1, payload))
		}, "P5"},
		"deleted and live": {2, func(_, remove func(Record) error, _ func()) error {
			return remove(Record{Remaining: 2})
		}, "P5"},
		"another payload": {2, func(view, _ func(Record) error, _ func()) error {
			return view(delivery(1, "other"))
		}, "P7"},
		"no payload": {2, func(view, _ func(Record) error, _ func()) error {
			return view(Record{Remaining: 1})
		}, "P7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, p := NewLedger(), &Push{Limit: test.limit}
			l.sendCreate(p)
			p.Payload = payload
			l.keep(p, Record{ExpiresAt: time.Now().Add(time.Hour)})
			err := test.tell(
				func(r Record) error { return l.gotView(p, l.send(p, &p.Pending), true, r) },
				func(r Record) error { return l.gotDelete(p, l.send(p, &p.Deletes), r) },
				func() { l.send(p, &p.Pending) },
			)
			wantBroken(t, err, test.want)
		})
	}
}

func delivery(left int, payload string) Record {
	return Record{Remaining: left, Payload: &payload}
}
