//go:build linux

package proxy

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// pids are the proxy's process and its children.
func (p *proxy) pids() []int {
	select {
	case <-p.ended: // its ID may belong to another process now
		return nil
	default:
	}
	all := []int{p.cmd.Process.Pid}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", all[0], all[0]))
	for _, child := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// peak is the most memory that the proxy's processes have used, in MiB.
func (p *proxy) peak() (mib int) {
	for _, pid := range p.pids() {
		mib += proctest.PeakMiB(pid)
	}
	return mib
}

// spooled is the number of bytes that the proxy has in files: open ones, which may no
// longer have a name, and those in its directory.
func (p *proxy) spooled(t *testing.T) (bytes int64) {
	t.Helper()
	for _, pid := range p.pids() {
		open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		env.OK(t, err)
		for _, name := range open {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				bytes += info.Size()
			}
		}
	}
	_ = filepath.WalkDir(p.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// readBytes is the number of bytes that a process has read, from files and connections.
func readBytes(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	env.OK(t, err)
	_, rest, _ := strings.Cut(string(text), "rchar: ")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseInt(line, 10, 64)
	env.OK(t, err)
	return n
}

// lingering is the number of connections with the address that were closed lately
// (TIME-WAIT).
func lingering(t *testing.T, address string) (n int) {
	t.Helper()
	const timeWait = "06"
	text, err := os.ReadFile("/proc/net/tcp")
	env.OK(t, err)
	number, err := strconv.Atoi(port(address)[1:])
	env.OK(t, err)
	hex := fmt.Sprintf(":%04X", number)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		ends := slices.ContainsFunc(f[1:min(3, len(f))], func(s string) bool { return strings.HasSuffix(s, hex) })
		if len(f) > 3 && ends && f[3] == timeWait {
			n++
		}
	}
	return n
}
