//go:build linux

package proxy

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// A proxy is a running proxy. The server behind it may be down.
type proxy struct {
	place
	kind    proxyKind
	program string // its path
	roots   *x509.CertPool
	cmd     *exec.Cmd
	output  *proctest.Output // standard output and error
	ended   chan struct{}    // closed when it has ended
}

// startProxy runs a proxy with its file in deploy, in front of the addresses of servers,
// without privileges and in a directory of its own. It ends with the test.
func startProxy(t *testing.T, kind proxyKind, backends ...string) *proxy {
	t.Helper()
	const tries = 3 // another program may take a port that was free
	program := proctest.Installed(t, kind.program, kind.debian)
	for n := 1; ; n++ {
		p := newProxy(t, kind, backends)
		p.program = program
		err := p.start(t)
		if err == nil {
			return p
		}
		if n == tries {
			t.Fatalf("%v\n%s", err, p.output)
		}
	}
}

func newProxy(t *testing.T, kind proxyKind, backends []string) *proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "pushbox-proxy-") // not t.TempDir, which other accounts may not open
	env.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	free := proctest.FreeAddresses(t, 4)
	p := &proxy{kind: kind, output: new(proctest.Output), ended: make(chan struct{})}
	p.place = place{
		dir: dir, backend: backends[0], second: backends[len(backends)-1], tls: free[0], plain: free[1], tls6: free[2], plain6: free[3],
		config: filepath.Join(dir, "site.conf"), combined: filepath.Join(dir, "push.example.com.pem"),
	}
	p.account, p.group = unprivileged()
	p.roots = p.certify(t)
	p.write(t, p.config, configured(t, kind, p.place))
	if kind.static != "" { // Traefik needs a file name for each format
		p.write(t, filepath.Join(dir, "site.yaml"), replaced(read(t, kind.file), kind.here(p.place)))
		p.write(t, filepath.Join(dir, "static.yaml"), replaced(read(t, kind.static), kind.here(p.place)))
	}
	p.write(t, filepath.Join(dir, "main.conf"), []byte(kind.main))
	env.OK(t, os.Chown(dir, p.account, p.group))
	return p
}

// configured is a file of deploy with its replacements. Each text to replace must be
// there, or the test would run something else.
func configured(t *testing.T, kind proxyKind, p place) []byte {
	t.Helper()
	here, text := kind.here(p), read(t, kind.file)
	if kind.several != "" {
		single := regexp.MustCompile(kind.single)
		if len(single.FindAllString(text, -1)) != 1 {
			t.Fatalf("deploy/%s does not have one %s", kind.file, kind.single)
		}
		text = single.ReplaceAllLiteralString(text, read(t, kind.several))
	}
	whole := text
	if kind.static != "" {
		whole += read(t, kind.static)
	}
	for i := 0; i < len(here); i += 2 {
		if !strings.Contains(whole, here[i]) {
			t.Fatalf("deploy/%s does not say %q", kind.file, here[i])
		}
	}
	return replaced(text, here)
}

// replaced is a text after the replacements.
func replaced(text string, here []string) []byte {
	return []byte(strings.NewReplacer(here...).Replace(text))
}

// read returns a file of deploy.
func read(t *testing.T, name string) string {
	t.Helper()
	return string(env.Read(t, filepath.Join("deploy", name)))
}

// write writes a file that the proxy may read.
func (p *proxy) write(t *testing.T, name string, content []byte) {
	t.Helper()
	env.OK(t, os.WriteFile(name, content, 0o600))
	env.OK(t, os.Chown(name, p.account, p.group))
}

// start runs the program and waits until it forwards requests.
func (p *proxy) start(t *testing.T) error {
	t.Helper()
	p.cmd = exec.Command(p.program, p.kind.args(p.dir)...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.dir, p.output, p.output
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "XDG_DATA_HOME=" + p.dir, "XDG_CONFIG_HOME=" + p.dir}
	if os.Geteuid() == 0 {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(p.account), Gid: uint32(p.group)}}
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the result is in ProcessState
	}()
	proctest.EndWith(t, p.kill)
	g := p.client(t, "127.7.0.1", false)
	for late := time.After(proctest.Patience); ; {
		if res, err := g.Get(site + "/healthz"); err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended: %v", p.kind.program, p.cmd.ProcessState)
		case <-late:
			return fmt.Errorf("%s forwards nothing", p.kind.program)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stop ends the proxy as an operator does, and waits.
func (p *proxy) stop(t *testing.T) {
	t.Helper()
	env.OK(t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.ended:
	case <-time.After(proctest.Patience):
		t.Fatalf("%s does not stop", p.kind.program)
	}
}

// kill kills the proxy and its children, unless it has ended.
func (p *proxy) kill() {
	for _, pid := range p.pids() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-p.ended
}

// logs are all that the proxy wrote, by file name, and its access log.
func (p *proxy) logs(t *testing.T) (all map[string]string, access string) {
	t.Helper()
	all = map[string]string{"its output": p.output.String()}
	names := env.Must(filepath.Glob(filepath.Join(p.dir, "*.log")))(t)
	for _, name := range names {
		b := env.Read(t, name)
		all[filepath.Base(name)] = string(b)
	}
	if access = all[p.kind.log]; p.kind.log == "" {
		access = p.output.String()
	}
	return all, access
}

// TestPushboxBehindProxies runs each proxy with its file in deploy, in front of a
// server, and compares what clients get from both. PUSHBOX_TEST_PROXY_MIB sets the size
// of the files (64); at least 16, so that no buffer holds one.
func TestPushboxBehindProxies(t *testing.T) {
	t.Parallel()
	size := int64(env.Length(t, "PUSHBOX_TEST_PROXY_MIB")) << 20
	for name, kind := range proxyKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proctest.Installed(t, kind.program, kind.debian)
			f := newProxied(t, kind, size)
			for i, protocol := range []string{"HTTP/1.1", "HTTP/2"} {
				t.Run(protocol, func(t *testing.T) {
					v := &route{T: t, proxied: f, http2: i == 1, net: fmt.Sprintf("127.7.%d.", i+1)}
					v.follow()
				})
			}
			f.neverTwice(t, kind, f.proxy.backend)
			f.refusals(t)
			f.wantSilentLogs(t, "127.7.1.1", "127.7.2.1")
		})
	}
}

// A proxied is a server behind a proxy.
type proxied struct {
	dir, token string
	size       int64 // of the large files, in bytes
	server     *proctest.Server
	proxy      *proxy
	secrets    map[string]string // what no log may have, and its name
}

func newProxied(t *testing.T, kind proxyKind, size int64) *proxied {
	t.Helper()
	f := &proxied{dir: t.TempDir(), size: size, secrets: make(map[string]string)}
	f.serve(t, "127.0.0.1:0")
	f.token = proctest.APIToken(t, f.dir)
	f.secrets[f.token] = "the API token"
	f.proxy = startProxy(t, kind, strings.TrimPrefix(f.server.URL, "http://"))
	return f
}

// serve starts the server, which trusts 127.0.0.1 as its proxy.
func (f *proxied) serve(t *testing.T, address string, settings ...string) {
	t.Helper()
	environ := append(proctest.LoadEnviron(), "PUSHBOX_TRUSTED_PROXIES=127.0.0.1", "PUSHBOX_LIMITS_UNKNOWN_TOKENS_PER_MINUTE=3")
	p := env.Must(proctest.Start(f.dir, append(environ, settings...), []string{"--listen", address}))(t)
	proctest.EndWith(t, p.Kill)
	f.server = &proctest.Server{Process: p, T: t}
}

// A route is one way in: a protocol, and a network of clients.
type route struct {
	*testing.T
	*proxied
	http2 bool
	net   string // prefix of their addresses
}

func (v *route) client(number string) *http.Client {
	return v.proxy.client(v.T, v.net+number, v.http2)
}

// filer is a file client with the API token.
func (v *route) filer(number string) *proctest.FileClient {
	return &proctest.FileClient{Caller: proctest.Caller{URL: site, HTTP: v.client(number)}, Token: v.token}
}

// follow runs all checks.
func (v *route) follow() {
	v.addresses()
	v.limits()
	v.cookies()
	v.pages()
	v.largeHeaders()
	v.keepAlive()
	v.plainHTTP()
	ctx, cancel := context.WithTimeout(v.Context(), proctest.Within(8*v.size))
	defer cancel()
	v.files(ctx)
	v.tooLarge()
}

// wantSilentLogs stops the proxy and searches its log and the server's for secrets. The
// access log must have the clients, or the search would prove nothing.
func (f *proxied) wantSilentLogs(t *testing.T, clients ...string) {
	t.Helper()
	f.proxy.stop(t)
	all, access := f.proxy.logs(t)
	all["pushbox"] = f.server.Log()
	for where, text := range all {
		for secret, what := range f.secrets {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s is in the log %q: %.200s", what, where, text[max(0, i-100):])
			}
		}
	}
	for _, client := range clients {
		if !strings.Contains(access, client) {
			t.Errorf("the access log does not have %s: %.500s", client, access)
		}
	}
}
