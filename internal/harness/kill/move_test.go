package kill

import (
	"math/rand/v2"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

// A move is killed at random moments, in both directions, and run again: at no moment may
// two places be served, and at the end all records are where they went to.
func TestAKilledMoveGoesOn(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(env.Seed(t), 0))
	kills := env.Length(t, "PUSHBOX_TEST_MOVE_KILLS")
	m := newMover(t, 8)
	usual := map[bool]time.Duration{}
	for _, back := range []bool{false, true} {
		usual[back] = m.finish(moveArgs(back)...)
	}
	cut := 0
	for n := uint64(0); n < kills; {
		m.next()
		m.url = m.cluster.Database(t)
		for _, back := range []bool{false, true} {
			for range 1 + r.IntN(3) {
				n++
				cmd, stderr := m.command(m.url.Reveal(), moveArgs(back)...)
				begun := time.Now()
				env.OK(t, cmd.Start())
				timer := time.AfterFunc(time.Duration(r.Int64N(int64(usual[back]))), func() { _ = cmd.Process.Kill() })
				err := cmd.Wait()
				timer.Stop()
				switch {
				case err == nil: // this machine was busier before
					usual[back] = min(usual[back], time.Since(begun))
				case cmd.ProcessState.Exited():
					t.Fatalf("pushbox %v: %v\n%s", moveArgs(back), err, stderr)
				default:
					cut++
				}
				m.judge()
			}
			usual[back] = min(usual[back], m.finish(moveArgs(back)...))
		}
	}
	t.Logf("%d of %d moves were killed", cut, kills)
	if kills > 4 && cut == 0 {
		t.Error("no move was interrupted")
	}
}

func moveArgs(back bool) []string {
	if back {
		return []string{"move", "--back"}
	}
	return []string{"move"}
}

// A move is killed at each of its commits: before PostgreSQL hears of it, and after.
func TestAMoveThatIsKilledAtACommitGoesOn(t *testing.T) {
	t.Parallel()
	m := newMover(t, 1)
	for _, back := range []bool{false, true} {
		for at := int64(1); ; at++ {
			met := false
			for _, after := range []bool{false, true} {
				if !back {
					m.next()
					m.url = m.cluster.Database(t)
				}
				g := m.newGate(at, after)
				cmd, stderr := m.command(g.url, moveArgs(back)...)
				err := cmd.Start()
				if err == nil {
					g.process <- cmd.Process
					err = cmd.Wait()
				}
				if !g.killed.Load() && err != nil {
					t.Fatalf("pushbox %v: %v\n%s", moveArgs(back), err, stderr)
				}
				met = met || g.killed.Load()
				file, database := m.judge()
				t.Logf("%v, commit %d, after %t: the file may be served: %t, PostgreSQL: %t", moveArgs(back), at, after, file, database)
				m.finish(moveArgs(back)...)
				if back { // for the next one
					m.next()
					m.url = m.cluster.Database(t)
					m.finish(moveArgs(false)...)
				} else {
					m.finish(moveArgs(true)...)
				}
			}
			if !met {
				if at < 3 {
					t.Errorf("%v has %d commits", moveArgs(back), at-1)
				}
				break
			}
		}
		if !back {
			m.next()
			m.url = m.cluster.Database(t)
			m.finish(moveArgs(false)...)
		}
	}
}
