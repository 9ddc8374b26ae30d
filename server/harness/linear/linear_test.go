package linear_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
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
		r.recordOf(servertest.New(t, unlimited), n)
	}
	if checkLinear(t, r.history); !t.Failed() {
		v.note(r.history)
	}
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

// outcome names the outcome of a call.
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

const (
	callsOfLife = 150 // at least, between two kills
	callsSpread = 250
	killSpread  = 4 * time.Millisecond
)

// A linearVictim is a server in a process of its own, that is there to be killed.
type linearVictim struct {
	cmd   *exec.Cmd
	clock *storetest.Clock // goes as the victim's does

	talk    sync.Mutex
	orders  io.WriteCloser
	answers *bufio.Reader
}

// startLinearVictim starts a server, and returns where it listens.
func startLinearVictim(t *testing.T, home victimHome, clock *storetest.Clock) (v *linearVictim, address string) {
	t.Helper()
	v = &linearVictim{cmd: exec.CommandContext(t.Context(), os.Args[0]), clock: clock}
	ahead := clock.Now().Sub(storetest.NewClock().Now())
	v.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", victimEnv+"="+home.dir, victimEnv+"_AHEAD="+ahead.String(), victimEnv+"_URL="+home.url.Reveal())
	v.cmd.Stderr = os.Stderr
	v.cmd.WaitDelay = env.Patience
	in := env.Must(v.cmd.StdinPipe())(t)
	out := env.Must(v.cmd.StdoutPipe())(t)
	v.orders, v.answers = in, bufio.NewReader(out)
	env.OK(t, v.cmd.Start())
	line, err := v.answers.ReadString('\n')
	if err != nil {
		_ = v.end()
		t.Fatalf("the victim does not start: %v, %v", err, v.cmd.ProcessState)
	}
	return v, strings.TrimSpace(line)
}

// order has the victim do something, and waits until that is done.
func (v *linearVictim) order(line string) error {
	v.talk.Lock()
	defer v.talk.Unlock()
	if _, err := fmt.Fprintln(v.orders, line); err != nil {
		return err
	}
	answer, err := v.answers.ReadString('\n')
	if err == nil && answer != "done\n" {
		err = fmt.Errorf("it says %q", answer)
	}
	return err
}

func (v *linearVictim) advance(d time.Duration) error {
	defer v.clock.Advance(d) // where it is killed, the next one continues from there
	return v.order(advanceBy(d))
}

func advanceBy(d time.Duration) string { return fmt.Sprintf("advance %d", d) }

func (v *linearVictim) sweep() error { return v.order("sweep") }

// end waits until the victim has ended.
func (v *linearVictim) end() error { return errors.Join(v.orders.Close(), v.cmd.Wait()) }

// recordKills has the clients make n calls of a server that is killed now and
// then, and started again over the same files. It returns the history of the
// calls, and how often it was killed.
func (r *linearRun) recordKills(n int64) (history []porcupine.Operation, kills int) {
	home, rng := victimHome{dir: r.t.TempDir()}, rand.New(rand.NewPCG(r.seed, 1<<63))
	bearer := env.Must(home.fill(r.clock))(r.t)
	r.bearer = bearer
	for ; r.calls.Load() < n && !r.t.Failed(); r.life++ {
		v := r.startLife(home)
		r.kill(v, r.calls.Load()+callsOfLife+rng.Int64N(callsSpread), time.Duration(rng.Int64N(int64(killSpread))))
		kills++
	}
	v := r.startLife(home)
	r.lastTour()
	if err := v.end(); err != nil {
		r.t.Errorf("the victim ended with: %v", err)
	}
	r.checkHome(home)
	return r.history, kills
}

// checkHome checks what victims have left.
func (r *linearRun) checkHome(home victimHome) {
	s := env.Must(home.open(r.clock))(r.t)
	if err := errors.Join(checkVictim(s), s.Close(ctx)); err != nil {
		r.t.Error(err)
	}
}

func (r *linearRun) startLife(home victimHome) *linearVictim {
	v, address := startLinearVictim(r.t, home, r.clock)
	r.host, r.address = v, address
	r.dying.Store(false)
	return v
}

// kill kills the victim some time after a number of calls, under load.
func (r *linearRun) kill(v *linearVictim, calls int64, later time.Duration) {
	doom, dead := make(chan struct{}), make(chan error, 1)
	go func() {
		select {
		case <-doom:
		case <-time.After(env.Patience):
		}
		time.Sleep(later)
		r.dying.Store(true)
		dead <- v.cmd.Process.Kill()
	}()
	r.run(calls, func() { close(doom) })
	if err := <-dead; err != nil {
		r.t.Error(err)
	}
	_ = v.end() // of the signal
	if v.cmd.ProcessState.Exited() {
		r.t.Errorf("the victim ended by itself: %v", v.cmd.ProcessState)
	}
}
