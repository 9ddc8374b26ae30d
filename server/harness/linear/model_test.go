package linear_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
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
//
// A server may be killed and started again. A call that was in flight then has
// no answer: it took effect before the kill, or never does. So each call knows
// in which life of the server it was made, and once the push has seen a later
// life, one that was cut off can no longer change anything.

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
	life   int   // of the server: how often it was killed before
	cut    bool  // in flight when the server was killed; the clock stood still meanwhile
	forced bool  // cut, and taken for one that took effect
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
	life    int    // the latest that it has seen
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
		seen := spanOf(part)
		for _, s := range sweeps {
			if seen.meets(s) {
				part = append(part, s)
			}
		}
		slices.SortStableFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		parts = append(parts, part)
	}
	slices.SortFunc(parts, func(a, b []porcupine.Operation) int { return cmp.Compare(a[0].Call, b[0].Call) })
	return parts
}

// A span is from the first call of a push to the last answer about it.
type span struct {
	first, last int64
	life        int // in which it began
}

func spanOf(part []porcupine.Operation) span {
	s := span{first: part[0].Call, life: part[0].Input.(linearCall).life}
	for _, o := range part {
		in := o.Input.(linearCall)
		s.first, s.life = min(s.first, o.Call), min(s.life, in.life)
		if in.cut {
			s.last = max(s.last, o.Call)
		} else {
			s.last = max(s.last, o.Return)
		}
	}
	return s
}

// meets reports whether a sweep may have met the push.
func (s span) meets(sweep porcupine.Operation) bool {
	in := sweep.Input.(linearCall)
	return sweep.Call <= s.last && sweep.Return >= s.first && (!in.cut || in.life >= s.life)
}

func (in linearCall) describe(out linearAnswer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (life %d, clock %d to %d)", linearOpNames[in.op], in.life, in.lo, in.hi)
	switch in.op {
	case opExpire, opPurge:
		return b.String()
	case opCreate:
		fmt.Fprintf(&b, " %+v", in.plan)
	case opView, opDelete, opPreview, opAudit:
		fmt.Fprintf(&b, " token %t, passphrase %s", in.token, [...]string{"none", "wrong", "right"}[in.guess])
	}
	if in.cut {
		b.WriteString(" -> cut off")
	} else {
		fmt.Fprintf(&b, " -> %+v", out)
	}
	return b.String()
}

func (p linearState) String() string {
	return fmt.Sprintf("%s, %d of %d views, log %q, ends %d, ended %d", linearStageNames[p.stage], p.views, p.plan.limit, p.log, p.endsAt, p.endedAt)
}
