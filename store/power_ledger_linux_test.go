package store_test

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

// A powerSpan is when something was asked for, and when it was answered.
type powerSpan struct{ sent, done uint64 }

// A powerDeed is what somebody did with a push, and what came of it.
type powerDeed struct {
	powerSpan
	counts    bool // it may count a view
	deletes   bool
	delivered bool
	ended     bool        // the answer said that the push has ended
	grant     secret.Text // that came with files
	grantEnd  time.Time   // not before then
}

// A powerPush is a push, and all that is known of it.
type powerPush struct {
	payload string
	files   [][]byte
	owned   bool
	limit   int
	ends    time.Time
	token   store.Token // once it was acknowledged

	created powerSpan
	deeds   []*powerDeed
}

// A powerTick is a move of the clock.
type powerTick struct {
	at  uint64
	now time.Duration // since the beginning
}

// A powerLedger has every push of a run, and when what was asked and answered.
// Moments are numbers that grow; a mark for each goes into the log of the disk.
type powerLedger struct {
	mu     sync.Mutex
	mark   func(moment uint64)
	last   uint64
	pushes []*powerPush // acknowledged
	ticks  []powerTick
}

// clone is a copy that shares nothing that changes. In it, other pushes stand for
// those that copied tells.
func (l *powerLedger) clone() (c *powerLedger, copied map[*powerPush]*powerPush) {
	c, copied = &powerLedger{last: l.last, ticks: slices.Clone(l.ticks)}, make(map[*powerPush]*powerPush)
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

// moment is now. What comes before is on the log before its mark, what comes
// after behind it.
func (l *powerLedger) moment() uint64 {
	l.mu.Lock()
	l.last++
	now := l.last
	l.mu.Unlock()
	if l.mark != nil {
		l.mark(now)
	}
	return now
}

func (l *powerLedger) sendCreate(p *powerPush) { p.created = powerSpan{l.moment(), never} }

// keep notes that a push was acknowledged.
func (l *powerLedger) keep(p *powerPush, info store.PushInfo) {
	now := l.moment()
	l.mu.Lock()
	defer l.mu.Unlock()
	p.created.done, p.token, p.ends = now, info.Token, info.ExpiresAt
	l.pushes = append(l.pushes, p)
}

// send notes something that is asked of a push.
func (l *powerLedger) send(p *powerPush, d powerDeed) *powerDeed {
	d.powerSpan = powerSpan{l.moment(), never}
	l.mu.Lock()
	defer l.mu.Unlock()
	p.deeds = append(p.deeds, &d)
	return &d
}

// answer notes what came of a deed.
func (l *powerLedger) answer(d *powerDeed, note func()) {
	now := l.moment()
	l.mu.Lock()
	defer l.mu.Unlock()
	d.done = now
	note()
}

// refuse takes back a deed that was refused for certain.
func (l *powerLedger) refuse(d *powerDeed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d.sent = never
}

// tick notes that the clock is about to move on by d.
func (l *powerLedger) tick(d time.Duration) {
	l.mu.Lock()
	if n := len(l.ticks); n > 0 {
		d += l.ticks[n-1].now
	}
	l.mu.Unlock()
	at := l.moment()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ticks = append(l.ticks, powerTick{at, d})
}

// pick chooses a push by a number, mostly one of the newest; nil if there is none.
func (l *powerLedger) pick(r func(int) int) *powerPush {
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
func (l *powerLedger) grantOf(p *powerPush) (d *powerDeed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range p.deeds {
		if !one.grant.IsZero() {
			d = one
		}
	}
	return d
}

// A powerView is what was known of a push when the power went.
type powerView struct {
	sent, kept bool
	delivered  int  // deliveries that count and were answered
	open       int  // asked for, not answered, and may have counted
	ended      bool // an answer said so
	deletes    int  // asked for
	deleted    bool // answered
	grants     []*powerDeed
}

// asOf is what was known of a push before a moment.
func (l *powerLedger) asOf(p *powerPush, moment func(uint64) bool) (v powerView) {
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

// clock is how far the clock was at most before a moment.
func (l *powerLedger) clock(moment func(uint64) bool) (now time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.ticks {
		if moment(t.at) {
			now = t.now
		}
	}
	return now
}
