package linear_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"pushbox/internal/testkit/env"
)

// A linearTale is a history of one push, told call by call, each after the one
// before.
type linearTale struct {
	ops  []porcupine.Operation
	at   int64 // what the clock shows
	life int   // of the server
	plan linearPlan
}

// beginTale begins with a push that lasts a minute, created when the clock shows 1000.
func beginTale(plan linearPlan) *linearTale {
	plan.payload, plan.lifetime = "s3cret", time.Minute.Milliseconds()
	s := &linearTale{at: 1000, plan: plan}
	return s.add(linearCall{op: opCreate, plan: plan}, linearAnswer{
		status: http.StatusCreated, token: "t", created: 1000, updated: 1000, expiresAt: 61000, remaining: plan.limit,
	})
}

func (s *linearTale) add(in linearCall, out linearAnswer) *linearTale {
	start := int64(20 * len(s.ops))
	in.lo, in.hi, in.life = s.at, s.at, s.life
	s.ops = append(s.ops, porcupine.Operation{ClientId: len(s.ops), Call: start, Return: start + 10, Input: in, Output: out})
	return s
}

// together makes the last n calls begin and end at the same time.
func (s *linearTale) together(n int) *linearTale {
	last := s.ops[len(s.ops)-n:]
	for i := range last {
		last[i].Call, last[i].Return = last[0].Call, s.ops[len(s.ops)-1].Return
	}
	return s
}

func (s *linearTale) later(d time.Duration) *linearTale {
	s.at += d.Milliseconds()
	return s
}

func (s *linearTale) viewed(remaining int) *linearTale {
	return s.add(linearCall{op: opView, guess: rightGuess}, linearAnswer{
		status: http.StatusOK, created: 1000, updated: s.at, expiresAt: 61000, remaining: remaining, payload: s.plan.payload,
	})
}

func (s *linearTale) viewedNothing(remaining int, on int64, byHand bool) *linearTale {
	return s.add(linearCall{op: opView}, linearAnswer{
		status: http.StatusOK, updated: s.at, expired: true, deleted: byHand, expiredOn: on, remaining: remaining,
	})
}

func (s *linearTale) refused(g guess) *linearTale {
	return s.add(linearCall{op: opView, guess: g}, linearAnswer{status: http.StatusUnauthorized})
}

func (s *linearTale) deletedNow(remaining int) *linearTale {
	return s.add(linearCall{op: opDelete, token: true}, linearAnswer{
		status: http.StatusOK, updated: s.at, expired: true, deleted: true, expiredOn: s.at, remaining: remaining,
	})
}

func (s *linearTale) audited(log string) *linearTale {
	return s.add(linearCall{op: opAudit, token: true}, linearAnswer{status: http.StatusOK, log: log})
}

func (s *linearTale) swept() *linearTale {
	n := len(s.ops)
	s.add(linearCall{op: opExpire, sweep: n}, linearAnswer{})
	return s.add(linearCall{op: opPurge, sweep: n}, linearAnswer{}).together(2)
}

func (s *linearTale) gone() *linearTale {
	return s.add(linearCall{op: opPreview}, linearAnswer{status: http.StatusNotFound})
}

// cut makes a call that is in flight when the server is killed.
func (s *linearTale) cut(in linearCall) *linearTale {
	in.cut = true
	s.add(in, linearAnswer{})
	s.ops[len(s.ops)-1].Return = never
	return s
}

func (s *linearTale) cutView() *linearTale { return s.cut(linearCall{op: opView}) }

func (s *linearTale) cutDelete() *linearTale { return s.cut(linearCall{op: opDelete, token: true}) }

func (s *linearTale) cutSweep() *linearTale {
	n := len(s.ops)
	return s.cut(linearCall{op: opExpire, sweep: n}).cut(linearCall{op: opPurge, sweep: n})
}

// killed has the server killed and started again.
func (s *linearTale) killed() *linearTale {
	s.life++
	return s
}

func (s *linearTale) answered(status int) *linearTale {
	return s.add(linearCall{op: opView}, linearAnswer{status: status})
}

// The model takes what the contract allows, and none of the lies that a broken
// server would tell.
func TestTheLinearModelTellsRightFromWrong(t *testing.T) {
	t.Parallel()
	one, three := linearPlan{limit: 1}, linearPlan{limit: 3}
	mine := linearPlan{limit: 3, owned: true}
	shut := linearPlan{limit: 3, owned: true, protected: true}
	const minute, stay = time.Minute, 25 * time.Hour
	for name, test := range map[string]struct {
		tale *linearTale
		want porcupine.CheckResult
	}{
		"one view, then nothing":             {beginTale(one).viewed(0).viewedNothing(0, 1000, false), porcupine.Ok},
		"views in either order":              {beginTale(three).viewed(1).viewed(2).together(2), porcupine.Ok},
		"the end of time":                    {beginTale(three).later(minute).viewedNothing(3, 61000, false), porcupine.Ok},
		"an audit log":                       {beginTale(shut).viewed(2).refused(wrongGuess).refused(noGuess).deletedNow(2).audited("cvpe"), porcupine.Ok},
		"a sweep that purges":                {beginTale(one).viewed(0).later(stay).swept().gone(), porcupine.Ok},
		"a sweep that leaves what has owner": {beginTale(mine).later(stay).swept().viewedNothing(3, 61000, false), porcupine.Ok},

		"a view cut off that counted":    {beginTale(three).cutView().killed().viewed(1), porcupine.Ok},
		"a view cut off that did not":    {beginTale(three).cutView().killed().viewed(2), porcupine.Ok},
		"a wrong passphrase cut off":     {beginTale(shut).cut(linearCall{op: opView, guess: wrongGuess}).killed().audited("cp"), porcupine.Ok},
		"a delete cut off that ended it": {beginTale(mine).cutDelete().killed().viewedNothing(3, 1000, true), porcupine.Ok},
		"a sweep cut off that purged":    {beginTale(one).viewed(0).later(stay).cutSweep().killed().gone(), porcupine.Ok},

		"delivered twice at limit 1, at once":              {beginTale(one).viewed(0).viewed(0).together(2), porcupine.Illegal},
		"a view that counts two":                           {beginTale(three).viewed(1), porcupine.Illegal},
		"delivered after a delete":                         {beginTale(mine).deletedNow(3).viewed(2), porcupine.Illegal},
		"deleted, but reported as expired":                 {beginTale(mine).deletedNow(3).viewedNothing(3, 1000, false), porcupine.Illegal},
		"delivered after its time":                         {beginTale(three).later(minute).viewed(2), porcupine.Illegal},
		"expired before its time":                          {beginTale(three).later(minute-time.Millisecond).viewedNothing(3, 61000, false), porcupine.Illegal},
		"a wrong passphrase delivers":                      {beginTale(shut).add(linearCall{op: opView, guess: wrongGuess}, linearAnswer{status: 200, updated: 1000, remaining: 2, payload: "s3cret"}), porcupine.Illegal},
		"a passphrase that the push does not have":         {beginTale(mine).refused(wrongGuess), porcupine.Illegal},
		"a passphrase asked for after the end":             {beginTale(shut).deletedNow(3).refused(wrongGuess), porcupine.Illegal},
		"a view without its entry":                         {beginTale(mine).viewed(2).audited("c"), porcupine.Illegal},
		"an entry that comes late":                         {beginTale(mine).viewed(2).audited("c").audited("cv"), porcupine.Illegal},
		"purged without a sweep":                           {beginTale(one).viewed(0).later(stay).gone(), porcupine.Illegal},
		"a sweep that leaves what is to go":                {beginTale(one).viewed(0).later(stay).swept().viewedNothing(0, 1000, false), porcupine.Illegal},
		"lost":                                             {beginTale(mine).gone(), porcupine.Illegal},
		"another's payload":                                {beginTale(three).add(linearCall{op: opView}, linearAnswer{status: 200, updated: 1000, remaining: 2, payload: "other"}), porcupine.Illegal},
		"an instant that was not in the call":              {beginTale(three).add(linearCall{op: opView}, linearAnswer{status: 200, updated: 1001, remaining: 2, payload: "s3cret"}), porcupine.Illegal},
		"a push that is not known to be created":           {&linearTale{ops: beginTale(three).viewed(2).ops[1:]}, porcupine.Illegal},
		"a view cut off that comes back later":             {beginTale(three).cutView().killed().viewed(2).viewed(0), porcupine.Illegal},
		"a delete cut off of a client that may not delete": {beginTale(three).cutDelete().killed().viewedNothing(3, 1000, true), porcupine.Illegal},
		"an error": {beginTale(three).answered(http.StatusInternalServerError), porcupine.Illegal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env.Equal(t, "it is", porcupine.CheckOperationsTimeout(linearModel(), test.tale.ops, time.Minute), test.want)
		})
	}
}
