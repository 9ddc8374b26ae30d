package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ticks is how many parts of a second /proc counts CPU time in, on all that
// Linux runs on.
const ticks = 100

// An amount is a figure that the system may not tell.
type amount struct {
	n     float64
	known bool
}

func known(n float64) amount { return amount{n, true} }

func (a amount) plus(b amount) amount  { return amount{a.n + b.n, a.known && b.known} }
func (a amount) minus(b amount) amount { return amount{a.n - b.n, a.known && b.known} }

// over is the ratio of two amounts; unknown where that would be to nothing.
func (a amount) over(b amount) amount {
	if b.n == 0 {
		return amount{}
	}
	return amount{a.n / b.n, a.known && b.known}
}

// per is the amount for each of n; unknown for none.
func (a amount) per(n int) amount {
	return a.over(known(float64(n)))
}

// A usage is what processes have used since they began, or within a time.
type usage struct {
	cpu      amount // seconds, user and system
	written  amount // bytes sent to disks, as the system counts them
	handed   amount // bytes given to write calls, for files, connections and logs
	resident amount // bytes in memory
}

// noUsage is that of no process.
func noUsage() usage { return usage{known(0), known(0), known(0), known(0)} }

// plus adds up what two have used.
func (u usage) plus(v usage) usage {
	return usage{u.cpu.plus(v.cpu), u.written.plus(v.written), u.handed.plus(v.handed), u.resident.plus(v.resident)}
}

// usageOf adds up what /proc tells of processes. What it does not tell of one
// is unknown of all, and everything is if it is not known which they are.
func usageOf(pids []int) usage {
	if len(pids) == 0 {
		return usage{}
	}
	u := noUsage()
	for _, pid := range pids {
		u = u.plus(usage{cpuTime(pid), counter(pid, "io", "write_bytes:", 1), counter(pid, "io", "wchar:", 1), counter(pid, "status", "VmRSS:", 1<<10)})
	}
	return u
}

// since is what was used between two times; the memory is that at the later.
func (u usage) since(before usage) usage {
	return usage{u.cpu.minus(before.cpu), u.written.minus(before.written), u.handed.minus(before.handed), u.resident}
}

// cpuTime is the time that a process had of the CPUs, in seconds.
func cpuTime(pid int) amount {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return amount{}
	}
	return cpuOf(string(text))
}

// cpuOf reads a line of /proc/PID/stat: behind the program's name in brackets,
// which may hold anything, user and system time are the 12th and 13th fields.
func cpuOf(stat string) amount {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return amount{}
	}
	user, err1 := strconv.ParseUint(fields[11], 10, 64)
	system, err2 := strconv.ParseUint(fields[12], 10, 64)
	return amount{float64(user+system) / ticks, err1 == nil && err2 == nil}
}

// counter reads a number in a file of /proc/PID, in units.
func counter(pid int, file, name string, unit float64) amount {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return amount{}
	}
	return counterOf(string(text), name, unit)
}

// counterOf finds the number behind a name at the beginning of a line.
func counterOf(text, name string, unit float64) amount {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			n, err := strconv.ParseUint(word, 10, 64)
			return amount{float64(n) * unit, err == nil}
		}
	}
	return amount{}
}
