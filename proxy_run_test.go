//go:build linux

package main

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A proxy is one that runs, in front of a server that need not.
type proxy struct {
	place
	kind    proxyKind
	program string // its path
	roots   *x509.CertPool
	cmd     *exec.Cmd
	said    *spoken       // on standard output and error
	ended   chan struct{} // closed when it has
}

// A spoken is what a program says, which may be looked at while it runs.
type spoken struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *spoken) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// startProxy runs a proxy as deploy has it in front of the address, without
// privileges and in a directory of its own. It ends with the test.
func startProxy(t *testing.T, kind proxyKind, backend string) *proxy {
	t.Helper()
	const tries = 3 // somebody else may take a port that was free
	program := installed(t, kind.program, kind.debian)
	for n := 1; ; n++ {
		p := newProxy(t, kind, backend)
		p.program = program
		err := p.start(t)
		if err == nil {
			return p
		}
		if n == tries {
			t.Fatalf("%v\n%s", err, p.said)
		}
	}
}

func newProxy(t *testing.T, kind proxyKind, backend string) *proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "pushbox-proxy-") // not t.TempDir, which other accounts may not enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	free := freeAddresses(t, 4)
	p := &proxy{kind: kind, said: new(spoken), ended: make(chan struct{})}
	p.place = place{
		dir: dir, backend: backend, tls: free[0], plain: free[1], tls6: free[2], plain6: free[3],
		config: filepath.Join(dir, "site.conf"), combined: filepath.Join(dir, "push.example.com.pem"),
	}
	p.account, p.group = unprivileged()
	p.roots = p.certify(t)
	p.write(t, p.config, settle(t, kind, p.place))
	if kind.static != "" { // its programs want a name for each form
		p.write(t, filepath.Join(dir, "site.yaml"), settled(t, kind.file, kind.here(p.place)))
		p.write(t, filepath.Join(dir, "static.yaml"), settled(t, kind.static, kind.here(p.place)))
	}
	p.write(t, filepath.Join(dir, "main.conf"), []byte(kind.main))
	if err := os.Chown(dir, p.account, p.group); err != nil {
		t.Fatal(err)
	}
	return p
}

// settle is the file of deploy as it is to be here. What it says at the places that
// are replaced must be there, or the test would run something else.
func settle(t *testing.T, kind proxyKind, p place) []byte {
	t.Helper()
	here, whole := kind.here(p), read(t, kind.file)
	if kind.static != "" {
		whole += read(t, kind.static)
	}
	for i := 0; i < len(here); i += 2 {
		if !strings.Contains(whole, here[i]) {
			t.Fatalf("deploy/%s does not say %q", kind.file, here[i])
		}
	}
	return settled(t, kind.file, here)
}

// settled is a file of deploy after what is replaced.
func settled(t *testing.T, name string, here []string) []byte {
	t.Helper()
	return []byte(strings.NewReplacer(here...).Replace(read(t, name)))
}

// read returns a file of deploy.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// write makes a file that the proxy may read.
func (p *proxy) write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(name, p.account, p.group); err != nil {
		t.Fatal(err)
	}
}

// freeAddresses are so many addresses of this machine that nobody listens on.
func freeAddresses(t *testing.T, n int) (free []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // all are held until all are known, so that they differ
		free = append(free, l.Addr().String())
	}
	return free
}

// start runs the program and waits until it passes requests on.
func (p *proxy) start(t *testing.T) error {
	t.Helper()
	p.cmd = exec.Command(p.program, p.kind.args(p.dir)...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.dir, p.said, p.said
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "XDG_DATA_HOME=" + p.dir, "XDG_CONFIG_HOME=" + p.dir}
	if os.Geteuid() == 0 {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(p.account), Gid: uint32(p.group)}}
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // its outcome is in ProcessState
	}()
	endInTime(t, p.kill)
	g := p.guest(t, "127.7.0.1", false)
	for late := time.After(patience); ; {
		if res, err := g.Get(site + "/healthz"); err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended: %v", p.kind.program, p.cmd.ProcessState)
		case <-late:
			return fmt.Errorf("%s passes nothing on", p.kind.program)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// endInTime has something end with the test, also where that runs out of time.
func endInTime(t *testing.T, end func()) {
	t.Cleanup(end)
	if last, limited := t.Deadline(); limited {
		const early = 5 * time.Second
		timer := time.AfterFunc(time.Until(last)-early, end)
		t.Cleanup(func() { timer.Stop() })
	}
}

// stop ends the proxy as an operator does, and waits.
func (p *proxy) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("%s does not stop", p.kind.program)
	}
}

// kill ends the proxy and what it has started, if it has not ended yet.
func (p *proxy) kill() {
	for _, pid := range p.pids() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-p.ended
}

// logs are all that the proxy wrote down, by where, and its access log.
func (p *proxy) logs(t *testing.T) (all map[string]string, access string) {
	t.Helper()
	all = map[string]string{"what it said": p.said.String()}
	names, err := filepath.Glob(filepath.Join(p.dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = string(b)
	}
	if access = all[p.kind.log]; p.kind.log == "" {
		access = p.said.String()
	}
	return all, access
}
