package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// A crashPush is what the clients know of a push. The server may know more:
// of requests that it never answered.
type crashPush struct {
	name, token, payload string
	passphrase           string // empty: none
	limit                int
	owned, deletable     bool
	cycle                uint64 // in which it was last used

	delivered int          // complete deliveries that count
	pending   int          // retrievals that may have counted: sent and not answered
	left      map[int]bool // what the deliveries said was left; each says another number
	deletes   int          // sent, answered or not
	ended     bool         // an answer said so
	endsAt    time.Time

	files    []crashFile
	grants   []*crashGrant // the newest, as its owner or its viewers were given them
	released bool          // its files are gone for good
}

// String is all of it but the payload.
func (p *crashPush) String() string {
	return fmt.Sprintf("limit %d, owned %t, delivered %d, unanswered %d, deletes %d, ended %t", p.limit, p.owned, p.delivered, p.pending, p.deletes, p.ended)
}

// A crashRecord is what an answer says of a push.
type crashRecord struct {
	Token     string    `json:"url_token"`
	Name      string    `json:"name"`
	Remaining int       `json:"views_remaining"`
	Expired   bool      `json:"expired"`
	Deleted   bool      `json:"deleted"`
	ExpiresAt time.Time `json:"expires_at"`
	Payload   *string   `json:"payload"`
	Files     []struct {
		Filename string
		Size     int64
		URL      string
	}
}

// A glimpse is what was known when a request was sent.
type glimpse struct {
	delivered       int
	ended, released bool
}

// A ledger has all pushes that were acknowledged, and judges every answer by
// what was sent and answered before.
type ledger struct {
	mu     sync.Mutex
	cycle  uint64
	made   int
	pushes []*crashPush
	filed  []*crashPush          // those with files
	locked []*crashPush          // those with a passphrase
	lost   map[string]*crashPush // creates that were not answered, by name

	views, deletes, refusals   int // that were answered
	downloads, denied, resumed int
	grantsIssued               int
}

func newLedger() *ledger { return &ledger{lost: make(map[string]*crashPush)} }

// begin begins a cycle.
func (l *ledger) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cycle++
}

func (l *ledger) all() []*crashPush {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*crashPush(nil), l.pushes...)
}

// touched are the pushes that were used in this cycle.
func (l *ledger) touched() (used []*crashPush) {
	for _, p := range l.all() {
		if p.cycle == l.cycle {
			used = append(used, p)
		}
	}
	return used
}

// pick chooses a push, mostly one of the newest; nil if there is none.
func (l *ledger) pick(rng *rand.Rand) *crashPush {
	const newest = 48
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.pushes)
	if n == 0 {
		return nil
	}
	from := 0
	if rng.IntN(5) > 0 {
		from = max(0, n-newest)
	}
	return l.pushes[from+rng.IntN(n-from)]
}

// sendCreate notes that a push was sent, and gives it its name.
func (l *ledger) sendCreate(p *crashPush) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	p.name = fmt.Sprintf("push %d", l.made)
	p.payload = p.name + ": " + p.payload
	l.lost[p.name] = p
}

// keep notes that a push is there.
func (l *ledger) keep(p *crashPush, r crashRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.lost, p.name)
	p.token, p.endsAt, p.cycle, p.left = r.Token, r.ExpiresAt, l.cycle, make(map[int]bool)
	l.pushes = append(l.pushes, p)
	if len(p.files) > 0 {
		l.filed = append(l.filed, p)
	}
	if p.passphrase != "" {
		l.locked = append(l.locked, p)
	}
}

// pickLocked chooses one of the newest pushes with a passphrase; nil if there is
// none.
func (l *ledger) pickLocked(rng *rand.Rand) *crashPush {
	const newest = 4
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.locked) == 0 {
		return nil
	}
	return l.locked[len(l.locked)-1-rng.IntN(min(newest, len(l.locked)))]
}

// over are the tokens of pushes that have ended for all to know.
func (l *ledger) over() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	over := make(map[string]bool)
	for _, p := range l.pushes {
		if p.ended {
			over[p.token] = true
		}
	}
	return over
}

// send notes a request about a push that does not change it.
func (l *ledger) send(p *crashPush) glimpse {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.cycle = l.cycle
	return glimpse{delivered: p.delivered, ended: p.ended, released: p.released}
}

// sendView notes that a retrieval was sent; one of the owner's does not count.
func (l *ledger) sendView(p *crashPush, counts bool) glimpse {
	before := l.send(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	if counts {
		p.pending++
	}
	return before
}

func (l *ledger) sendDelete(p *crashPush) glimpse {
	before := l.send(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	p.deletes++
	return before
}

// gotView judges the answer to a retrieval.
func (l *ledger) gotView(p *crashPush, before glimpse, counts bool, r crashRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.views++
	if counts {
		p.pending--
	}
	if r.Payload == nil {
		if !r.Expired || len(r.Files) > 0 {
			return errors.New("P7: a retrieval without payload")
		}
		return p.judge(before, r)
	}
	if counts {
		p.delivered++
		before.delivered++
	}
	err := p.judge(before, r)
	switch {
	case *r.Payload != p.payload:
		err = errors.Join(err, errors.New("P7: another payload came than was sent"))
	case r.Expired:
		err = errors.Join(err, errors.New("P7: an expired push with payload"))
	case counts && p.left[r.Remaining]:
		err = errors.Join(err, fmt.Errorf("P3: two deliveries left %d views", r.Remaining))
	}
	if counts {
		p.left[r.Remaining] = true
	}
	return errors.Join(err, l.issue(p, r))
}

// refuse notes that a wrong passphrase was refused.
func (l *ledger) refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals++
}

// gotRefusal judges the answer to a wrong passphrase where that is the push: it
// can only be one that has expired.
func (l *ledger) gotRefusal(p *crashPush, before glimpse, r crashRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.Expired || r.Payload != nil || len(r.Files) > 0 {
		return errors.New("P6: a wrong passphrase opens it")
	}
	return p.judge(before, r)
}

// gotDelete judges the answer to a delete.
func (l *ledger) gotDelete(p *crashPush, before glimpse, r crashRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deletes++
	if !r.Expired {
		return errors.New("P5: deleted and not expired")
	}
	p.released = true
	return p.judge(before, r)
}

// gotViewEntries judges how many entries of kind view the audit log has.
func (l *ledger) gotViewEntries(p *crashPush, before glimpse, n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < before.delivered || n > p.delivered+p.pending {
		return fmt.Errorf("P4: %d entries of kind view", n)
	}
	return nil
}

// judge compares the record in an answer with what is known.
func (p *crashPush) judge(before glimpse, r crashRecord) (err error) {
	note := func(wrong bool, format string, args ...any) {
		if wrong {
			err = errors.Join(err, fmt.Errorf(format, args...))
		}
	}
	counted, most := p.limit-r.Remaining, p.delivered+p.pending
	meant := p.deletes > 0 || most >= p.limit || !time.Now().Before(p.endsAt)
	note(p.delivered > p.limit, "P2: delivered %d times", p.delivered)
	note(counted < before.delivered, "P3: it counts %d views, %d were delivered", counted, before.delivered)
	note(counted > most, "P3: it counts %d views, and no more than %d can be", counted, most)
	note(r.Expired && !meant, "P1: it has expired and nobody wanted that")
	note(r.Deleted && p.deletes == 0, "P1: it was deleted and nobody wanted that")
	note(!r.Expired && before.ended, "P5: it had expired and is back")
	p.ended = p.ended || r.Expired
	p.released = p.released || r.Deleted
	if err != nil {
		err = fmt.Errorf("%w (%v)", err, p)
	}
	return err
}

// settle makes what an answer says of a push that nobody else uses the truth:
// a retrieval that was cut off has counted by then, or never will, and a delete
// that was cut off has not ended what is live.
func (l *ledger) settle(p *crashPush, r crashRecord) (counted int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	counted = p.limit - r.Remaining
	p.pending = max(0, counted-p.delivered)
	if !r.Expired {
		p.deletes = 0
	}
	return counted
}

// String tells what there was to judge.
func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	cut := 0
	for _, p := range l.pushes {
		cut += p.pending
	}
	return fmt.Sprintf("%d kills: %d pushes (%d with files), %d creates cut off, %d retrievals, %d deletes and %d wrong passphrases answered, %d views counted and cut off; %d grants, %d downloads, %d of them resumed after a kill, %d denied",
		l.cycle, len(l.pushes), len(l.filed), len(l.lost), l.views, l.deletes, l.refusals, cut, l.grantsIssued, l.downloads, l.resumed, l.denied)
}
