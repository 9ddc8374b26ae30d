package faultfs

import (
	"math/rand/v2"
	"syscall"
)

// A Fault hits one operation: the N-th of its kinds, from 1, after it was set. Times is
// the number of operations in a row that it hits, if not one: the kernel repeats a read
// ahead that failed.
type Fault struct {
	Kinds []Kind
	N     int
	Times int // 0: once
	Err   syscall.Errno
	// Half makes a write of several sectors write the first half of them and return
	// that length; the call that continues with the rest returns Err. Without an Err it
	// is only a short write.
	Half bool
}

// SetFault replaces the fault, and counts operations from here.
func (d *Disk) SetFault(f Fault, _ *None) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setFault(f)
	return nil
}

func (d *Disk) setFault(f Fault) { d.fault, d.count, d.met, d.torn = f, [kinds]int{}, false, false }

// Met reports whether an operation was hit by the fault.
func (d *Disk) Met(_ None, met *bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	*met = d.met
	return nil
}

// hit counts an operation and reports whether the fault is for it.
func (d *Disk) hit(k Kind) bool {
	d.count[k]++
	n, ours := 0, false
	for _, of := range d.fault.Kinds {
		n += d.count[of]
		ours = ours || of == k
	}
	if !ours || n < d.fault.N || n >= d.fault.N+max(1, d.fault.Times) {
		return false
	}
	d.met = true
	return true
}

// meet counts an operation and returns the error that it must return.
func (d *Disk) meet(k Kind) syscall.Errno {
	if d.hit(k) {
		return d.fault.Err
	}
	return 0
}

// meetWrite is meet for a write of n bytes. It returns the number of bytes to write,
// too.
func (d *Disk) meetWrite(n int) (int, syscall.Errno) {
	if d.torn {
		d.torn = false
		return 0, d.fault.Err
	}
	switch half := n / SectorSize / 2 * SectorSize; {
	case !d.hit(Write) || d.fault.Err == 0 && half == 0:
		return n, 0
	case !d.fault.Half || half == 0:
		return 0, d.fault.Err
	default:
		d.torn = d.fault.Err != 0
		return half, 0
	}
}

// Chance returns a random Keep for pending changes: all or nothing, all except one or
// one alone, whole changes or sectors, few or many. It returns the choice in a word,
// too.
func Chance(r *rand.Rand, pending []Entry) (how string, keep Keep) {
	share := r.Float64()
	switch n := len(pending); {
	case n == 0:
		return "all synced", func(int, int) bool { return true }
	case n > 1 && r.IntN(5) == 0:
		only := r.IntN(n)
		return "one kept", func(change, _ int) bool { return change == only }
	case n > 1 && r.IntN(4) == 0:
		lost := r.IntN(n)
		return "one lost", func(change, _ int) bool { return change != lost }
	}
	switch r.IntN(8) {
	case 0:
		return "all lost", func(int, int) bool { return false }
	case 1:
		return "all kept", func(int, int) bool { return true }
	case 2, 3:
		kept := make([]bool, len(pending))
		for i := range kept {
			kept[i] = r.Float64() < share
		}
		return "some kept", func(change, _ int) bool { return kept[change] }
	case 4:
		last := len(pending) - 1
		return "the last torn", func(change, _ int) bool { return change < last || r.Float64() < share }
	default:
		return "torn", func(int, int) bool { return r.Float64() < share }
	}
}
