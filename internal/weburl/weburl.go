// Package weburl says which texts are addresses on the web.
package weburl

import (
	"errors"
	"net/url"
	"strings"
	"unicode"
)

// Why a text is no address that a url push may lead to. Senders see the texts, which
// continue a sentence that begins with the name of a field.
var (
	ErrForm    = errors.New("must be a valid HTTP or HTTPS URL, such as https://example.com/")
	ErrControl = errors.New("must not have line breaks or other control characters")
	ErrUser    = errors.New("must not have a user name or password in the URL")
)

// Parse reads an absolute http or https URL with a host and without a user name. Behind
// the host a percent sign need not begin an escape, as for browsers.
func Parse(text string) (*url.URL, error) {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return nil, ErrControl
	}
	u, err := url.Parse(escapeStray(text))
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, ErrForm
	case u.User != nil:
		return nil, ErrUser
	default:
		return u, nil
	}
}

// escapeStray escapes each percent sign behind the host that begins no escape.
func escapeStray(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	host := strings.IndexAny(rest, "/?#")
	if host < 0 {
		return text
	}
	parts := strings.Split(rest[host:], "%")
	for i, part := range parts[1:] {
		if len(part) < 2 || !isHex(part[0]) || !isHex(part[1]) {
			parts[1+i] = "25" + part
		}
	}
	return scheme + "://" + rest[:host] + strings.Join(parts, "%")
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
