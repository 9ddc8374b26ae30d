package proctest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
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

// A fileLedger is a ledger with one push of one file, for the answers to requests.
type fileLedger struct {
	l     *Ledger
	p     *Push
	grant *grant
}

func newFileLedger(t *testing.T) *fileLedger {
	t.Helper()
	w := &fileLedger{l: NewLedger(), p: &Push{Limit: 3, Owned: true, files: []File{{Seed: 1, Size: 1000}}}}
	w.l.sendCreate(w.p)
	w.l.keep(w.p, Record{ExpiresAt: time.Now().Add(time.Hour)})
	env.OK(t, w.viewed(2, w.p.Payload, 1000))
	w.grant = w.p.grants[0]
	return w
}

// viewed is a retrieval that names a file of that many bytes.
func (w *fileLedger) viewed(left int, payload string, size int64) error {
	r := delivery(left, payload)
	r.Files = append(r.Files, struct {
		Filename string
		Size     int64
		URL      string
	}{nameOfFile(0), size, "http://127.0.0.1:1/d/grant/1"})
	return w.l.gotView(w.p, w.l.send(w.p, &w.p.Pending), true, r)
}

// came is an answer with bytes of the file, after those that came before.
func (w *fileLedger) came(got []byte, whole bool) error {
	return w.l.gotFile(w.l.claims(w.p)[0], w.l.send(w.p, nil), "tag", got, whole)
}

func (w *fileLedger) gone() error { return w.l.gotNoFile(w.l.claims(w.p)[0]) }

func (w *fileLedger) deleted() error {
	return w.l.gotDelete(w.p, w.l.send(w.p, &w.p.Deletes), Record{Remaining: 2, Expired: true, Deleted: true})
}

// The ledger accepts what a server may answer to downloads, and refuses each answer
// that breaks a promise.
func TestTheLedgerRefusesWrongFiles(t *testing.T) {
	t.Parallel()
	all := File{Seed: 1, Size: 1000}.Bytes()
	for name, test := range map[string]struct {
		tell func(w *fileLedger) error
		want string // the promise broken; empty: none
	}{
		"a file":                             {func(w *fileLedger) error { return w.came(all, true) }, ""},
		"the start, then the rest":           {func(w *fileLedger) error { return errors.Join(w.came(all[:400], false), w.came(all[400:], true)) }, ""},
		"no file after a delete":             {func(w *fileLedger) error { return errors.Join(w.deleted(), w.gone()) }, ""},
		"no file after an unanswered delete": {func(w *fileLedger) error { w.l.send(w.p, &w.p.Deletes); return w.gone() }, ""},
		"a file after an unanswered delete":  {func(w *fileLedger) error { w.l.send(w.p, &w.p.Deletes); return w.came(all, true) }, ""},
		"other bytes":                        {func(w *fileLedger) error { return w.came(append([]byte{all[0] + 1}, all[1:]...), true) }, "P7"},
		"other bytes, cut off":               {func(w *fileLedger) error { return w.came([]byte{all[0] + 1}, false) }, "P7"},
		"a short file":                       {func(w *fileLedger) error { return w.came(all[:999], true) }, "P7"},
		"the start again, not the rest":      {func(w *fileLedger) error { return errors.Join(w.came(all[:400], false), w.came(all[:600], true)) }, "P7"},
		"a retrieval of another length":      {func(w *fileLedger) error { return w.viewed(1, w.p.Payload, 999) }, "P7"},
		"a retrieval without files": {func(w *fileLedger) error {
			return w.l.gotView(w.p, w.l.send(w.p, &w.p.Pending), true, delivery(1, w.p.Payload))
		}, "P7"},
		"another entity tag": {func(w *fileLedger) error {
			return errors.Join(w.came(all, true), w.l.gotFile(w.l.claims(w.p)[0], w.l.send(w.p, nil), "other", all, true))
		}, "P7"},
		"no file without a reason": {func(w *fileLedger) error { return w.gone() }, "P1"},
		"a file after a delete":    {func(w *fileLedger) error { return errors.Join(w.deleted(), w.came(all, true)) }, "P5"},
		"a file after there was none": {func(w *fileLedger) error {
			w.l.send(w.p, &w.p.Deletes)
			return errors.Join(w.gone(), w.came(all, true))
		}, "P5"},
		"a file after it came and a delete that did nothing": {func(w *fileLedger) error {
			w.l.send(w.p, &w.p.Deletes)
			err := w.came(all, true)
			w.l.settleFiles(w.p)
			return errors.Join(err, w.gone())
		}, "P1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantBroken(t, test.tell(newFileLedger(t)), test.want)
		})
	}
}

// The ledger does not count a wrong passphrase as a retrieval.
func TestTheLedgerJudgesAWrongPassphrase(t *testing.T) {
	t.Parallel()
	const payload = "s3cret"
	for name, test := range map[string]struct {
		answer Record // to the wrong one
		ended  bool   // the push, by its only view
		want   string
	}{
		"it has expired": {Record{Expired: true}, true, ""},
		"it opens":       {delivery(0, payload), false, "P6"},
		"it is counted":  {Record{Expired: true}, false, "P3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, p := NewLedger(), &Push{Limit: 1, passphrase: "open sesame"}
			l.sendCreate(p)
			p.Payload = payload
			l.keep(p, Record{ExpiresAt: time.Now().Add(time.Hour)})
			if test.ended {
				wantBroken(t, l.gotView(p, l.send(p, &p.Pending), true, delivery(0, payload)), "")
			}
			wantBroken(t, l.gotRefusal(p, l.send(p, nil), test.answer), test.want)
		})
	}
}

// wantBroken fails the test unless the error names the promise, or there is none if the
// promise is empty.
func wantBroken(t *testing.T, err error, promise string) {
	t.Helper()
	if promise == "" && err != nil || promise != "" && (err == nil || !strings.Contains(err.Error(), promise)) {
		t.Errorf("it says %v", err)
	}
}
