// Package proxy runs the proxies of docs/proxies.md in front of pushbox.
//
// TestPushboxBehindProxies starts nginx, Caddy, HAProxy and Traefik from their files in
// deploy. It replaces addresses, paths of certificates and logs, and the account; each
// place that is replaced must be there. nginx gets a file around its own that logs and
// compresses as Debian's does. Over HTTP/1.1 and HTTP/2 it asks for what people get behind
// a proxy: addresses of clients in audit logs and limits (127.7.x.y; 127.0.0.1 alone is
// trusted), the scheme of links and cookies, pages, large headers, uploads, Range, and
// refusals by a full or stopped server. It halts an upload half way: by then the server
// must have read the first half, and the proxy may hold none of it in a file. At the end
// no log has a url_token, a grant, a session, an API token or a passphrase.
//
// TestSeveralServersBehindProxies starts nginx, Caddy and HAProxy from deploy/scaling, in front
// of two servers over one PostgreSQL. Clients create pushes for one view and open them while one
// server is killed and the other is stopped; what fails is bounded, and nothing that was
// acknowledged is missing or delivered twice. Then files pass as above, and without the
// database pages and API say when to try again.
//
// In both, a relay loses the answers to requests: the proxy must not send one again.
//
// They need Linux and the programs; a proxy that is not installed is skipped.
//
// PUSHBOX_TEST_PROXY_MIB is the size of the files; 32 is the least that no buffer holds.
// docs/testing.md has the ordinary one. With 1,024, before e53b252 (2026-11-22), the proxies
// took at most 3 MiB more memory, and no file of their own.
//
//	PUSHBOX_TEST_PROXY_MIB=1024 go test ./internal/harness/proxy -timeout 30m -v
package proxy
