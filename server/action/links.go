package action

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pushbox/internal/secret"
	"pushbox/server/display"
	"pushbox/store"
)

// ArchivePath is the path of all files of a push in one archive.
func ArchivePath(grant secret.Text) string { return "/files/" + grant.Reveal() }

// DownloadPath is the path of a file, whose number counts from 0 here.
func DownloadPath(grant secret.Text, file int) string {
	return "/d/" + grant.Reveal() + "/" + strconv.Itoa(file+1)
}

// OriginOf is the origin of a URL as browsers write it (RFC 6454 section 6.2).
func OriginOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if u.Scheme == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	return u.Scheme + "://" + host
}

// IsAhead reports whether a browser loads a page that the user may never open (Sec-Purpose of the
// Fetch Standard, and its older names).
func IsAhead(h http.Header) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		purpose := strings.ToLower(strings.Join(h.Values(name), ","))
		ahead := func(word string) bool { return strings.Contains(purpose, word) }
		if slices.ContainsFunc([]string{"prefetch", "prerender", "preview"}, ahead) {
			return true
		}
	}
	return false
}

// Link returns the link that a sender gives to a recipient.
func Link(p store.PushInfo, base string) string {
	return display.PushLink(base, p.URLToken(), p.RetrievalStep)
}

// HostIn is the host of an address, whose path may be a secret.
func HostIn(address secret.Text) string {
	u, err := url.Parse(address.Reveal())
	if err != nil {
		return ""
	}
	return u.Host
}

// ErrHost refuses a request whose Host cannot be part of a link.
const ErrHost = BadRequest("The request's Host is not a valid host name.")

// RequestBase returns the address at which the client reached the server: the scheme
// and the host, which a trusted proxy may pass on, and the base path.
func (r *Request) RequestBase() (string, error) {
	host, ok := r.Entry.Proxies.Host(r.Request)
	if !ok {
		return "", ErrHost
	}
	return r.Entry.Proxies.Scheme(r.Request) + "://" + host + r.Entry.BasePath, nil
}

// Home returns the base URL of the entry point that received the request. Links use r.Base, which
// may be that of the other entry point.
func (r *Request) Home() string {
	if at, err := r.RequestBase(); err == nil && !r.Entry.Named {
		return at
	}
	return r.Base
}
