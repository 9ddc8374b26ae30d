package certs

import (
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// challengePath is the path of proofs over HTTP, before the token (RFC 8555 section 8.3).
const challengePath = "/.well-known/acme-challenge/"

// Strict returns next with HSTS: if the settings ask for it, browsers that come over TLS are
// told to use nothing else.
func (c *Certificates) Strict(next http.Handler) http.Handler {
	if c.hsts == "" {
		return next
	}
	value := []string{c.hsts}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			w.Header()["Strict-Transport-Security"] = value
		}
		next.ServeHTTP(w, r)
	})
}

// Redirect returns a handler for plain HTTP. It answers the certificate authority, and
// redirects browsers to HTTPS at the port of base_url, or at port if base_url is empty. It
// logs nothing, since a path may contain a url_token. server.Plain sets its headers.
func (c *Certificates) Redirect(port int) http.Handler {
	if u, err := url.Parse(c.base); err == nil && u.Host != "" {
		port, _ = strconv.Atoi(u.Port()) // 0 is the usual port
	}
	suffix := ""
	if port != 0 && port != 443 {
		suffix = ":" + strconv.Itoa(port)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, ok := plainHost(r.Host)
		switch token, asks := strings.CutPrefix(r.URL.Path, challengePath); {
		case asks:
			c.prove(w, r, host, token)
		case !ok || !c.isOurs(host):
			refuse(w, http.StatusMisdirectedRequest, "This server does not have that name.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead || isForPrograms(r):
			refuse(w, http.StatusForbidden, "This server accepts nothing over plain HTTP: use https://. Others on the network could read what was sent; if it was a secret, change it.")
		default:
			w.Header().Set("Location", "https://"+bracketed(host)+suffix+target(r.URL))
			w.WriteHeader(http.StatusPermanentRedirect)
		}
	})
}

// isForPrograms reports whether a request is one of the API. A program would follow the redirect each
// time, and its user would not notice that its token crosses the network in clear.
func isForPrograms(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/api/") || strings.HasSuffix(r.URL.Path, ".json") || r.Header.Get("Authorization") != ""
}

func (c *Certificates) prove(w http.ResponseWriter, r *http.Request, host, token string) {
	proof, ok := c.source.answer(host, token)
	if !ok || r.Method != http.MethodGet {
		refuse(w, http.StatusNotFound, "No certificate authority waits for this proof.")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write([]byte(proof)) // the authority asks again if it has gone
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the client may have gone
}

func (c *Certificates) isOurs(host string) bool {
	return strings.EqualFold(hostOf(c.base), host) || slices.Contains(c.source.names(), host) ||
		slices.ContainsFunc(c.source.leaves(), func(leaf *x509.Certificate) bool { return leaf.VerifyHostname(host) == nil })
}

func plainHost(header string) (host string, ok bool) {
	host = header
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	} else if inner, bracket := strings.CutPrefix(header, "["); bracket {
		host = strings.TrimSuffix(inner, "]")
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return host, host != ""
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// target returns the path and the query of a URL, never a host.
func target(u *url.URL) string {
	path := u.EscapedPath()
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}
