//go:build linux

package proxy

import (
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// A proxyKind is a proxy program, and how its file in deploy is changed to run in a
// test.
type proxyKind struct {
	program string
	debian  string        // its package; empty: none
	file    string        // below deploy
	main    string        // if set, the program's main file, which includes file
	static  string        // below deploy, if set: a second file, with the same replacements
	several string        // below deploy, if set: what replaces a part of file for several servers
	single  string        // a regular expression for that part
	checks  time.Duration // how long it takes to find out that a server is not ready; 0: it does not ask

	// here returns pairs: a text of the file, and what replaces it: addresses, paths,
	// the account and the certificate, and nothing else.
	here  func(p place) []string
	args  func(dir string) []string
	fresh bool   // it keeps no connection to a server
	log   string // its access log in its directory; empty: standard output or error
}

// A place is what a proxy uses in a test.
type place struct {
	dir              string
	tls, plain       string // addresses
	tls6, plain6     string // for the file's IPv6 listeners; IPv4 addresses, too
	backend          string
	second           string // another backend; empty: none
	account, group   int
	config, combined string // files
}

var proxyKinds = map[string]proxyKind{
	"nginx":   {program: "nginx", debian: "nginx-light", file: "nginx.conf", main: proctest.NginxMain, here: backend(nginxHere), args: proctest.NginxArgs, log: "pushbox.log"},
	"caddy":   {program: "caddy", debian: "caddy", file: "Caddyfile", here: backend(caddyHere), args: caddyArgs, fresh: true},
	"haproxy": {program: "haproxy", debian: "haproxy", file: "haproxy.cfg", here: backend(haproxyHere), args: haproxyArgs},
	"traefik": {program: "traefik", file: "traefik-dynamic.yaml", static: "traefik.yaml", here: backend(traefikHere), args: traefikArgs, fresh: true},
}

// backend replaces the address of the server, too.
func backend(here func(place) []string) func(place) []string {
	return func(p place) []string { return append(here(p), "127.0.0.1:5100", p.backend) }
}

// severalKinds are the proxies in front of several servers.
var severalKinds = map[string]proxyKind{
	"nginx": {
		program: "nginx", debian: "nginx-light", file: "nginx.conf", several: "scaling/nginx-upstream.conf", single: `(?m)^upstream pushbox \{\n(.+\n)*\}\n`,
		main: proctest.NginxMain, here: backends(nginxHere), args: proctest.NginxArgs, log: "pushbox.log",
	},
	"caddy": {
		program: "caddy", debian: "caddy", file: "Caddyfile", several: "scaling/Caddyfile.upstream", single: `(?m)^\treverse_proxy .+\{\n(.+\n)*\t\}\n`,
		checks: 4 * time.Second, here: backends(caddyHere), args: caddyArgs, fresh: true,
	},
	"haproxy": {program: "haproxy", debian: "haproxy", file: "scaling/haproxy.cfg", checks: 6 * time.Second, here: backends(haproxyHere), args: haproxyArgs},
}

// backends replaces the addresses of the servers, too.
func backends(here func(place) []string) func(place) []string {
	return func(p place) []string {
		return append(here(p), "10.0.0.11:5100", p.backend, "10.0.0.12:5100", p.second)
	}
}

func nginxHere(p place) []string {
	return []string{
		"listen 443 ", "listen " + p.tls + " ",
		"listen [::]:443", "listen " + p.tls6,
		"listen 80;", "listen " + p.plain + ";",
		"listen [::]:80;", "listen " + p.plain6 + ";",
		"/etc/ssl/", p.dir + "/",
		"/var/log/nginx/", p.dir + "/",
	}
}

func caddyHere(p place) []string {
	const site = "push.example.com {\n"
	return []string{
		"\n" + site, "\npush.example.com" + port(p.tls) + " {\n\tbind 127.0.0.1\n",
		"http://" + site, "http://push.example.com" + port(p.plain) + " {\n\tbind 127.0.0.1\n",
		"# tls /etc/caddy/", "tls " + p.dir + "/",
		" /etc/caddy/", " " + p.dir + "/",
	}
}

func caddyArgs(string) []string {
	return []string{"run", "--config", "site.conf", "--adapter", "caddyfile"}
}

func haproxyHere(p place) []string {
	return []string{
		"user haproxy", "uid " + strconv.Itoa(p.account),
		"group haproxy", "gid " + strconv.Itoa(p.group),
		":::443 v4v6", p.tls,
		":::80 v4v6", p.plain,
		"/etc/haproxy/push.example.com.pem", p.combined,
	}
}

func haproxyArgs(string) []string { return []string{"-db", "-f", "site.conf"} }

func traefikHere(p place) []string {
	return []string{
		`address: ":443"`, `address: "` + p.tls + `"`,
		`address: ":80"`, `address: "` + p.plain + `"`,
		"filename: /etc/traefik/pushbox.yaml", "filename: " + p.dir + "/site.yaml",
		" /etc/traefik/push.example.com.", " " + p.dir + "/push.example.com.",
	}
}

func traefikArgs(string) []string { return []string{"--configFile=static.yaml"} }

// port is the port of an address, with its colon.
func port(address string) string { return address[len("127.0.0.1"):] }

// unprivileged is the account of the proxies: another one if the tests run as root.
func unprivileged() (account, group int) {
	if os.Geteuid() != 0 {
		return os.Getuid(), os.Getgid()
	}
	const unprivileged = 65534
	return unprivileged, unprivileged
}

// neverTwice checks that a proxy sends no request again once a server may have seen it,
// also on a connection that it had kept: the server does what is asked, and its answer is
// lost.
func (f *proxied) neverTwice(t *testing.T, kind proxyKind, servers ...string) {
	t.Helper()
	const rounds = 10
	var relays []*relay
	var addresses []string
	for _, s := range servers {
		r := newRelay(t, "tcp", s)
		relays, addresses = append(relays, r), append(addresses, r.address())
	}
	g := *f
	g.proxy = startProxy(t, kind, addresses...)
	defer g.proxy.stop(t)
	v := &route{T: t, proxied: &g, net: "127.7.5."}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		kept := 0
		for range rounds {
			path, body := proctest.PushesPath, `{"push":{"payload":"asked once"}}`
			if method == http.MethodGet {
				path, body = path+"/"+v.create(v.client("1"), f.token), ""
			}
			if v.loseAnswer(relays, method, path, body) {
				kept++
			}
		}
		if !kind.fresh && kept == 0 {
			t.Errorf("the proxy sent no %s on a connection that it had kept", method)
		}
	}
}

// loseAnswer sends a request whose answer is lost between server and proxy. It reports
// whether the proxy sent it on a connection that it had kept.
func (v *route) loseAnswer(relays []*relay, method, path, body string) (kept bool) {
	v.Helper()
	s := env.Must(v.proxy.session(v.Context(), v.net+"1"))(v)
	defer s.Close()
	for range 2 * len(relays) { // so that each server has a connection that waits
		if status, _, _, err := s.do(http.MethodGet, "/robots.txt", "", ""); err != nil || status != http.StatusOK {
			v.Fatalf("status %d, %v", status, err)
		}
	}
	for _, r := range relays {
		r.lose(method + " " + path)
	}
	status, _, answer, err := s.do(method, path, v.token, body)
	sent := 0
	for _, r := range relays {
		n, warm := r.outcome()
		sent += n
		kept = kept || warm
		r.lose("")
	}
	if sent != 1 || err == nil && status < http.StatusInternalServerError {
		v.Errorf("the proxy sent a %s %d times; the client got %d, %v: %.200s", method, sent, status, err, answer)
	}
	return kept
}
