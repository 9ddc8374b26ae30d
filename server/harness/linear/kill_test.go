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

	"pushbox/store/storetest"
)

// A linearVictim is a server in a process of its own, that is there to be killed.
type linearVictim struct {
	cmd   *exec.Cmd
	clock *storetest.Clock // goes as the victim's does

	talk    sync.Mutex
	orders  io.WriteCloser
	answers *bufio.Reader
}

// startLinearVictim starts a server over the files in dir, and returns where it
// listens.
func startLinearVictim(t *testing.T, dir string, clock *storetest.Clock) (v *linearVictim, address string) {
	t.Helper()
	v = &linearVictim{cmd: exec.CommandContext(t.Context(), os.Args[0]), clock: clock}
	ahead := clock.Now().Sub(storetest.NewClock().Now())
	v.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", victimEnv+"="+dir, victimEnv+"_AHEAD="+ahead.String())
	v.cmd.Stderr = os.Stderr
	v.cmd.WaitDelay = linearPatience
	in, err := v.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.orders, v.answers = in, bufio.NewReader(out)
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
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
	defer v.clock.Advance(d) // where it is killed, the next one goes on from there
	return v.order(fmt.Sprintf("advance %d", d))
}

func (v *linearVictim) sweep() error { return v.order("sweep") }

// end waits until the victim has ended.
func (v *linearVictim) end() error { return errors.Join(v.orders.Close(), v.cmd.Wait()) }

// recordKills has the clients make n calls of a server that is killed now and
// then, and started again over the same files. It returns the history of the
// calls, and how often it was killed.
func (r *linearRun) recordKills(n int64) (history []porcupine.Operation, kills int) {
	const calls, spread = 150, 250 // between two kills
	dir, rng := r.t.TempDir(), rand.New(rand.NewPCG(r.seed, 1<<63))
	bearer, err := newVictimFiles(dir, r.clock)
	if err != nil {
		r.t.Fatal(err)
	}
	r.bearer = bearer
	for ; r.calls.Load() < n && !r.t.Failed(); r.life++ {
		v := r.startLife(dir)
		r.kill(v, r.calls.Load()+calls+rng.Int64N(spread), time.Duration(rng.Int64N(int64(4*time.Millisecond))))
		kills++
	}
	v := r.startLife(dir)
	r.lastTour()
	if err := v.end(); err != nil {
		r.t.Errorf("the victim ended with: %v", err)
	}
	s, err := openVictim(dir, r.clock)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := errors.Join(checkVictim(s), s.Close(ctx)); err != nil {
		r.t.Error(err)
	}
	return r.history, kills
}

func (r *linearRun) startLife(dir string) *linearVictim {
	v, address := startLinearVictim(r.t, dir, r.clock)
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
		case <-time.After(linearPatience):
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
