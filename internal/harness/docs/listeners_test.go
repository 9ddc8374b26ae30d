//go:build linux

package docs

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// A recipe is a section of a manual: its blocks by language.
type recipe map[string][]string

// recipeOf reads the section under a heading.
func recipeOf(t *testing.T, manual, heading string) recipe {
	t.Helper()
	r := make(recipe)
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(section(t, manual, "## "+heading), -1) {
		r[m[1]] = append(r[m[1]], m[2])
	}
	return r
}

// A recipeServer follows a recipe in a directory of its own, with the test's addresses
// and paths instead of the manual's.
type recipeServer struct {
	t    *testing.T
	dir  string
	here []string // the manual's text and the test's, in turn
}

func newRecipeServer(t *testing.T) *recipeServer {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb") // short: the path of a socket has a limit
	env.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &recipeServer{t: t, dir: dir}
}

// place returns a text of the manual with the test's addresses and paths.
func (k *recipeServer) place(text string) string { return strings.NewReplacer(k.here...).Replace(text) }

// write writes a file.
func (k *recipeServer) write(name, text string) string {
	k.t.Helper()
	name = filepath.Join(k.dir, name)
	env.OK(k.t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// command is a server with these settings, started by a shell that becomes the server.
func (k *recipeServer) command(settings string) *exec.Cmd {
	k.t.Helper()
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec pushbox serve --config "$0"`, k.write("pushbox.yaml", k.place(settings)))
	cmd.Dir, cmd.Env = k.dir, append(proctest.Environ(), "GORACE=atexit_sleep_ms=0")
	return cmd
}

func (k *recipeServer) start(cmd *exec.Cmd) *proctest.Process {
	k.t.Helper()
	p := env.Must(proctest.StartCommand(cmd))(k.t)
	proctest.EndWith(k.t, p.Kill)
	return p
}

// follow runs commands, each with its output behind a #.
func (k *recipeServer) follow(block string) {
	k.t.Helper()
	for line := range strings.Lines(k.place(block)) {
		command, want, ok := strings.Cut(strings.TrimSpace(line), " # ")
		if !ok {
			k.t.Fatalf("the manual has no output for %s", line)
		}
		cmd := exec.CommandContext(k.t.Context(), "sh", "-c", command)
		cmd.Dir = k.dir
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
			k.t.Errorf("%s\nprints %q, %v, not %q", command, out, err, want)
		}
	}
}

// stop stops a server as systemd does. Its log must be without errors.
func (k *recipeServer) stop(p *proctest.Process) {
	k.t.Helper()
	if code, err := p.Signal("TERM"); code != 0 || err != nil || len(p.Errors()) > 0 {
		k.t.Errorf("it stops with %d, %v\n%s", code, err, p.Log())
	}
}

const listeners = "docs/listeners.md"

// TestTheRecipesOfListenersWork follows docs/listeners.md, with other addresses and
// paths.
func TestTheRecipesOfListenersWork(t *testing.T) {
	t.Parallel()
	proctest.Installed(t, "curl", "curl")
	t.Run("two listeners", func(t *testing.T) {
		t.Parallel()
		k, r := newRecipeServer(t), recipeOf(t, listeners, "Reading is public, creating is not")
		free := proctest.FreeAddresses(t, 3)
		k.here = []string{"10.0.0.7:5100", free[0], "127.0.0.1:5101", free[1], "127.0.0.1:5100", free[2]}
		for i, settings := range r["yaml"] {
			p := k.start(k.command(settings))
			k.follow(r["sh"][i])
			k.stop(p)
		}
	})
	t.Run("a Unix socket", func(t *testing.T) {
		t.Parallel()
		k, r := newRecipeServer(t), recipeOf(t, listeners, "A Unix socket behind nginx")
		k.here = []string{"/run/pushbox/", k.dir + "/"}
		k.start(k.command(r["yaml"][0])).Kill() // its socket file must not break the next start
		p := k.start(k.command(r["yaml"][0]))
		k.follow(r["sh"][0])
		other := k.command(r["yaml"][0] + "\ndata_dir: other\n")
		if out, err := other.CombinedOutput(); other.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "listen: "+k.dir+"/pushbox.sock: another program answers on this socket") {
			t.Errorf("a second server: %v\n%s", err, out)
		}
		k.follow(r["sh"][0])
		k.stop(p)
		if _, err := os.Stat(filepath.Join(k.dir, "pushbox.sock")); !os.IsNotExist(err) {
			t.Errorf("after the stop the socket is still there: %v", err)
		}
	})
	t.Run("sockets of systemd", func(t *testing.T) {
		t.Parallel()
		k, r := newRecipeServer(t), recipeOf(t, listeners, "Socket activation by systemd")
		k.systemd(r)
	})
}

// systemd opens the sockets of the units and passes them to the server, as systemd does.
func (k *recipeServer) systemd(r recipe) {
	k.t.Helper()
	k.here = []string{"10.0.0.7:80", proctest.FreeAddresses(k.t, 1)[0], "/run/", k.dir + "/"}
	cmd := k.command(r["yaml"][0])
	var names, at []string
	for _, unit := range r["ini"][:2] {
		field := func(name string) string {
			return regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(unit)[1]
		}
		address := k.place(field("ListenStream"))
		network := map[bool]string{true: "unix", false: "tcp"}[address[0] == '/']
		l := env.Must(net.Listen(network, address))(k.t)
		defer l.Close()
		f := env.Must(l.(interface{ File() (*os.File, error) }).File())(k.t)
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		names, at = append(names, field("FileDescriptorName")), append(at, address)
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("LISTEN_FDS=%d", len(names)), "LISTEN_FDNAMES="+strings.Join(names, ":"))
	for range 2 { // the sockets outlast a restart
		again := *cmd
		p := k.start(&again)
		k.follow("curl -s -o /dev/null -w '%{http_code}' http://" + at[0] + "/ # 200\n" +
			"curl -s -o /dev/null -w '%{http_code}' --unix-socket " + at[1] + " http://localhost/ # 404\n" +
			"curl -s --unix-socket " + at[1] + ` http://localhost/healthz # {"status":"ok"}` + "\n")
		k.stop(p)
	}
	wrong := k.command(strings.Replace(r["yaml"][0], "systemd:inside", "systemd:elsewhere", 1))
	wrong.ExtraFiles, wrong.Env = cmd.ExtraFiles, cmd.Env
	if out, err := wrong.CombinedOutput(); !strings.Contains(string(out), `listen: systemd passed no socket named "elsewhere"; it passed: inside, public`) {
		k.t.Errorf("a wrong name: %v\n%s", err, out)
	}
}

// TestTheSubPathOfTheManualWorks runs nginx with the configuration in docs/proxies.md.
func TestTheSubPathOfTheManualWorks(t *testing.T) {
	t.Parallel()
	nginx := proctest.Installed(t, "nginx", "nginx-light")
	k, r := newRecipeServer(t), recipeOf(t, "docs/proxies.md", "A sub-path")
	free := proctest.FreeAddresses(t, 2)
	k.here = []string{"/var/log/nginx/", k.dir + "/"}
	p := k.start(k.command("listen: " + free[0] + "\nbase_path: /push\n"))
	logFormat := regexp.MustCompile(`(?m)^log_format .*$`).FindString(string(readFile(t, "deploy/nginx.conf")))
	k.write("site.conf", "upstream pushbox { server "+free[0]+"; }\n"+logFormat+"\nserver {\nlisten "+free[1]+";\n"+
		"location / { return 200 'something else'; }\n"+k.place(r["nginx"][0])+"}\n")
	k.write("main.conf", strings.Replace(proctest.NginxMain, "worker_processes 2;", "worker_processes 1; user root;", 1))
	proxy := exec.Command(nginx, proctest.NginxArgs(k.dir)...)
	output := new(proctest.Output)
	proxy.Stdout, proxy.Stderr = output, output
	env.OK(t, proxy.Start())
	proctest.EndWith(t, func() {
		_ = proxy.Process.Signal(os.Interrupt)
		_ = proxy.Wait()
	})
	site := "http://" + free[1]
	env.Eventually(t, "nginx listens", func() bool {
		c, err := net.Dial("tcp", free[1])
		return err == nil && c.Close() == nil
	})
	k.follow("curl -s " + site + "/ # something else\n" +
		"curl -s -o /dev/null -w '%{redirect_url}' " + site + "/push # " + site + "/push/\n" +
		"curl -s -o /dev/null -w '%{http_code}' " + site + "/push/ # 200\n" +
		"curl -s " + site + `/push/healthz # {"status":"ok"}` + "\n" +
		"curl -s -d 'push[payload]=x' " + site + "/push/api/v2/pushes | grep -c '\"html_url\":\"" + site + "/push/p/' # 1\n" +
		"pushbox get $(echo secret-marker | pushbox push --url " + site + "/push 2>/dev/null) 2>/dev/null # secret-marker\n" +
		"grep -c 'POST 201' pushbox.log # 2\n" +
		"cat *.log | grep -c /p/ || true # 0\n")
	k.stop(p)
}
