package model

import (
	"context"
	"time"

	"pushbox/store"
	"pushbox/store/record"
)

// The model of a store: what its documentation says, over plain maps, sequentially, with
// a clock that only moves forward.

const day = 24 * time.Hour

var ctx = context.Background()

const (
	grantWindow = 15 * time.Minute // for which a grant is valid
	sessionIdle = 12 * time.Hour   // after which an unused session ends
	sessionAge  = 30 * day         // after which every session ends
	purgeAfter  = 40 * day         // how long an account's expired pushes stay
)

// A push is a push as it should be.
type push struct {
	token      store.Token
	handle     store.Handle
	kind       record.Kind
	owner      *account // nil: none
	payload    string
	passphrase string
	name, note string
	files      [][]byte
	deletable  bool

	state   record.State
	created time.Time
	updated time.Time
	expires time.Time
	expired time.Time // when it ended
	days    int
	limit   int
	views   int
	failed  int              // wrong passphrases, since it was made or thawed
	frozen  bool             // by them
	log     []store.LogEntry // kind and time
	holds   bool             // its files are there
	held    time.Time        // when the last of its grants ends
}

// A grant is a grant as it should be.
type grant struct {
	secret     string
	push       *push
	end, until time.Time
}

// An account is an account as it should be.
type account struct {
	id       record.AccountID
	email    string
	disabled bool
	tokens   []*apiToken
	sessions []*session
}

type apiToken struct {
	secret  string
	id      record.TokenID
	label   string
	expires time.Time // zero: never
	used    time.Time
}

type session struct {
	secret        string
	id            record.SessionID
	created, used time.Time
}

func (p *push) live() bool { return p.state == record.Live }

func (p *push) enter(k record.EntryKind, now time.Time) {
	p.log, p.updated = append(p.log, store.LogEntry{Kind: k, At: now}), now
}

func (p *push) end(s record.State, when, now time.Time) {
	p.state, p.expired, p.updated, p.frozen = s, when, now, false
}

// guessesPerLife is how many wrong passphrases freeze a push.
const guessesPerLife = 2

// guess applies a wrong passphrase.
func (p *push) guess(now time.Time) {
	if p.failed++; p.failed < guessesPerLife {
		p.enter(record.EntryFailedPassphrase, now)
		return
	}
	p.frozen = true
	p.enter(record.EntryFreeze, now)
}

// thaw applies that the owner thaws a push.
func (p *push) thaw(now time.Time) {
	if p.endIfDue(now); p.live() && p.frozen {
		p.frozen, p.failed = false, 0
		p.enter(record.EntryThaw, now)
	}
}

func (p *push) release() { p.holds, p.held = false, time.Time{} }

// endIfDue ends a push whose time is over, as every read does that reports it.
func (p *push) endIfDue(now time.Time) {
	if p.live() && !now.Before(p.expires) {
		p.end(record.Expired, p.expires, now)
		p.release()
	}
}

// retrieve reports whether a retrieval delivers the payload, and applies it.
func (p *push) retrieve(by *account, now time.Time) (delivers bool) {
	p.endIfDue(now)
	if !p.live() {
		p.enter(record.EntryFailedView, now)
		return false
	}
	if by != nil && by == p.owner {
		p.enter(record.EntryOwnerView, now)
		return true
	}
	p.views++
	if p.enter(record.EntryView, now); p.views == p.limit {
		p.end(record.Expired, now, now)
	}
	return true
}

// remove deletes a push, and reports whether it was live.
func (p *push) remove(now time.Time) bool {
	p.endIfDue(now)
	live, held := p.live(), p.holds
	if p.release(); live {
		p.enter(record.EntryExpire, now)
		p.end(record.Deleted, now, now)
	}
	return live || held
}

// sweep reports whether the push exists after a sweep.
func (p *push) sweep(now time.Time) bool {
	p.endIfDue(now)
	if p.live() {
		return true
	}
	if p.holds && !(now.Before(p.held) && now.Before(p.expires)) {
		p.release()
	}
	stay := purgeAfter
	if p.owner == nil {
		stay = day
	}
	return p.holds || now.Before(p.expired.Add(stay))
}

// listed is what the push is named by in a list.
func (p *push) listed() string {
	if p.live() {
		return p.token.Reveal()
	}
	return p.handle.String()
}

// good reports whether a grant allows a download.
func (g *grant) good(now time.Time) bool {
	return g.push.holds && now.Before(g.end) && now.Before(g.push.expires)
}

// slide moves the end of a grant on, as a download does.
func (g *grant) slide(now time.Time) {
	last := soonest(g.until, g.push.expires)
	to := soonest(now.Add(grantWindow), last)
	if to.Sub(soonest(g.end, g.push.expires)) < grantWindow/8 {
		return // not at each chunk
	}
	g.end = latest(g.end, to)
	g.push.held = latest(g.push.held, g.end)
}

// over reports whether a session has ended.
func (s *session) over(now time.Time) bool {
	return !now.Before(s.created.Add(sessionAge)) || now.Sub(s.used) >= sessionIdle
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func soonest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
