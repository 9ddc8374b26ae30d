//go:build linux

package proxy

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

// stopDelay is limits.stop_delay of the servers: a proxy asks every two seconds, and twice. On
// a busy machine it takes longer.
const stopDelay = 25 * time.Second

// TestSeveralServersBehindProxies runs each proxy with its files in deploy, in front of two
// servers over one database.
func TestSeveralServersBehindProxies(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it runs each proxy in front of two servers")
	size := int64(env.Length(t, "PUSHBOX_TEST_PROXY_MIB")) << 20
	var all sync.WaitGroup
	for name, kind := range severalKinds {
		all.Go(func() { // all at once, since they mostly wait
			t.Run(name, func(t *testing.T) {
				proctest.Installed(t, kind.program, kind.debian)
				newSeveral(t, kind, size).follow(t)
			})
		})
	}
	all.Wait()
}

// follow runs all checks.
func (f *several) follow(t *testing.T) {
	v := &route{T: t, proxied: &f.proxied, net: "127.7.1."}
	f.proxy = startProxy(t, f.kind, f.addresses[0], f.addresses[0]) // so that one has all the files
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Within(8*f.size))
	defer cancel()
	v.files(ctx)
	f.proxy.stop(t)
	f.neverTwice(t, f.kind, f.addresses...)
	f.proxy = startProxy(t, f.kind, f.addresses...)
	f.eitherOpens(v)
	f.killed(t)
	f.stopped(t)
	f.withoutDatabase(v)
	f.servers[0].Kill() // its log has errors now
	f.servers[1].Kill()
	f.wantSilentLogs(t, v.net+"1", crowdNet+"1")
}

// A several is two servers over one database, behind a proxy.
type several struct {
	proxied
	kind      proxyKind
	database  *relay
	url       secret.Text
	key       string // the file with the master key
	dirs      [2]string
	addresses []string
	servers   [2]*proctest.Server
}

func newSeveral(t *testing.T, kind proxyKind, size int64) *several {
	t.Helper()
	cluster := pgtest.Need(t)
	database := newRelay(t, "unix", cluster.Socket())
	host, port, _ := strings.Cut(database.address(), ":")
	_, rest, _ := strings.Cut(cluster.Database(t).Reveal(), " ") // without the host
	f := &several{
		kind: kind, database: database, url: secret.New(fmt.Sprintf("host=%s port=%s %s sslmode=disable", host, port, rest)),
		addresses: proctest.FreeAddresses(t, 2),
	}
	f.proxied = proxied{size: size, secrets: make(map[string]string)}
	shared := t.TempDir()
	proctest.Run(t, shared, "", "key", "generate", "master.key")
	for i := range f.dirs {
		f.dirs[i] = t.TempDir()
		f.serveAt(t, i, filepath.Join(shared, "master.key"))
	}
	f.server, f.dir = f.servers[0], f.dirs[0]
	f.token = proctest.APIToken(t, f.dir)
	f.secrets[f.token] = "the API token"
	return f
}

// serveAt starts one of the servers, at its address.
func (f *several) serveAt(t *testing.T, i int, key string) {
	t.Helper()
	environ := append(proctest.LoadEnviron(), "PUSHBOX_TRUSTED_PROXIES=127.0.0.1", "PUSHBOX_MASTER_KEY_FILE="+key,
		"PUSHBOX_DATABASE_URL="+f.url.Reveal(), "PUSHBOX_LIMITS_STOP_DELAY="+stopDelay.String(),
		"PUSHBOX_LIMITS_ANONYMOUS_PER_MINUTE=0", "PUSHBOX_LIMITS_TOKEN_PER_MINUTE=0", "PUSHBOX_LIMITS_REQUEST_TIMEOUT=1m")
	p := env.Must(proctest.Start(f.dirs[i], environ, []string{"--listen", f.addresses[i]}))(t)
	proctest.EndWith(t, p.Kill)
	f.servers[i], f.key = &proctest.Server{Process: p, T: t}, key
}

// eitherOpens checks that what was pushed on one server opens on the other, and that
// addresses of clients arrive at both.
func (f *several) eitherOpens(v *route) {
	v.Helper()
	for range 3 { // least connections: both get some
		v.addresses()
	}
	direct := http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-For": {v.net + "1"}, "Host": {siteName}}
	for i, s := range f.servers {
		path := proctest.PushesPath + "/" + v.create(v.client("1"), v.token)
		get(v.T, http.DefaultClient, s.URL+path, direct, http.StatusOK)
		get(v.T, http.DefaultClient, f.servers[1-i].URL+path, direct, http.StatusOK)
	}
}

// withoutDatabase checks that pages and API say 503, and when to try again, while the
// database does not answer, and that this ends with it.
func (f *several) withoutDatabase(v *route) {
	v.Helper()
	page := "/p/" + v.create(v.client("1"), "") + "/r"
	f.database.goAway()
	var asked sync.WaitGroup
	for _, wait := range []time.Duration{0, f.kind.checks} { // before and after the proxy knows
		for n, path := range []string{page, proctest.PushesPath + page[2:len(page)-2]} {
			asked.Go(func() {
				time.Sleep(wait)
				a, err := ask(v.T, v.client(strconv.Itoa(n+1)), http.MethodGet, path, nil, nil)
				if err != nil || a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
					v.Errorf("%s after %v: %v, %v: %.200s", path, wait, a.Response, err, a.body)
				}
			})
		}
	}
	asked.Wait()
	f.database.comeBack()
	begin := time.Now()
	env.Eventually(v.T, "pushes open again", func() bool {
		a, err := ask(v.T, v.client("1"), http.MethodGet, page, nil, nil)
		return err == nil && a.StatusCode == http.StatusOK
	})
	v.Logf("pages opened %v after the database was back", time.Since(begin))
}

// killed kills a server under load, and has it come back.
func (f *several) killed(t *testing.T) {
	t.Helper()
	c := f.newCrowd(t)
	c.progress(50)
	begin := time.Now()
	f.servers[0].KillNow()
	c.progress(200)
	c.wantFailures("a server was killed", begin, 2*crowdSize) // what it had not answered, and what finds out
	begin = time.Now()
	f.serveAt(t, 0, f.key)
	env.Eventually(t, "a server that came back is used", func() bool {
		return strings.Contains(f.servers[0].Log(), `"route":"create"`)
	})
	f.server = f.servers[0]
	t.Logf("a server was used %v after it had started again", time.Since(begin))
	c.end()
}

// stopped stops a server under load, and starts it again.
func (f *several) stopped(t *testing.T) {
	t.Helper()
	c := f.newCrowd(t)
	c.progress(50)
	begin, most := time.Now(), 0
	if f.kind.checks == 0 {
		most = crowdSize // it finds out by requests
	}
	f.servers[1].Stop()
	c.progress(200)
	c.wantFailures("a server was stopped", begin, most)
	c.end()
	f.serveAt(t, 1, f.key)
}
