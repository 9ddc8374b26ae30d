package linear_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/server/servertest"
	"pushbox/store/storetest"
)

const (
	linearRound = 2500            // calls to one server
	linearCheck = 2 * time.Minute // for the history of one
	killEvery   = 6               // one round in this many has kills
)

// Twelve clients create, retrieve (right, wrong, no passphrase), delete, preview and audit
// over a real listener, while a clock moves and sweeps run. Each push's history must have
// an order that the sequential model allows. Time is no operation of the model: each call
// has the clock before and after it, and the instant in its answer must lie between. In
// one round of six the server is this test's own binary in another process, whose clock
// the test moves over a pipe. That server is killed at random and started again over the
// same files, after a check of them. A call in flight then has no answer: the model lets
// it take effect before the kill or never, not later.
//
// PUSHBOX_TEST_LINEAR_OPS sets how many calls are recorded, with a new server every 2,500;
// PUSHBOX_TEST_SEED repeats what the clients choose, not their timing. A failure prints the
// push's history; -artifacts keeps a picture. TestTheLinearModelTellsRightFromWrong shows
// that the model refuses false histories. Longer:
//
//	PUSHBOX_TEST_LINEAR_OPS=10000000 go test ./server/harness/linear -run MixedOperationsAreLinearizable -timeout 24h
func TestMixedOperationsAreLinearizable(t *testing.T) {
	t.Parallel()
	ops, seed := env.Length(t, "PUSHBOX_TEST_LINEAR_OPS"), env.Seed(t)
	seen := &linearVariety{calls: make(map[string]int)}
	length := min(linearRound, ops/2) // so that some have kills
	for round := uint64(0); uint64(seen.made) < ops; round++ {
		if !t.Run(strconv.FormatUint(round, 10), func(t *testing.T) { seen.round(t, round, int64(length), seed+round) }) {
			return
		}
	}
	t.Log(seen)
	if ops >= 10*linearRound { // fewer may lack a kind of call by chance
		seen.check(t)
	}
}

// TestMixedOperationsOfTwoServersAreLinearizable is the same for two servers over one
// PostgreSQL: half of the clients ask each of them. In one round of six they are processes
// of their own, one of which is killed now and then while the other keeps running.
func TestMixedOperationsOfTwoServersAreLinearizable(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // or each round would be skipped, without an end
	ops, seed := env.Length(t, "PUSHBOX_TEST_LINEAR_OPS"), env.Seed(t)
	seen := &linearVariety{calls: make(map[string]int)}
	length := min(linearRound, ops/2) // so that some have kills
	for round := uint64(0); uint64(seen.made) < ops; round++ {
		if !t.Run(strconv.FormatUint(round, 10), func(t *testing.T) {
			r := &linearRun{t: t, seed: seed + round, start: time.Now(), clock: storetest.NewClock(), shut: 200}
			if r.kills = round%killEvery == 1; r.kills {
				seen.kills += r.recordServerKills(int64(length))
			} else {
				a := servertest.On(t, storetest.Postgres(t), unlimited)
				r.other = strings.TrimPrefix(a.Beside(unlimited).URL, "http://")
				r.recordOf(a, int64(length))
			}
			if checkLinear(t, r.history); !t.Failed() {
				seen.note(r.history)
			}
		}) {
			return
		}
	}
	t.Log(seen)
	if ops >= 10*linearRound { // fewer may lack a kind of call by chance
		seen.check(t)
	}
}

// round records the calls of one server, with kills or without, and checks their
// history.
func (v *linearVariety) round(t *testing.T, round uint64, n int64, seed uint64) {
	kills := round%killEvery == 1
	r := &linearRun{t: t, seed: seed, start: time.Now(), kills: kills, clock: storetest.NewClock(), shut: 200}
	if kills {
		_, killed := r.recordKills(n)
		v.kills += killed
	} else {
		r.record(n)
	}
	if checkLinear(t, r.history); !t.Failed() {
		v.note(r.history)
	}
}

// record has the clients make n calls of a server in this process.
func (r *linearRun) record(n int64) {
	r.recordOf(servertest.New(r.t, unlimited), n)
}

// recordOf is record for a server that is there.
func (r *linearRun) recordOf(a *servertest.Server, n int64) {
	_, bearer, _ := strings.Cut(a.AddTokenUser("ann@example.com").Get("Authorization"), " ")
	r.host, r.address, r.bearer, r.clock = linearHome{a}, strings.TrimPrefix(a.URL, "http://"), bearer, a.Store.Clock
	r.run(n, func() {})
	r.lastTour()
}

// checkLinear fails the test for each push whose history has no order that the
// model allows. It leaves a picture of it.
func checkLinear(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	model := linearModel()
	if porcupine.CheckOperationsTimeout(model, history, linearCheck) == porcupine.Ok {
		return
	}
	t.Error("the history is not linearizable")
	for _, part := range model.Partition(history) {
		one := model
		one.Partition = nil
		result, info := porcupine.CheckOperationsVerbose(one, part, linearCheck)
		if result == porcupine.Ok {
			continue
		}
		picture := filepath.Join(t.ArtifactDir(), fmt.Sprintf("push%d.html", part[0].Input.(linearCall).push))
		if err := porcupine.VisualizePath(one, info, picture); err != nil {
			t.Error(err)
		}
		var b strings.Builder
		for _, o := range part {
			fmt.Fprintf(&b, "\n%9d %9d  client %2d  %s", o.Call/1000, o.Return/1000, o.ClientId, model.DescribeOperation(o.Input, o.Output))
		}
		t.Errorf("%s; with -artifacts, %s stays. Microseconds of call and return:%s", result, picture, &b)
	}
}

// A linearVariety counts what happened, so that nothing is missing that the
// histories are there to have.
type linearVariety struct {
	made, kills int
	did, didNot int // calls cut off that took effect for certain, and that did not
	calls       map[string]int
}

func (v *linearVariety) note(history []porcupine.Operation) {
	v.made += len(history)
	for _, o := range history {
		v.calls[outcome(o.Input.(linearCall), o.Output.(linearAnswer))]++
	}
	did, didNot := cutOutcomes(history)
	v.did, v.didNot = v.did+did, v.didNot+didNot
}

// outcome names what came of a call.
func outcome(in linearCall, out linearAnswer) string {
	what := fmt.Sprintf("%s %d", linearOpNames[in.op], out.status)
	switch {
	case in.cut:
		return linearOpNames[in.op] + " cut off"
	case out.deleted:
		what += " deleted"
	case out.expired && out.expiredOn == out.expiresAt:
		what += " by time"
	case out.expired:
		what += " by views"
	}
	return what
}

func (v *linearVariety) String() string {
	return fmt.Sprintf("%d operations, %d kills; of the calls cut off %d took effect for certain, and %d did not: %v", v.made, v.kills, v.did, v.didNot, v.calls)
}

// check fails the test if something never happened.
func (v *linearVariety) check(t *testing.T) {
	t.Helper()
	for _, what := range []string{
		"create 201", "view 200", "view 200 deleted", "view 200 by time", "view 200 by views", "view 401", "view 404",
		"delete 200 deleted", "delete 200 by time", "delete 200 by views", "delete 401",
		"preview 200", "audit 200", "audit 401", "audit 403", "sweep: expire 0",
	} {
		if v.calls[what] == 0 {
			t.Errorf("there was no %s", what)
		}
	}
	const enough = 100 // kills: how calls end that are cut off is chance
	if v.kills >= enough && (v.did == 0 || v.didNot == 0 || v.calls["delete cut off"] == 0) {
		t.Error("of the calls cut off none took effect, or all did")
	}
}
