package proctest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

// PeakMiB is the most memory that a process has used, in MiB, with the files that it
// maps; 0 on systems that do not report it.
func PeakMiB(pid int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return kib >> 10
}

// Installed returns the path of a program. If it is missing, the test is skipped and
// names the Debian package. Programs for root need not be in the PATH.
func Installed(t *testing.T, program, debian string) (path string) {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin") {
		path = filepath.Join(dir, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	if debian == "" {
		t.Skipf("%s is not installed here, and Debian does not have it: put it into the PATH", program)
	}
	t.Skipf("%s is not installed here; in Debian it is in the package %s", program, debian)
	return ""
}

// FreeAddresses returns n different addresses of this machine that are not in use.
func FreeAddresses(t *testing.T, n int) (free []string) {
	t.Helper()
	for range n {
		free = append(free, env.FreeAddress(t))
	}
	return free
}

// EndWith calls end when the test ends, or a moment before the test times out, since no
// cleanup runs then.
func EndWith(t *testing.T, end func()) {
	t.Helper()
	t.Cleanup(end)
	if last, limited := t.Deadline(); limited {
		const early = 5 * time.Second
		timer := time.AfterFunc(time.Until(last)-early, end)
		t.Cleanup(func() { timer.Stop() })
	}
}

// NginxMain is a short form of Debian's nginx.conf, with other paths. The file in
// deploy must override its logs and its compression.
const NginxMain = `daemon off;
worker_processes 2;
pid nginx.pid;
error_log main-error.log info;
events { worker_connections 768; }
http {
	client_body_temp_path body; proxy_temp_path proxied; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
	sendfile on;
	access_log main.log;
	gzip on;
	include site.conf;
}
`

// NginxArgs are the arguments for an nginx with its files in dir.
func NginxArgs(dir string) []string { return []string{"-p", dir, "-c", "main.conf"} }
