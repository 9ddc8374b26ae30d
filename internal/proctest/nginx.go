package proctest

// NginxMain is a short form of Debian's nginx.conf, with other paths. The file in
// deploy must override its logs and its compression.
const NginxMain = `daemon off;
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

// NginxArgs are the arguments for an nginx with its files in dir.
func NginxArgs(dir string) []string { return []string{"-p", dir, "-c", "main.conf"} }
