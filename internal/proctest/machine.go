package proctest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
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

// WantNoOrphans fails the test if chunks that belong to no push are left after a sweep.
func WantNoOrphans(t *testing.T, dir string) {
	t.Helper()
	WithStore(t, dir, func(s *store.Store, e record.Engine) error {
		_, err := s.Sweep(t.Context())
		ids, listErr := e.Orphans(t.Context(), record.ID{}, 100)
		if len(ids) > 0 {
			t.Errorf("%d uploads left chunks behind", len(ids))
		}
		return errors.Join(err, listErr)
	})
}

// Orphans counts the uploads that have left chunks in the file, up to 100.
func Orphans(t *testing.T, dir string) (n int) {
	t.Helper()
	WithStore(t, dir, func(_ *store.Store, e record.Engine) error {
		ids, err := e.Orphans(t.Context(), record.ID{}, 100)
		n = len(ids)
		return err
	})
	return n
}

// WithStore opens the store of the server in dir, which must not run, and calls use.
func WithStore(t *testing.T, dir string, use func(*store.Store, record.Engine) error) {
	t.Helper()
	data := filepath.Join(dir, "data")
	key := env.Must(seal.LoadKeyFile(filepath.Join(data, "master.key")))(t)
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: filepath.Join(data, "pushbox.db")})
	env.OK(t, err)
	s := env.Must(store.Open(t.Context(), engine, key, store.Options{}))(t)
	if err := errors.Join(use(s, engine), s.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
