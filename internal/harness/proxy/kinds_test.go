//go:build linux

package proxy

import (
	"os"
	"strconv"

	"pushbox/internal/proctest"
)

// A proxyKind is a proxy program, and how its file in deploy is changed to run in a
// test.
type proxyKind struct {
	program string
	debian  string // its package; empty: none
	file    string // below deploy
	main    string // if set, the program's main file, which includes file
	static  string // below deploy, if set: a second file, with the same replacements

	// here returns pairs: a text of the file, and what replaces it: addresses, paths,
	// the account and the certificate, and nothing else.
	here func(p place) []string
	args func(dir string) []string
	log  string // its access log in its directory; empty: standard output or error
}

// A place is what a proxy uses in a test.
type place struct {
	dir              string
	tls, plain       string // addresses
	tls6, plain6     string // for the file's IPv6 listeners; IPv4 addresses, too
	backend          string
	account, group   int
	config, combined string // files
}

var proxyKinds = map[string]proxyKind{
	"nginx":   {program: "nginx", debian: "nginx-light", file: "nginx.conf", main: proctest.NginxMain, here: nginxHere, args: proctest.NginxArgs, log: "pushbox.log"},
	"caddy":   {program: "caddy", debian: "caddy", file: "Caddyfile", here: caddyHere, args: caddyArgs},
	"haproxy": {program: "haproxy", debian: "haproxy", file: "haproxy.cfg", here: haproxyHere, args: haproxyArgs},
	"traefik": {program: "traefik", file: "traefik-dynamic.yaml", static: "traefik.yaml", here: traefikHere, args: traefikArgs},
}

func nginxHere(p place) []string {
	return []string{
		"listen 443 ", "listen " + p.tls + " ",
		"listen [::]:443", "listen " + p.tls6,
		"listen 80;", "listen " + p.plain + ";",
		"listen [::]:80;", "listen " + p.plain6 + ";",
		"127.0.0.1:5100", p.backend,
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
		"127.0.0.1:5100", p.backend,
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
		"127.0.0.1:5100", p.backend,
	}
}

func haproxyArgs(string) []string { return []string{"-db", "-f", "site.conf"} }

func traefikHere(p place) []string {
	return []string{
		`address: ":443"`, `address: "` + p.tls + `"`,
		`address: ":80"`, `address: "` + p.plain + `"`,
		"filename: /etc/traefik/pushbox.yaml", "filename: " + p.dir + "/site.yaml",
		" /etc/traefik/push.example.com.", " " + p.dir + "/push.example.com.",
		"127.0.0.1:5100", p.backend,
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
