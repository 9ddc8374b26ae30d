package store_test

import (
	"time"

	"pushbox/store"
)

// The model of a store: what its documentation says, over plain maps, one thing
// after the other, with a clock that only goes on.

const (
	modelWindow = 15 * time.Minute // that a grant is good for
	modelIdle   = 12 * time.Hour   // after which a session ends that is not used
	modelAge    = 30 * day         // after which any does
	modelStay   = 40 * day         // how long an account's expired pushes stay
)

// A modelPush is a push as it should be.
type modelPush struct {
	token      store.Token
	kind       store.Kind
	owner      *modelAccount // nil: nobody
	payload    string
	passphrase string
	name, note string
	files      [][]byte
	deletable  bool

	state   store.State
	created time.Time
	updated time.Time
	expires time.Time
	expired time.Time // when it ended
	days    int
	limit   int
	views   int
	log     []store.LogEntry // kind and time
	holds   bool             // its files are there
	held    time.Time        // when the last of its grants ends
}

// A modelGrant is a grant as it should be.
type modelGrant struct {
	secret     string
	push       *modelPush
	end, until time.Time
}

// A modelAccount is an account as it should be.
type modelAccount struct {
	id       store.AccountID
	email    string
	disabled bool
	tokens   []*modelToken
	sessions []*modelSession
}

type modelToken struct {
	secret  string
	id      store.TokenID
	label   string
	expires time.Time // zero: never
	used    time.Time
}

type modelSession struct {
	secret        string
	id            store.SessionID
	created, used time.Time
}

func (p *modelPush) live() bool { return p.state == store.Live }

func (p *modelPush) enter(k store.EntryKind, now time.Time) {
	p.log, p.updated = append(p.log, store.LogEntry{Kind: k, At: now}), now
}

func (p *modelPush) end(s store.State, when, now time.Time) {
	p.state, p.expired, p.updated = s, when, now
}

func (p *modelPush) release() { p.holds, p.held = false, time.Time{} }

// settle ends a push whose time is over, as every look at it does that tells so.
func (p *modelPush) settle(now time.Time) {
	if p.live() && !now.Before(p.expires) {
		p.end(store.Expired, p.expires, now)
		p.release()
	}
}

// retrieve reports whether a retrieval gives the payload, and what it does.
func (p *modelPush) retrieve(by *modelAccount, now time.Time) (delivers bool) {
	p.settle(now)
	if !p.live() {
		p.enter(store.EntryFailedView, now)
		return false
	}
	if by != nil && by == p.owner {
		p.enter(store.EntryOwnerView, now)
		return true
	}
	p.views++
	if p.enter(store.EntryView, now); p.views == p.limit {
		p.end(store.Expired, now, now)
	}
	return true
}

// remove expires a push by hand, and reports whether there was anything to end.
func (p *modelPush) remove(now time.Time) bool {
	p.settle(now)
	live, held := p.live(), p.holds
	if p.release(); live {
		p.enter(store.EntryExpire, now)
		p.end(store.Deleted, now, now)
	}
	return live || held
}

// sweep reports whether the push is there after a sweep.
func (p *modelPush) sweep(now time.Time) bool {
	p.settle(now)
	if p.live() {
		return true
	}
	if p.holds && !(now.Before(p.held) && now.Before(p.expires)) {
		p.release()
	}
	stay := modelStay
	if p.owner == nil {
		stay = day
	}
	return p.holds || now.Before(p.expired.Add(stay))
}

// good reports whether a grant is good for a download.
func (g *modelGrant) good(now time.Time) bool {
	return g.push.holds && now.Before(g.end) && now.Before(g.push.expires)
}

// slide has a download that runs put off the end of its grant.
func (g *modelGrant) slide(now time.Time) {
	last := soonest(g.until, g.push.expires)
	to := soonest(now.Add(modelWindow), last)
	if to.Sub(soonest(g.end, g.push.expires)) < modelWindow/8 {
		return // not at each chunk
	}
	g.end = latest(g.end, to)
	g.push.held = latest(g.push.held, g.end)
}

// over reports whether a session has ended.
func (s *modelSession) over(now time.Time) bool {
	return !now.Before(s.created.Add(modelAge)) || now.Sub(s.used) >= modelIdle
}

func soonest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
