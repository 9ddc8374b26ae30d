package webhook

import (
	"cmp"
	"slices"
	"time"

	"pushbox/store/record"
)

// A Failing webhook took no message at the last tries.
type Failing struct {
	ID    record.HookID // 0: the webhook of the instance
	Tries int           // in a row, since the server started
	Next  time.Time     // when the next try is due
}

// Failing lists the webhooks that took no message at their last try, the one with the most
// tries first.
func (d *Dispatcher) Failing() (all []Failing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for to, l := range d.destinations {
		if l.failures > 0 {
			all = append(all, Failing{ID: record.HookID(to), Tries: l.failures, Next: l.until})
		}
	}
	slices.SortFunc(all, func(a, b Failing) int {
		return cmp.Or(cmp.Compare(b.Tries, a.Tries), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Dropped is how many messages to webhooks were never delivered since the start: those that
// found no room, and those that were given up.
func (d *Dispatcher) Dropped() uint64 { return d.given.Load() + d.Store.Dropped() }
