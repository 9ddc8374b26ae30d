package main

import (
	"math"

	"github.com/prometheus/procfs"
)

// A usage is what processes have used since they began, or within a time. A figure that
// the system does not tell is NaN.
type usage struct {
	cpu      float64 // seconds, user and system
	written  float64 // bytes sent to disks, as the system counts them
	handed   float64 // bytes given to write calls, for files, connections and logs
	resident float64 // bytes in memory
}

func unknownUsage() usage { return usage{math.NaN(), math.NaN(), math.NaN(), math.NaN()} }

// plus is the sum of two usages.
func (u usage) plus(v usage) usage {
	return usage{u.cpu + v.cpu, u.written + v.written, u.handed + v.handed, u.resident + v.resident}
}

// since is the usage between two times; the memory is that at the later one.
func (u usage) since(before usage) usage {
	return usage{u.cpu - before.cpu, u.written - before.written, u.handed - before.handed, u.resident}
}

// usageOf adds up the usage of processes. A figure that is unknown of one is unknown of
// all.
func usageOf(pids []int) usage {
	if len(pids) == 0 {
		return unknownUsage()
	}
	var sum usage
	for _, pid := range pids {
		u := unknownUsage()
		if p, err := procfs.NewProc(pid); err == nil {
			if s, err := p.Stat(); err == nil {
				u.cpu = s.CPUTime()
			}
			if s, err := p.NewStatus(); err == nil {
				u.resident = float64(s.VmRSS)
			}
			if s, err := p.IO(); err == nil { // only root and the user of the process may read it
				u.written, u.handed = float64(s.WriteBytes), float64(s.WChar)
			}
		}
		sum = sum.plus(u)
	}
	return sum
}
