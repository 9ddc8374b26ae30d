package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"pushbox/store"
)

// The sequential model of one push, for the check that recorded histories are
// linearizable.
//
// Time is no part of its state. A call carries what the clock showed before it
// was sent and after it was answered, and the one instant that the server took
// for it lies between; most answers tell it, and then it must. What the server
// decided is judged by that instant, in the order of the changes: so a view
// may come after its push's time on the clock, but never after anything made
// the push one that has expired.

type linearOp uint8

const (
	opCreate linearOp = iota
	opView
	opDelete
	opPreview
	opAudit
	opExpire // the part of a sweep that ends what is due
	opPurge  // the part of a sweep that takes away what has stayed long enough
)

var linearOpNames = [...]string{"create", "view", "delete", "preview", "audit", "sweep: expire", "sweep: purge"}

type guess uint8

const (
	noGuess guess = iota
	wrongGuess
	rightGuess
)

// A linearPlan is what a push was created with.
type linearPlan struct {
	payload   string
	limit     int
	lifetime  int64 // milliseconds
	owned     bool
	deletable bool
	protected bool
}

// A linearCall is what was asked. Times are milliseconds.
type linearCall struct {
	op     linearOp
	push   int // which push of the history; sweeps are for all
	plan   linearPlan
	token  bool // came with the API token of the account that owns what is owned
	guess  guess
	sweep  int
	lo, hi int64 // what the clock showed before and after
}

// A linearAnswer is what came back. Times are milliseconds, 0 for null.
type linearAnswer struct {
	status                      int
	token                       string
	created, updated, expiresAt int64
	expired, deleted            bool
	expiredOn                   int64
	remaining                   int
	payload                     string // "" for null
	link                        string
	log                         string // a letter for each entry, see letters
}

// letters abbreviates kinds of audit entry.
var letters = map[string]string{
	"creation": "c", "view": "v", "failed_view": "f", "failed_passphrase": "p", "expire": "e", "owner_view": "o",
}

type linearStage uint8

const (
	absent linearStage = iota
	live
	expired
	deleted
	purged
)

var linearStageNames = [...]string{"absent", "live", "expired", "deleted", "purged"}

// A linearState is a push.
type linearState struct {
	stage   linearStage
	plan    linearPlan
	token   string
	views   int
	endsAt  int64
	endedAt int64
	log     string // of an owned push, which alone shows it
	sweep   int    // the last that had its first part
}

// linearModel is the model, partitioned by push.
func linearModel() porcupine.Model {
	return porcupine.Model{
		Partition: byPush,
		Init:      func() any { return linearState{} },
		Step: func(state, in, out any) (bool, any) {
			return state.(linearState).step(in.(linearCall), out.(linearAnswer))
		},
		DescribeOperation: func(in, out any) string { return in.(linearCall).describe(out.(linearAnswer)) },
		DescribeState:     func(state any) string { return state.(linearState).String() },
	}
}

// byPush splits a history into one for each push, in the order of their first
// calls. Sweeps go to every push that they may have met.
func byPush(history []porcupine.Operation) [][]porcupine.Operation {
	var sweeps []porcupine.Operation
	pushes := make(map[int][]porcupine.Operation)
	for _, o := range history {
		in := o.Input.(linearCall)
		if in.op == opExpire || in.op == opPurge {
			sweeps = append(sweeps, o)
			continue
		}
		pushes[in.push] = append(pushes[in.push], o)
	}
	parts := make([][]porcupine.Operation, 0, len(pushes))
	for _, part := range pushes {
		first, last := span(part)
		for _, s := range sweeps {
			if s.Return >= first && s.Call <= last {
				part = append(part, s)
			}
		}
		slices.SortStableFunc(part, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		parts = append(parts, part)
	}
	slices.SortFunc(parts, func(a, b []porcupine.Operation) int { return int(a[0].Call - b[0].Call) })
	return parts
}

func span(part []porcupine.Operation) (first, last int64) {
	first = part[0].Call
	for _, o := range part {
		first, last = min(first, o.Call), max(last, o.Return)
	}
	return first, last
}

// step says whether a push may answer so, and what it is then. An answer that
// no row of the contract has, a 429 or a 5xx among them, it may not.
func (p linearState) step(in linearCall, out linearAnswer) (bool, linearState) {
	switch {
	case in.op == opExpire:
		p.sweep = in.sweep
		return true, p.due(in.lo)
	case in.op == opPurge:
		return p.purge(in)
	case in.op == opCreate:
		return p.create(in, out)
	case p.stage == absent:
		return false, p
	case in.op == opAudit && !in.token:
		return out.status == http.StatusUnauthorized, p // whatever there is
	case p.stage == purged:
		return out.status == http.StatusNotFound, p
	case in.op == opView:
		return p.view(in, out)
	case in.op == opDelete:
		return p.remove(in, out)
	case in.op == opPreview:
		return out.status == http.StatusOK && strings.HasSuffix(out.link, "/p/"+p.token+"/r"), p
	default:
		return p.audit(in, out)
	}
}

func (in linearCall) spans(instant int64) bool { return in.lo <= instant && instant <= in.hi }

// due ends a live push whose time is over.
func (p linearState) due(instant int64) linearState {
	if p.stage == live && instant >= p.endsAt {
		return p.end(expired, p.endsAt)
	}
	return p
}

func (p linearState) end(s linearStage, at int64) linearState {
	p.stage, p.endedAt = s, at
	return p
}

func (p linearState) note(kind string) linearState {
	if p.plan.owned {
		p.log += letters[kind]
	}
	return p
}

// purge is the second part of a sweep, and never comes before the first.
func (p linearState) purge(in linearCall) (bool, linearState) {
	const stay = 24 * 60 * 60 * 1000
	if (p.stage == expired || p.stage == deleted) && !p.plan.owned && in.lo >= p.endedAt+stay {
		p.stage = purged
	}
	return p.sweep == in.sweep, p
}

func (p linearState) create(in linearCall, out linearAnswer) (bool, linearState) {
	legal := p.stage == absent && out.status == http.StatusCreated && in.spans(out.created)
	p = linearState{stage: live, plan: in.plan, token: out.token, endsAt: out.created + in.plan.lifetime, sweep: p.sweep}
	return legal && out.expiresAt == p.endsAt && out.shows(p), p.note("creation")
}

func (p linearState) view(in linearCall, out linearAnswer) (bool, linearState) {
	shut := p.plan.protected && in.guess != rightGuess
	switch out.status {
	case http.StatusUnauthorized:
		legal := shut && p.stage == live && in.lo < p.endsAt
		if in.guess == wrongGuess {
			p = p.note("failed_passphrase")
		}
		return legal, p
	case http.StatusOK:
		p = p.due(out.updated)
		if p.stage != live {
			return in.spans(out.updated) && out.payload == "" && out.shows(p), p.note("failed_view")
		}
		legal := !shut && in.spans(out.updated) && out.payload == p.plan.payload
		p = p.count(in)
		legal = legal && out.shows(p)
		if p.views >= p.plan.limit {
			p = p.end(expired, out.updated)
		}
		return legal, p
	default:
		return false, p
	}
}

func (p linearState) count(in linearCall) linearState {
	if in.token && p.plan.owned {
		return p.note("owner_view")
	}
	p.views++
	return p.note("view")
}

func (p linearState) remove(in linearCall, out linearAnswer) (bool, linearState) {
	if !p.plan.deletable && !(in.token && p.plan.owned) {
		return out.status == in.refusal(), p
	}
	if out.status != http.StatusOK {
		return false, p
	}
	if p.stage != live {
		return out.shows(p), p
	}
	if p = p.due(out.updated); p.stage == live {
		p = p.end(deleted, out.updated).note("expire")
	}
	return in.spans(out.updated) && out.shows(p), p
}

// refusal is how somebody is told that the push is not theirs.
func (in linearCall) refusal() int {
	if in.token {
		return http.StatusForbidden
	}
	return http.StatusUnauthorized
}

func (p linearState) audit(in linearCall, out linearAnswer) (bool, linearState) {
	if !p.plan.owned {
		return out.status == http.StatusForbidden, p
	}
	return out.status == http.StatusOK && out.log == p.log[:min(len(p.log), store.PageSize)], p
}

// shows reports whether an answer's record is that of a push.
func (out linearAnswer) shows(p linearState) bool {
	return out.expired == (p.stage != live) && out.deleted == (p.stage == deleted) &&
		out.expiredOn == p.endedAt && out.remaining == p.plan.limit-p.views
}

func (in linearCall) describe(out linearAnswer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (clock %d to %d)", linearOpNames[in.op], in.lo, in.hi)
	switch in.op {
	case opExpire, opPurge:
		return b.String()
	case opCreate:
		fmt.Fprintf(&b, " %+v", in.plan)
	case opView, opDelete, opPreview, opAudit:
		fmt.Fprintf(&b, " token %t, passphrase %s", in.token, [...]string{"none", "wrong", "right"}[in.guess])
	}
	fmt.Fprintf(&b, " -> %+v", out)
	return b.String()
}

func (p linearState) String() string {
	return fmt.Sprintf("%s, %d of %d views, log %q, ends %d, ended %d", linearStageNames[p.stage], p.views, p.plan.limit, p.log, p.endsAt, p.endedAt)
}
