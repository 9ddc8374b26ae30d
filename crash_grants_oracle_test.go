package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A witness tells the ledger what came of requests for the one file of a push.
type witness struct {
	l     *ledger
	p     *crashPush
	grant *crashGrant
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{l: newLedger(), p: &crashPush{limit: 3, owned: true, files: []crashFile{{seed: 1, size: 1000}}}}
	w.l.sendCreate(w.p)
	w.l.keep(w.p, crashRecord{ExpiresAt: time.Now().Add(time.Hour)})
	if err := w.viewed(2, w.p.payload, 1000); err != nil {
		t.Fatal(err)
	}
	w.grant = w.p.grants[0]
	return w
}

// viewed is a retrieval that names a file of so many bytes.
func (w *witness) viewed(left int, payload string, size int64) error {
	r := delivery(left, payload)
	r.Files = append(r.Files, struct {
		Filename string
		Size     int64
		URL      string
	}{nameOfFile(0), size, "http://127.0.0.1:1/d/grant/1"})
	return w.l.gotView(w.p, w.l.sendView(w.p, true), true, r)
}

// came is that some bytes of the file came after those that were had before.
func (w *witness) came(got []byte, whole bool) error {
	return w.l.gotFile(w.l.claims(w.p)[0], w.l.send(w.p), "tag", got, whole)
}

func (w *witness) gone() error { return w.l.gotNoFile(w.l.claims(w.p)[0]) }

func (w *witness) deleted() error {
	return w.l.gotDelete(w.p, w.l.sendDelete(w.p), crashRecord{Remaining: 2, Expired: true, Deleted: true})
}

// The ledger takes what a server may answer to downloads, and none of the
// answers of one that broke a promise.
func TestTheLedgerTellsRightFromWrongFiles(t *testing.T) {
	t.Parallel()
	all := crashFile{seed: 1, size: 1000}.bytes()
	for name, test := range map[string]struct {
		tell func(w *witness) error
		want string // the promise broken; empty: none
	}{
		"a file":                        {func(w *witness) error { return w.came(all, true) }, ""},
		"the start, then the rest":      {func(w *witness) error { return errors.Join(w.came(all[:400], false), w.came(all[400:], true)) }, ""},
		"none after a delete":           {func(w *witness) error { return errors.Join(w.deleted(), w.gone()) }, ""},
		"none after an unanswered one":  {func(w *witness) error { w.l.sendDelete(w.p); return w.gone() }, ""},
		"a file after an unanswered":    {func(w *witness) error { w.l.sendDelete(w.p); return w.came(all, true) }, ""},
		"other bytes":                   {func(w *witness) error { return w.came(append([]byte{all[0] + 1}, all[1:]...), true) }, "P7"},
		"other bytes, cut off":          {func(w *witness) error { return w.came([]byte{all[0] + 1}, false) }, "P7"},
		"a short file":                  {func(w *witness) error { return w.came(all[:999], true) }, "P7"},
		"the start again, not the rest": {func(w *witness) error { return errors.Join(w.came(all[:400], false), w.came(all[:600], true)) }, "P7"},
		"a retrieval of another length": {func(w *witness) error { return w.viewed(1, w.p.payload, 999) }, "P7"},
		"a retrieval without files": {func(w *witness) error {
			return w.l.gotView(w.p, w.l.sendView(w.p, true), true, delivery(1, w.p.payload))
		}, "P7"},
		"another entity tag": {func(w *witness) error {
			return errors.Join(w.came(all, true), w.l.gotFile(w.l.claims(w.p)[0], w.l.send(w.p), "other", all, true))
		}, "P7"},
		"none without a reason":   {func(w *witness) error { return w.gone() }, "P1"},
		"a file after a delete":   {func(w *witness) error { return errors.Join(w.deleted(), w.came(all, true)) }, "P5"},
		"a file after there none": {func(w *witness) error { w.l.sendDelete(w.p); return errors.Join(w.gone(), w.came(all, true)) }, "P5"},
		"a file after it came and a delete that did nothing": {func(w *witness) error {
			w.l.sendDelete(w.p)
			err := w.came(all, true)
			w.l.settleFiles(w.p)
			return errors.Join(err, w.gone())
		}, "P1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantBroken(t, test.tell(newWitness(t)), test.want)
		})
	}
}

// The ledger takes a wrong passphrase for no retrieval.
func TestTheLedgerTellsWhatAWrongPassphraseDid(t *testing.T) {
	t.Parallel()
	const payload = "s3cret"
	for name, test := range map[string]struct {
		answer crashRecord // to the wrong one
		ended  bool        // the push, by its only view
		want   string
	}{
		"it has expired": {crashRecord{Expired: true}, true, ""},
		"it opens":       {delivery(0, payload), false, "P6"},
		"it is counted":  {crashRecord{Expired: true}, false, "P3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, p := newLedger(), &crashPush{limit: 1, passphrase: "open sesame"}
			l.sendCreate(p)
			p.payload = payload
			l.keep(p, crashRecord{ExpiresAt: time.Now().Add(time.Hour)})
			if test.ended {
				wantBroken(t, l.gotView(p, l.sendView(p, true), true, delivery(0, payload)), "")
			}
			wantBroken(t, l.gotRefusal(p, l.send(p), test.answer), test.want)
		})
	}
}

// wantBroken fails the test unless the error names the promise, or there is none.
func wantBroken(t *testing.T, err error, promise string) {
	t.Helper()
	if promise == "" && err != nil || promise != "" && (err == nil || !strings.Contains(err.Error(), promise)) {
		t.Errorf("it says %v", err)
	}
}
