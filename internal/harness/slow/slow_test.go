//go:build linux

package slow

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// What slow clients may take.
const (
	slowMemory = 136 // MiB, with some 22 MiB of the program itself
	slowLarge  = 256 // MiB, where limits.body_memory or limits.downloads bound how much is read at once
)

// An attack is a way to be slow that slowhttptest supports.
type attack struct {
	name  string
	flags string
	at    func(*target) string // the path
	ends  bool                 // the server ends it, within the time of a request
	most  int                  // memory that it may take, in MiB
}

var attacks = []attack{
	{"headers", "-H -i 3 -x 24", func(*target) string { return "/" }, true, slowMemory},
	{"bodies", "-B -i 3 -x 24 -s 8192", func(*target) string { return proctest.PushesPath }, true, slowMemory},
	{"readers of a page", "-X -w 512 -y 1024 -n 5 -z 32", func(*target) string { return "/" }, false, slowMemory},
	{"readers of a long text", "-X -w 512 -y 1024 -n 5 -z 32", func(p *target) string { return p.text }, false, slowLarge},
	{"readers of a file", "-X -w 512 -y 1024 -n 5 -z 32", func(p *target) string { return p.file }, false, slowLarge},
}

// TestSlowClientsKeepNoOtherClientOut has slowhttptest open many connections that send or
// read next to nothing, one kind after the other, and watches the server and a healthy
// client. PUSHBOX_TEST_SLOW_CLIENTS sets how many there are; from 4,000 on each kind
// lasts longer than a request may take.
func TestSlowClientsKeepNoOtherClientOut(t *testing.T) {
	t.Parallel()
	program := proctest.Installed(t, "slowhttptest", "slowhttptest")
	n := affordable(t, int(env.Length(t, "PUSHBOX_TEST_SLOW_CLIENTS")))
	watch := 250 * time.Millisecond
	if env.Long() {
		watch = 2 * time.Second
	}
	if n >= 4000 {
		watch = 75 * time.Second
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) { // one after the other: each wants the machine for itself
			p := newTarget(t, watch)
			p.withstand(program, a, n, watch)
			p.stop()
		})
	}
}

// withstand lets an attack run for as long as the test watches it, and then stops it.
func (p *target) withstand(program string, a attack, n int, watch time.Duration) {
	t, base := p.t, p.descriptors()
	m := p.attackers(t, program, a, n)
	env.Eventually(t, fmt.Sprintf("%d connections stand", n), func() bool { return m.over() || p.descriptors() >= base+n*9/10 })
	p.healthy(t, 0) // in the rush of their first requests
	took := p.healthy(t, watch)
	ended := a.ends && watch > time.Minute
	if left := p.descriptors() - base; ended && left > spare {
		t.Errorf("after %v %d of them are still connected", watch, left)
	}
	if m.over() && !ended {
		t.Fatalf("slowhttptest ended too soon:\n%s", m.output)
	}
	m.stop()
	env.Eventually(t, "the descriptors come back", func() bool { return p.descriptors() <= base+spare })
	peak := proctest.PeakMiB(p.server.Pid())
	slices.Sort(took)
	median, worst := took[len(took)/2], took[len(took)-1]
	t.Logf("%d slow clients: %d answers to a healthy one, median %v, worst %v; at most %d MiB", n, len(took), median, worst, peak)
	if peak >= a.most && !env.UnderRace {
		t.Error("more than they may take")
	}
}

// spare is how many more descriptors there may be than at the beginning: those of the
// healthy client's connections.
const spare = 16

// affordable is the number of connections, n or as many as the limit of descriptors
// allows.
func affordable(t *testing.T, n int) int {
	t.Helper()
	const others = 64
	var limit syscall.Rlimit
	env.OK(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if most := int(min(limit.Max, 1<<20)) - others; most < n {
		t.Logf("a process may have %d descriptors: %d slow clients, not %d", limit.Max, most, n)
		return most
	}
	return n
}

// A target is a server with a text and a file for slow readers.
type target struct {
	t          *testing.T
	dir        string
	server     *proctest.Process
	text, file string // paths
	short      string // url_token of a short text
}

// newTarget starts a server. A request may take longer than the patience of a healthy client,
// so that each slow one holds for good what it holds, unless the test watches how they end.
func newTarget(t *testing.T, watch time.Duration) *target {
	t.Helper()
	p := &target{t: t, dir: t.TempDir()}
	environ := append(proctest.LoadEnviron(), "PUSHBOX_PW_EXPIRE_AFTER_VIEWS_MAX=100000", "PUSHBOX_PW_EXPIRE_AFTER_VIEWS_DEFAULT=100000")
	if watch > time.Minute {
		environ = append(environ, "PUSHBOX_LIMITS_REQUEST_TIMEOUT=1m", "PUSHBOX_LIMITS_STALL_TIMEOUT=1m")
	}
	var err error
	p.server = env.Must(proctest.Start(p.dir, environ, nil))(t)
	proctest.EndWith(t, p.server.Kill)
	p.text = proctest.PushesPath + "/" + p.create(strings.Repeat("slow ", 200_000))
	p.short = p.create("daft zebras jump")
	c := proctest.NewFileClient(t, p.server.URL, proctest.APIToken(t, p.dir))
	token := env.Must(c.Push(t.Context(), proctest.Multipart, proctest.Content(1, 4<<20)))(t)
	urls, err := c.Show(t.Context(), token)
	if err != nil || len(urls) != 1 {
		t.Fatal(urls, err)
	}
	p.file = strings.TrimPrefix(urls[0], p.server.URL)
	return p
}

// create creates a push of the text.
func (p *target) create(text string) (token string) {
	p.t.Helper()
	res, text := env.Ask(p.t, http.MethodPost, p.server.URL+proctest.PushesPath, `{"push":{"payload":"`+text+`"}}`, "Content-Type: application/json")
	var out struct {
		Token string `json:"url_token"`
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil || res.StatusCode != http.StatusCreated {
		p.t.Fatal(res.Status, err)
	}
	return out.Token
}

// descriptors is the number of the server's open descriptors.
func (p *target) descriptors() int {
	dir := env.Must(os.Open(fmt.Sprintf("/proc/%d/fd", p.server.Pid())))(p.t)
	defer dir.Close()
	open, err := dir.Readdirnames(-1)
	if err != nil || len(open) == 0 {
		p.t.Fatalf("the server has no descriptors: %v", err)
	}
	return len(open)
}

// stop stops the server. Refused clients are errors in its log; a panic must not be
// there.
func (p *target) stop() {
	p.t.Helper()
	code, err := p.server.Signal("TERM")
	if log := p.server.Log(); err != nil || code != 0 || strings.Contains(log, "panic:") || strings.Contains(log, "panic of") || strings.Contains(log, "DATA RACE") {
		p.t.Errorf("exit code %d, %v: %.4000s", code, err, log)
	}
	proctest.CheckFile(p.t, p.dir)
}

// attackers are several processes of slowhttptest: one alone is slow with many
// connections.
type attackers struct {
	output  *proctest.Output
	cancel  context.CancelFunc
	ended   chan struct{} // closed when one has ended
	running sync.WaitGroup
}

const (
	perProcess = 500               // connections of one slowhttptest
	longest    = 300 * time.Second // how long it runs if it is not stopped
)

// attackers starts that many slow clients. They end with the test.
func (p *target) attackers(t *testing.T, program string, a attack, clients int) *attackers {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), longest+proctest.Patience)
	m := &attackers{output: new(proctest.Output), cancel: cancel, ended: make(chan struct{})}
	ended := sync.OnceFunc(func() { close(m.ended) })
	for left := clients; left > 0; left -= perProcess {
		n := strconv.Itoa(min(left, perProcess))
		args := append(strings.Fields(a.flags), "-c", n, "-r", n, "-l", strconv.Itoa(int(longest.Seconds())), "-v", "1", "-u", p.server.URL+a.at(p))
		// A shell raises the limit of descriptors, which Go restores for the programs
		// that it starts.
		raise := []string{"-c", `ulimit -n "$(ulimit -Hn)" && exec "$0" "$@"`, program}
		cmd := exec.CommandContext(ctx, "sh", append(raise, args...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, m.output, m.output
		m.running.Go(func() {
			defer ended()
			_ = cmd.Run() // its verdict on the server does not matter; that it runs is checked
		})
	}
	t.Cleanup(m.stop)
	return m
}

// stop ends the attackers, and waits for them.
func (m *attackers) stop() {
	m.cancel()
	m.running.Wait()
}

// over reports whether one of the attackers has ended.
func (m *attackers) over() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

// healthy uses the server as a client does for that long, each time over a new
// connection as well, and returns the time of each answer.
func (p *target) healthy(t *testing.T, watch time.Duration) (took []time.Duration) {
	t.Helper()
	kept := &http.Client{Transport: new(http.Transport), Timeout: proctest.Patience}
	defer kept.CloseIdleConnections()
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: proctest.Patience}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); len(took) == 0 || time.Since(start) < watch; <-tick.C {
		for _, c := range []*http.Client{kept, fresh} {
			for _, step := range []func(*http.Client) error{p.send, p.read, p.open} {
				begin := time.Now()
				if err := step(c); err != nil {
					t.Fatalf("the healthy client after %v: %v", time.Since(begin), err)
				}
				took = append(took, time.Since(begin))
			}
		}
	}
	return took
}

// send creates a push.
func (p *target) send(c *http.Client) error {
	res, err := c.Post(p.server.URL+proctest.PushesPath, "application/json", strings.NewReader(`{"push":{"payload":"how vexingly quick"}}`))
	return answers(res, err, http.StatusCreated, `"url_token"`)
}

// read retrieves a short push.
func (p *target) read(c *http.Client) error {
	res, err := c.Get(p.server.URL + proctest.PushesPath + "/" + p.short)
	return answers(res, err, http.StatusOK, "daft zebras")
}

// open opens it on its page.
func (p *target) open(c *http.Client) error {
	res, err := c.Post(p.server.URL+"/p/"+p.short, "application/x-www-form-urlencoded", nil)
	return answers(res, err, http.StatusOK, "daft zebras")
}

// answers returns an error unless the answer came whole, with the status and the text.
func answers(res *http.Response, err error, status int, text string) error {
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status || !strings.Contains(string(body), text) {
		return fmt.Errorf("%s, %w: %.200s", res.Status, err, body)
	}
	return nil
}
