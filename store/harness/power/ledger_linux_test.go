package power

import (
	"math"
	"slices"
	"sync"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
)

// never is the moment of what has not happened.
const never = math.MaxUint64

// An interval is when something was asked for, and when it was answered.
type interval struct{ sent, done uint64 }

// An action is what a client did with a push, and the answer.
type action struct {
	interval
	counts    bool // it may count a view
	deletes   bool
	delivered bool
	ended     bool        // the answer said that the push has ended
	grant     secret.Text // that came with files
	grantEnd  time.Time   // not before then
}

// A knownPush is a push, and all that its clients know of it.
type knownPush struct {
	payload string
	files   [][]byte
	owned   bool
	limit   int
	ends    time.Time
	token   store.Token // once it was acknowledged

	created interval
	deeds   []*action
}

// A clockStep is a move of the clock.
type clockStep struct {
	at  uint64
	now time.Duration // since the beginning
}

// A ledger has every push of a run, and when each request was sent and answered.
// Moments are numbers that grow; the log of the disk has a mark for each.
type ledger struct {
	mu     sync.Mutex
	mark   func(moment uint64)
	last   uint64
	pushes []*knownPush // acknowledged
	ticks  []clockStep
}

// clone returns a copy that shares nothing that changes. copied maps the pushes to
// their copies.
func (l *ledger) clone() (c *ledger, copied map[*knownPush]*knownPush) {
	c, copied = &ledger{last: l.last, ticks: slices.Clone(l.ticks)}, make(map[*knownPush]*knownPush)
	for _, p := range l.pushes {
		q := *p
		q.deeds = nil
		for _, d := range p.deeds {
			e := *d
			q.deeds = append(q.deeds, &e)
		}
		copied[p] = &q
		c.pushes = append(c.pushes, &q)
	}
	return c, copied
}

// moment is now: what happened before lies before its mark in the log, what happens
// after behind it.
func (l *ledger) moment() uint64 {
	l.mu.Lock()
	l.last++
	now := l.last
	l.mu.Unlock()
	if l.mark != nil {
		l.mark(now)
	}
	return now
}

func (l *ledger) sendCreate(p *knownPush) { p.created = interval{l.moment(), never} }

// keep records that a push was acknowledged.
func (l *ledger) keep(p *knownPush, info store.PushInfo) {
	now := l.moment()
	l.mu.Lock()
	defer l.mu.Unlock()
	p.created.done, p.token, p.ends = now, info.Token, info.ExpiresAt
	l.pushes = append(l.pushes, p)
}

// send records a request about a push.
func (l *ledger) send(p *knownPush, d action) *action {
	d.interval = interval{l.moment(), never}
	l.mu.Lock()
	defer l.mu.Unlock()
	p.deeds = append(p.deeds, &d)
	return &d
}

// answer records the answer of an action.
func (l *ledger) answer(d *action, note func()) {
	now := l.moment()
	l.mu.Lock()
	defer l.mu.Unlock()
	d.done = now
	note()
}

// refuse removes an action that was certainly refused.
func (l *ledger) refuse(d *action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d.sent = never
}

// tick records that the clock is about to move on by d.
func (l *ledger) tick(d time.Duration) {
	l.mu.Lock()
	if n := len(l.ticks); n > 0 {
		d += l.ticks[n-1].now
	}
	l.mu.Unlock()
	at := l.moment()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ticks = append(l.ticks, clockStep{at, d})
}

// pick chooses a push by a random number, mostly one of the newest; nil if there is
// none.
func (l *ledger) pick(r func(int) int) *knownPush {
	const newest = 12
	l.mu.Lock()
	defer l.mu.Unlock()
	n, from := len(l.pushes), 0
	if n == 0 {
		return nil
	}
	if r(4) > 0 {
		from = max(0, n-newest)
	}
	return l.pushes[from+r(n-from)]
}

// grantOf returns a grant for the files of a push, or none.
func (l *ledger) grantOf(p *knownPush) (d *action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range p.deeds {
		if !one.grant.IsZero() {
			d = one
		}
	}
	return d
}

// A pushState is what was known of a push when the power was cut.
type pushState struct {
	sent, kept bool
	delivered  int  // deliveries that count and were answered
	open       int  // asked for, not answered, and may have counted
	ended      bool // an answer said so
	deletes    int  // asked for
	deleted    bool // answered
	grants     []*action
}

// asOf returns what was known of a push before a moment.
func (l *ledger) asOf(p *knownPush, moment func(uint64) bool) (v pushState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v.sent, v.kept = moment(p.created.sent), moment(p.created.done)
	for _, d := range p.deeds {
		sent, done := moment(d.sent), moment(d.done)
		switch {
		case !sent:
			continue
		case d.deletes:
			v.deletes++
			v.deleted = v.deleted || done
		case d.counts && !done:
			v.open++
		case d.counts && d.delivered:
			v.delivered++
		}
		if done {
			v.ended = v.ended || d.ended
			if !d.grant.IsZero() {
				v.grants = append(v.grants, d)
			}
		}
	}
	return v
}

// clock returns the latest time that the clock may have shown before a moment.
func (l *ledger) clock(moment func(uint64) bool) (now time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.ticks {
		if moment(t.at) {
			now = t.now
		}
	}
	return now
}
