package linear_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"pushbox/internal/testkit/env"
	"pushbox/store/storetest"
)

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
	in, err := v.cmd.StdinPipe()
	env.OK(t, err)
	out, err := v.cmd.StdoutPipe()
	env.OK(t, err)
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
	bearer, err := home.fill(r.clock)
	env.OK(r.t, err)
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
	s, err := home.open(r.clock)
	env.OK(r.t, err)
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
