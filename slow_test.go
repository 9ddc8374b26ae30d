//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pushbox/internal/testenv"
)

// What a healthy client gets while others are slow, and what those may take.
const (
	slowMedian = 100 * time.Millisecond
	slowWorst  = 5 * time.Second
	slowMemory = 128 // MiB
	slowLarge  = 256 // MiB, where limits.body_memory or limits.downloads bound how much is read at once
)

// An attack is a way to be slow that slowhttptest knows.
type attack struct {
	name  string
	flags string
	at    func(*prey) string // the path
	ends  bool               // the server ends it, within the time of a request
	most  int                // memory that it may take, in MiB
}

var attacks = []attack{
	{"headers", "-H -i 3 -x 24", func(*prey) string { return "/" }, true, slowMemory},
	{"bodies", "-B -i 3 -x 24 -s 8192", func(*prey) string { return apiPushes }, true, slowMemory},
	{"readers of a page", "-X -w 512 -y 1024 -n 5 -z 32", func(*prey) string { return "/" }, false, slowMemory},
	{"readers of a long text", "-X -w 512 -y 1024 -n 5 -z 32", func(p *prey) string { return p.text }, false, slowLarge},
	{"readers of a file", "-X -w 512 -y 1024 -n 5 -z 32", func(p *prey) string { return p.file }, false, slowLarge},
}

// TestSlowClientsKeepNobodyOut has slowhttptest open many connections that send or
// read next to nothing, one kind after the other, and watches the server and a healthy
// client. PUSHBOX_TEST_SLOW_CLIENTS sets how many there are; from 4,000 on each kind
// lasts longer than a request may take.
func TestSlowClientsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	program := installed(t, "slowhttptest", "slowhttptest")
	n := affordable(t, int(testenv.Length(t, "PUSHBOX_TEST_SLOW_CLIENTS", 1000, 50)))
	watch := 2 * time.Second
	if testing.Short() {
		watch /= 8
	}
	if n >= 4000 {
		watch = 75 * time.Second
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) { // one after the other: each wants the machine for itself
			p := newPrey(t)
			p.suffer(program, a, n, watch)
			p.stop()
		})
	}
}

// suffer lets an attack go on for as long as the test watches it, and then end.
func (p *prey) suffer(program string, a attack, n int, watch time.Duration) {
	t, base := p.t, p.descriptors()
	m := p.mob(t, program, a, n)
	eventually(t, fmt.Sprintf("%d connections stand", n), func() bool { return m.over() || p.descriptors() >= base+n*9/10 })
	for rush := time.Now(); slices.Max(p.healthy(t, 0)) > slowMedian; { // their first requests come all at once
		if time.Since(rush) > 3*patience {
			t.Fatal("they keep the server busy")
		}
	}
	took := p.healthy(t, watch)
	ended := a.ends && watch > time.Minute
	if left := p.descriptors() - base; ended && left > spare {
		t.Errorf("after %v %d of them are still there", watch, left)
	}
	if m.over() && !ended {
		t.Fatalf("slowhttptest was gone too soon:\n%s", m.said)
	}
	m.stop()
	eventually(t, "the descriptors come back", func() bool { return p.descriptors() <= base+spare })
	peak := peakMiB(p.server.cmd.Process.Pid)
	slices.Sort(took)
	median, worst := took[len(took)/2], took[len(took)-1]
	t.Logf("%d slow clients: %d answers to a healthy one, median %v, worst %v; at most %d MiB", n, len(took), median, worst, peak)
	if median > slowMedian || worst > slowWorst || peak >= a.most && !underRace {
		t.Error("that is too much")
	}
}

// spare is how many descriptors more there may be than in the beginning: those of the
// healthy client's connections.
const spare = 16

// affordable is how many connections there can be, with as many descriptors as a
// process may have.
func affordable(t *testing.T, n int) int {
	t.Helper()
	const others = 64
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if most := int(min(limit.Max, 1<<20)) - others; most < n {
		t.Logf("a process may have %d descriptors: %d slow clients, not %d", limit.Max, most, n)
		return most
	}
	return n
}

// A prey is a server with something in it to be read slowly.
type prey struct {
	t          *testing.T
	dir        string
	server     *process
	text, file string // paths
	short      string // url_token of a text that is not
}

func newPrey(t *testing.T) *prey {
	t.Helper()
	p := &prey{t: t, dir: t.TempDir()}
	environ := append(victimEnviron(), "PUSHBOX_PW_EXPIRE_AFTER_VIEWS_MAX=100000", "PUSHBOX_PW_EXPIRE_AFTER_VIEWS_DEFAULT=100000")
	var err error
	if p.server, err = startServer(p.dir, environ, nil); err != nil {
		t.Fatal(err)
	}
	endInTime(t, p.server.kill)
	p.text = apiPushes + "/" + p.create(strings.Repeat("slow ", 200_000))
	p.short = p.create("daft zebras jump")
	c := newFiler(t, p.server.url, apiToken(t, p.dir))
	token, err := c.push(t.Context(), asMultipart, content(1, 4<<20))
	if err != nil {
		t.Fatal(err)
	}
	urls, err := c.show(t.Context(), token)
	if err != nil || len(urls) != 1 {
		t.Fatal(urls, err)
	}
	p.file = strings.TrimPrefix(urls[0], p.server.url)
	return p
}

// create makes a push of the text.
func (p *prey) create(text string) (token string) {
	p.t.Helper()
	res, err := http.Post(p.server.url+apiPushes, "application/json", strings.NewReader(`{"push":{"payload":"`+text+`"}}`))
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct {
		Token string `json:"url_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusCreated {
		p.t.Fatal(res.Status, err)
	}
	return out.Token
}

// descriptors is how many the server has open.
func (p *prey) descriptors() int {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", p.server.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	defer dir.Close()
	open, err := dir.Readdirnames(-1)
	if err != nil || len(open) == 0 {
		p.t.Fatalf("the server has no descriptors: %v", err)
	}
	return len(open)
}

// stop ends the server in good order. Clients that found no room are errors in its
// log; a panic must not be there.
func (p *prey) stop() {
	p.t.Helper()
	code, err := p.server.signal("TERM")
	if log := p.server.stderr.String(); err != nil || code != 0 || strings.Contains(log, "panic") || strings.Contains(log, "DATA RACE") {
		p.t.Errorf("exit code %d, %v: %.4000s", code, err, log)
	}
	checkFile(p.t, p.dir)
}
