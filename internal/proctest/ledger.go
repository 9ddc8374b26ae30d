package proctest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// A Push is what the clients know of a push. The server may know more, from requests
// that it did not answer.
type Push struct {
	Name, Token, Payload string
	passphrase           string // empty: none
	Limit                int
	Owned, Deletable     bool
	cycle                uint64 // in which it was last used

	delivered int          // complete deliveries that count
	Pending   int          // retrievals that were sent and not answered: they may have counted
	left      map[int]bool // the views left, as deliveries reported them; each reports another number
	Deletes   int          // sent, answered or not
	ended     bool         // as an answer reported
	endsAt    time.Time

	files    []File
	grants   []*grant // the newest of those that its owner and viewers got
	released bool     // its files are gone for good
}

// String is all of the Push except the payload.
func (p *Push) String() string {
	return fmt.Sprintf("limit %d, owned %t, delivered %d, unanswered %d, deletes %d, ended %t", p.Limit, p.Owned, p.delivered, p.Pending, p.Deletes, p.ended)
}

// A Record is a push in an answer of the API.
type Record struct {
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

// A Ledger has all pushes that were acknowledged, and judges every answer by what was
// sent and answered before. Its errors name the broken promise.
type Ledger struct {
	mu     sync.Mutex
	cycle  uint64
	made   int
	pushes []*Push
	filed  []*Push          // those with files
	locked []*Push          // those with a passphrase
	lost   map[string]*Push // creates that were not answered, by name

	views, deletes, refusals   int // that were answered
	downloads, denied, resumed int
	grantsIssued               int
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger { return &Ledger{lost: make(map[string]*Push)} }

// begin begins another cycle.
func (l *Ledger) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cycle++
}

// All are the pushes that were acknowledged.
func (l *Ledger) All() []*Push {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*Push(nil), l.pushes...)
}

// Touched are the pushes that were used in this cycle.
func (l *Ledger) Touched() (used []*Push) {
	for _, p := range l.All() {
		if p.cycle == l.cycle {
			used = append(used, p)
		}
	}
	return used
}

// pick chooses a push, mostly one of the newest; nil if there is none.
func (l *Ledger) pick(rng *rand.Rand) *Push {
	l.mu.Lock()
	defer l.mu.Unlock()
	among := len(l.pushes)
	if rng.IntN(5) > 0 {
		among = 48
	}
	return newest(rng, l.pushes, among)
}

// newest chooses one of the newest pushes; nil if there is none.
func newest(rng *rand.Rand, ps []*Push, among int) *Push {
	if len(ps) == 0 {
		return nil
	}
	return ps[len(ps)-1-rng.IntN(min(among, len(ps)))]
}

// sendCreate records that a create is sent, and names the push.
func (l *Ledger) sendCreate(p *Push) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	p.Name = fmt.Sprintf("push %d", l.made)
	p.Payload = p.Name + ": " + p.Payload
	l.lost[p.Name] = p
}

// keep records that a create was acknowledged.
func (l *Ledger) keep(p *Push, r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.lost, p.Name)
	p.Token, p.endsAt, p.cycle, p.left = r.Token, r.ExpiresAt, l.cycle, make(map[int]bool)
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
func (l *Ledger) pickLocked(rng *rand.Rand) *Push {
	l.mu.Lock()
	defer l.mu.Unlock()
	return newest(rng, l.locked, 4)
}

// over are the url_tokens of the pushes that have ended, as answers reported.
func (l *Ledger) over() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	over := make(map[string]bool)
	for _, p := range l.pushes {
		if p.ended {
			over[p.Token] = true
		}
	}
	return over
}

// send records a request about a push. count is the number of the push that the request may
// add to: Pending or Deletes; nil: none.
func (l *Ledger) send(p *Push, count *int) glimpse {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.cycle = l.cycle
	if count != nil {
		*count++
	}
	return glimpse{delivered: p.delivered, ended: p.ended, released: p.released}
}

// gotView judges the answer to a retrieval.
func (l *Ledger) gotView(p *Push, before glimpse, counts bool, r Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.views++
	if counts {
		p.Pending--
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
	case *r.Payload != p.Payload:
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

// refuse records that a wrong passphrase was refused.
func (l *Ledger) refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals++
}

// gotRefusal judges the answer to a wrong passphrase if that answer is the push: the
// push must have expired.
func (l *Ledger) gotRefusal(p *Push, before glimpse, r Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.Expired || r.Payload != nil || len(r.Files) > 0 {
		return errors.New("P6: a wrong passphrase opens it")
	}
	return p.judge(before, r)
}

// gotDelete judges the answer to a delete.
func (l *Ledger) gotDelete(p *Push, before glimpse, r Record) error {
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
func (l *Ledger) gotViewEntries(p *Push, before glimpse, n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < before.delivered || n > p.delivered+p.Pending {
		return fmt.Errorf("P4: %d entries of kind view", n)
	}
	return nil
}

// judge compares the record in an answer with what is known.
func (p *Push) judge(before glimpse, r Record) (err error) {
	note := func(wrong bool, format string, args ...any) {
		if wrong {
			err = errors.Join(err, fmt.Errorf(format, args...))
		}
	}
	counted, most := p.Limit-r.Remaining, p.delivered+p.Pending
	meant := p.Deletes > 0 || most >= p.Limit || !time.Now().Before(p.endsAt)
	note(p.delivered > p.Limit, "P2: delivered %d times", p.delivered)
	note(counted < before.delivered, "P3: it counts %d views, %d were delivered", counted, before.delivered)
	note(counted > most, "P3: it counts %d views, and no more than %d can be", counted, most)
	note(r.Expired && !meant, "P1: it has expired without a reason")
	note(r.Deleted && p.Deletes == 0, "P1: it was deleted without a reason")
	note(!r.Expired && before.ended, "P5: it had expired and is back")
	p.ended = p.ended || r.Expired
	p.released = p.released || r.Deleted
	if err != nil {
		err = fmt.Errorf("%w (%v)", err, p)
	}
	return err
}

// settle takes an answer for the truth, at a time when no other client uses the push: a
// retrieval that was cut off has counted by now or never will, and a delete that was
// cut off has not ended a push that is live.
func (l *Ledger) settle(p *Push, r Record) (counted int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	counted = p.Limit - r.Remaining
	p.Pending = max(0, counted-p.delivered)
	if !r.Expired {
		p.Deletes = 0
	}
	return counted
}

// String is how much there was to judge.
func (l *Ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	cut := 0
	for _, p := range l.pushes {
		cut += p.Pending
	}
	return fmt.Sprintf("%d kills: %d pushes (%d with files), %d creates cut off, %d retrievals, %d deletes and %d wrong passphrases answered, %d views counted and cut off; %d grants, %d downloads, %d of them resumed after a kill, %d denied",
		l.cycle, len(l.pushes), len(l.filed), len(l.lost), l.views, l.deletes, l.refusals, cut, l.grantsIssued, l.downloads, l.resumed, l.denied)
}

// RefusedCreate records that a create was refused: the push must not be there.
func (l *Ledger) RefusedCreate(p *Push) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.lost, p.Name)
}

// Refused records that a request was refused that adds to a number of a push: it must have
// changed nothing.
func (l *Ledger) Refused(count *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*count--
}
