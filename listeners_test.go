//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A recipe is a section of a manual: its blocks by what they are in.
type recipe map[string][]string

// recipeOf reads the section under a heading.
func recipeOf(t *testing.T, manual, heading string) recipe {
	t.Helper()
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if section, _, _ = strings.Cut(section, "\n## "); !ok {
		t.Fatalf("%s has no section %q", manual, heading)
	}
	r := make(recipe)
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(section, -1) {
		r[m[1]] = append(r[m[1]], m[2])
	}
	return r
}

// A kitchen is where a recipe is followed: a directory, and what stands there for
// the places of the manual.
type kitchen struct {
	t    *testing.T
	dir  string
	here []string // by turns what the manual has and what is here
}

func newKitchen(t *testing.T) *kitchen {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb") // short: the path of a socket has a limit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &kitchen{t: t, dir: dir}
}

// place is text of the manual as it is to be here.
func (k *kitchen) place(text string) string { return strings.NewReplacer(k.here...).Replace(text) }

// write makes a file.
func (k *kitchen) write(name, text string) string {
	k.t.Helper()
	name = filepath.Join(k.dir, name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
	return name
}

// command is a server with these settings, in a shell that becomes it.
func (k *kitchen) command(settings string) *exec.Cmd {
	k.t.Helper()
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec pushbox serve --config "$0"`, k.write("pushbox.yaml", k.place(settings)))
	cmd.Dir, cmd.Env = k.dir, append(plainEnviron(), "GORACE=atexit_sleep_ms=0")
	return cmd
}

func (k *kitchen) start(cmd *exec.Cmd) *process {
	k.t.Helper()
	p, err := startCommand(cmd)
	if err != nil {
		k.t.Fatal(err)
	}
	endInTime(k.t, p.kill)
	return p
}

// follow runs commands, each with what it prints behind a #.
func (k *kitchen) follow(block string) {
	k.t.Helper()
	for line := range strings.Lines(k.place(block)) {
		command, want, ok := strings.Cut(strings.TrimSpace(line), " # ")
		if !ok {
			k.t.Fatalf("what does it print: %s", line)
		}
		cmd := exec.CommandContext(k.t.Context(), "sh", "-c", command)
		cmd.Dir = k.dir
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
			k.t.Errorf("%s\nprints %q, %v, not %q", command, out, err, want)
		}
	}
}

// stop stops a server as systemd does. Nothing may be wrong with it.
func (k *kitchen) stop(p *process) {
	k.t.Helper()
	if code, err := p.signal("TERM"); code != 0 || err != nil || len(p.stderr.wrong()) > 0 {
		k.t.Errorf("it stops with %d, %v\n%s", code, err, p.stderr)
	}
}

const listeners = "docs/listeners.md"

// TestTheRecipesOfListenersWork does what docs/listeners.md says, in other places.
func TestTheRecipesOfListenersWork(t *testing.T) {
	t.Parallel()
	installed(t, "curl", "curl")
	t.Run("two doors", func(t *testing.T) {
		t.Parallel()
		k, r := newKitchen(t), recipeOf(t, listeners, "Reading is public, creating is not")
		free := freeAddresses(t, 3)
		k.here = []string{"10.0.0.7:5100", free[0], "127.0.0.1:5101", free[1], "127.0.0.1:5100", free[2]}
		for i, settings := range r["yaml"] {
			p := k.start(k.command(settings))
			k.follow(r["sh"][i])
			k.stop(p)
		}
	})
	t.Run("a Unix socket", func(t *testing.T) {
		t.Parallel()
		k, r := newKitchen(t), recipeOf(t, listeners, "A Unix socket behind nginx")
		k.here = []string{"/run/pushbox/", k.dir + "/"}
		k.start(k.command(r["yaml"][0])).kill() // and what it leaves is in nobody's way
		p := k.start(k.command(r["yaml"][0]))
		k.follow(r["sh"][0])
		other := k.command(r["yaml"][0] + "\ndata_dir: other\n")
		if out, err := other.CombinedOutput(); other.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "listen: "+k.dir+"/pushbox.sock: another program answers on this socket") {
			t.Errorf("a second server: %v\n%s", err, out)
		}
		k.follow(r["sh"][0])
		k.stop(p)
		if _, err := os.Stat(filepath.Join(k.dir, "pushbox.sock")); !os.IsNotExist(err) {
			t.Errorf("after the stop the socket is there: %v", err)
		}
	})
	t.Run("sockets of systemd", func(t *testing.T) {
		t.Parallel()
		k, r := newKitchen(t), recipeOf(t, listeners, "Socket activation by systemd")
		k.systemd(r)
	})
}

// systemd opens the sockets of the units and hands them over, as systemd does.
func (k *kitchen) systemd(r recipe) {
	k.t.Helper()
	k.here = []string{"10.0.0.7:80", freeAddresses(k.t, 1)[0], "/run/", k.dir + "/"}
	cmd := k.command(r["yaml"][0])
	var names, at []string
	for _, unit := range r["ini"][:2] {
		field := func(name string) string {
			return regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(unit)[1]
		}
		address := k.place(field("ListenStream"))
		network := map[bool]string{true: "unix", false: "tcp"}[address[0] == '/']
		l, err := net.Listen(network, address)
		if err != nil {
			k.t.Fatal(err)
		}
		defer l.Close()
		f, err := l.(interface{ File() (*os.File, error) }).File()
		if err != nil {
			k.t.Fatal(err)
		}
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
	if out, err := wrong.CombinedOutput(); !strings.Contains(string(out), `listen: systemd has handed over no socket named "elsewhere" but: inside, public`) {
		k.t.Errorf("a wrong name: %v\n%s", err, out)
	}
}

// TestTheSubPathOfTheManualWorks runs nginx with the part of docs/proxies.md.
func TestTheSubPathOfTheManualWorks(t *testing.T) {
	t.Parallel()
	nginx := installed(t, "nginx", "nginx-light")
	k, r := newKitchen(t), recipeOf(t, "docs/proxies.md", "A sub-path")
	free := freeAddresses(t, 2)
	k.here = []string{"/var/log/nginx/", k.dir + "/"}
	p := k.start(k.command("listen: " + free[0] + "\nbase_path: /push\n"))
	logFormat := regexp.MustCompile(`(?m)^log_format .*$`).FindString(string(readFile(t, "deploy/nginx.conf")))
	k.write("site.conf", "upstream pushbox { server "+free[0]+"; }\n"+logFormat+"\nserver {\nlisten "+free[1]+";\n"+
		"location / { return 200 'something else'; }\n"+k.place(r["nginx"][0])+"}\n")
	k.write("main.conf", strings.Replace(nginxMain, "worker_processes 2;", "worker_processes 1; user root;", 1))
	proxy := exec.Command(nginx, nginxArgs(k.dir)...)
	said := new(spoken)
	proxy.Stdout, proxy.Stderr = said, said
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	endInTime(t, func() {
		_ = proxy.Process.Signal(os.Interrupt)
		_ = proxy.Wait()
	})
	site := "http://" + free[1]
	eventually(t, "nginx listens", func() bool {
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

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
