package bolt

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// endedAtOnce is how many pushes a round views, and then ends.
const endedAtOnce = 20_000

// BenchmarkEnd compares the view that ends a push with one that does not, by rate and by
// CPU time, with all that is folded afterwards.
func BenchmarkEnd(b *testing.B) {
	db := preload(b)
	made := preloaded
	for _, goroutines := range []int{16, 64, 256} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			var views, ends cost
			for b.Loop() {
				b.StopTimer()
				from := made
				made += endedAtOnce
				changeBench(b, 512, from, func(p record.Push) error {
					return conformance.Made(db.CreatePush(b.Context(), p, benchPayload, benchEntry))
				})
				foldAll(b, db)
				b.StartTimer()
				for _, one := range []struct {
					*cost
					record.Rule
				}{{&views, benchView}, {&ends, benchLastView}} {
					one.add(func() {
						changeBench(b, goroutines, from, func(p record.Push) error {
							_, err := db.Change(b.Context(), p.ID, one.Rule)
							return err
						})
						foldAll(b, db)
					})
				}
			}
			b.ReportMetric(endedAtOnce*float64(b.N)/views.time.Seconds(), "views/s")
			b.ReportMetric(endedAtOnce*float64(b.N)/ends.time.Seconds(), "ends/s")
			b.ReportMetric(views.time.Seconds()/ends.time.Seconds(), "rate-ratio")
			b.ReportMetric(views.cpu.Seconds()/ends.cpu.Seconds(), "cpu-ratio")
			b.ReportMetric(float64(ends.cpu.Microseconds())/endedAtOnce/float64(b.N), "cpu-us/end")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// A cost is the time and the CPU time of some work.
type cost struct{ time, cpu time.Duration }

func (c *cost) add(work func()) {
	begun, used := time.Now(), cpuTime()
	work()
	c.time, c.cpu = c.time+time.Since(begun), c.cpu+cpuTime()-used
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// changeBench does something to each push of a round, in no order.
func changeBench(b *testing.B, goroutines, from int, change func(record.Push) error) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for i := int(next.Add(1) - 1); i < endedAtOnce; i = int(next.Add(1) - 1) {
				if err := change(benchPush(from + i*7919%endedAtOnce)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// foldAll folds all of the journal.
func foldAll(b *testing.B, db *DB) {
	usual := usualJournal()
	for done := false; !done; {
		err := db.do(b.Context(), 0, func(t *tx) error {
			j := t.journal
			j.bounds.gather = 1
			if done = j.empty(); done {
				j.bounds = usual
			}
			return nil
		})
		env.OK(b, err)
	}
}

// benchLastView is a view that ends the push.
func benchLastView(p record.Push) (record.Push, record.Entry, error) {
	next, e, err := benchView(p)
	next.State, next.ExpiredAt, next.Wrap = record.Expired, next.UpdatedAt, nil
	return next, e, err
}
