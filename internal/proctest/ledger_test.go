package proctest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

// A story is what a server answers about one push. Each of its steps returns the promise
// that the answer breaks.
type story struct {
	l *Ledger
	p *Push
}

func newStory(p *Push) story {
	s := story{NewLedger(), p}
	s.l.sendCreate(p)
	s.l.keep(p, Record{ExpiresAt: time.Now().Add(time.Hour)})
	return s
}

// answered is an answer to a retrieval.
func (s story) answered(r Record) error {
	return s.l.gotView(s.p, s.l.send(s.p, &s.p.Pending), true, r)
}

// ended is an answer to a retrieval of a push that has ended.
func (s story) ended(left int, byHand bool) error {
	return s.answered(Record{Remaining: left, Expired: true, Deleted: byHand})
}

// came is an answer to a retrieval with that payload.
func (s story) came(left int, payload string) error {
	return s.answered(Record{Remaining: left, Payload: &payload})
}

func (s story) viewed(left int) error { return s.came(left, s.p.Payload) }

func (s story) deleted() error {
	return s.l.gotDelete(s.p, s.l.send(s.p, &s.p.Deletes), Record{Remaining: s.p.Limit - s.p.delivered, Expired: true, Deleted: true})
}

// guessed is an answer to a wrong passphrase.
func (s story) guessed(r Record) error { return s.l.gotRefusal(s.p, s.l.send(s.p, nil), r) }

// cut is a request without an answer.
func (s story) cut(count *int) error {
	s.l.send(s.p, count)
	return nil
}

func (s story) cutView() error { return s.cut(&s.p.Pending) }

func (s story) cutDelete() error { return s.cut(&s.p.Deletes) }

// wantBroken fails the test unless the steps break the promise, or none if it is empty.
func wantBroken(t *testing.T, promise string, steps ...error) {
	t.Helper()
	err := errors.Join(steps...)
	if promise == "" && err != nil || promise != "" && (err == nil || !strings.Contains(err.Error(), promise)) {
		t.Errorf("it says %v", err)
	}
}

// The ledger accepts what a server may answer after a kill, and refuses each answer
// that breaks a promise.
func TestTheLedgerRefusesWrongAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit int
		want  string // the promise broken; empty: none
		tell  func(s story) []error
	}{
		"two views":                            {2, "", func(s story) []error { return []error{s.viewed(1), s.viewed(0)} }},
		"a view cut off after it was counted":  {2, "", func(s story) []error { return []error{s.cutView(), s.viewed(0)} }},
		"a view cut off before it was counted": {2, "", func(s story) []error { return []error{s.cutView(), s.viewed(1)} }},
		"the only view cut off":                {1, "", func(s story) []error { return []error{s.cutView(), s.ended(0, false)} }},
		"a delete":                             {2, "", func(s story) []error { return []error{s.deleted(), s.ended(2, true)} }},
		"a wrong passphrase after the end":     {1, "", func(s story) []error { return []error{s.viewed(0), s.guessed(Record{Expired: true})} }},

		"expired without a reason":       {1, "P1", func(s story) []error { return []error{s.ended(1, false)} }},
		"deleted without a reason":       {1, "P1", func(s story) []error { return []error{s.cutView(), s.ended(1, true)} }},
		"delivered twice at limit 1":     {1, "P2", func(s story) []error { return []error{s.viewed(0), s.viewed(0)} }},
		"a count that was lost":          {3, "P3", func(s story) []error { return []error{s.viewed(2), s.cutView(), s.viewed(2)} }},
		"a count without a view":         {3, "P3", func(s story) []error { return []error{s.viewed(1)} }},
		"two cut off and three counted":  {5, "P3", func(s story) []error { return []error{s.cutView(), s.cutView(), s.viewed(1)} }},
		"a wrong passphrase that counts": {1, "P3", func(s story) []error { return []error{s.guessed(Record{Expired: true})} }},
		"delivered after a delete":       {2, "P5", func(s story) []error { return []error{s.deleted(), s.viewed(1)} }},
		"deleted and live": {2, "P5", func(s story) []error {
			return []error{s.l.gotDelete(s.p, s.l.send(s.p, &s.p.Deletes), Record{Remaining: 2})}
		}},
		"a wrong passphrase that opens": {1, "P6", func(s story) []error { return []error{s.guessed(Record{Payload: &s.p.Payload})} }},
		"another payload":               {2, "P7", func(s story) []error { return []error{s.came(1, "other")} }},
		"no payload":                    {2, "P7", func(s story) []error { return []error{s.answered(Record{Remaining: 1})} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantBroken(t, test.want, test.tell(newStory(&Push{Limit: test.limit}))...)
		})
	}
}

// viewedFile is an answer to a retrieval that names a file of that many bytes.
func (s story) viewedFile(left int, size int64) error {
	r := Record{Remaining: left, Payload: &s.p.Payload}
	r.Files = append(r.Files, struct {
		Filename string
		Size     int64
		URL      string
	}{nameOfFile(0), size, "http://127.0.0.1:1/d/grant/1"})
	return s.answered(r)
}

// file is an answer with bytes of the file, after those that came before.
func (s story) file(tag string, got []byte, whole bool) error {
	return s.l.gotFile(s.l.claims(s.p)[0], s.l.send(s.p, nil), tag, got, whole)
}

func (s story) noFile() error { return s.l.gotNoFile(s.l.claims(s.p)[0]) }

// settled is a time without clients, after which a delete that was cut off ends nothing.
func (s story) settled() error {
	s.l.settleFiles(s.p)
	return nil
}

// The ledger accepts what a server may answer to downloads, and refuses each answer
// that breaks a promise.
func TestTheLedgerRefusesWrongFiles(t *testing.T) {
	t.Parallel()
	all := File{Seed: 1, Size: 1000}.Bytes()
	other := append([]byte{all[0] + 1}, all[1:]...)
	for name, test := range map[string]struct {
		want string // the promise broken; empty: none
		tell func(s story) []error
	}{
		"a file":                         {"", func(s story) []error { return []error{s.file("tag", all, true)} }},
		"the start, then the rest":       {"", func(s story) []error { return []error{s.file("tag", all[:400], false), s.file("tag", all[400:], true)} }},
		"no file after a delete":         {"", func(s story) []error { return []error{s.deleted(), s.noFile()} }},
		"no file after a delete cut off": {"", func(s story) []error { return []error{s.cutDelete(), s.noFile()} }},
		"a file after a delete cut off":  {"", func(s story) []error { return []error{s.cutDelete(), s.file("tag", all, true)} }},
		"other bytes":                    {"P7", func(s story) []error { return []error{s.file("tag", other, true)} }},
		"other bytes, cut off":           {"P7", func(s story) []error { return []error{s.file("tag", other[:1], false)} }},
		"a short file":                   {"P7", func(s story) []error { return []error{s.file("tag", all[:999], true)} }},
		"the start again, not the rest":  {"P7", func(s story) []error { return []error{s.file("tag", all[:400], false), s.file("tag", all[:600], true)} }},
		"a retrieval of another length":  {"P7", func(s story) []error { return []error{s.viewedFile(1, 999)} }},
		"a retrieval without files":      {"P7", func(s story) []error { return []error{s.viewed(1)} }},
		"another entity tag":             {"P7", func(s story) []error { return []error{s.file("tag", all, true), s.file("other", all, true)} }},
		"no file without a reason":       {"P1", func(s story) []error { return []error{s.noFile()} }},
		"no file after a lost delete": {"P1", func(s story) []error {
			return []error{s.cutDelete(), s.file("tag", all, true), s.settled(), s.noFile()}
		}},
		"a file after a delete":       {"P5", func(s story) []error { return []error{s.deleted(), s.file("tag", all, true)} }},
		"a file after there was none": {"P5", func(s story) []error { return []error{s.cutDelete(), s.noFile(), s.file("tag", all, true)} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(&Push{Limit: 3, Owned: true, files: []File{{Seed: 1, Size: 1000}}})
			env.OK(t, s.viewedFile(2, 1000))
			wantBroken(t, test.want, test.tell(s)...)
		})
	}
}
