//go:build linux

package main

import (
	"os"
	"strconv"
)

// A proxyKind is a program that people put in front of pushbox, and how the file
// for it in deploy becomes one that can run here.
type proxyKind struct {
	program string
	debian  string // the package that it is in; empty: in none
	file    string // below deploy
	main    string // where set, the program's own file, which includes the other one
	static  string // below deploy, where set: the same, of which here replaces what it has

	// here returns by turns what stands in the file and what is to stand there
	// instead: addresses, paths, the account and the certificate, and nothing else.
	here func(p place) []string
	args func(dir string) []string
	log  string // below the directory: its access log; empty: standard output or error
}

// A place is where a proxy runs in a test.
type place struct {
	dir              string
	tls, plain       string // addresses
	tls6, plain6     string // where the file also has one of IPv6; of IPv4, too
	backend          string
	account, group   int
	config, combined string // files
}

var proxyKinds = map[string]proxyKind{
	"nginx":   {program: "nginx", debian: "nginx-light", file: "nginx.conf", main: nginxMain, here: nginxHere, args: nginxArgs, log: "pushbox.log"},
	"caddy":   {program: "caddy", debian: "caddy", file: "Caddyfile", here: caddyHere, args: caddyArgs},
	"haproxy": {program: "haproxy", debian: "haproxy", file: "haproxy.cfg", here: haproxyHere, args: haproxyArgs},
	"traefik": {program: "traefik", file: "traefik-dynamic.yaml", static: "traefik.yaml", here: traefikHere, args: traefikArgs},
}

// nginxMain is what Debian's nginx.conf comes down to, with other paths. Its logs
// and its compression are what the file in deploy has to keep away.
const nginxMain = `daemon off;
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

func nginxArgs(dir string) []string { return []string{"-p", dir, "-c", "main.conf"} }

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

// port is the port of an address, behind its colon.
func port(address string) string { return address[len("127.0.0.1"):] }

// unprivileged is the account that proxies run under: nobody's, if the tests are
// root's.
func unprivileged() (account, group int) {
	if os.Geteuid() != 0 {
		return os.Getuid(), os.Getgid()
	}
	const nobody = 65534
	return nobody, nobody
}
