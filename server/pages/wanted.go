package pages

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"pushbox/server/action"
)

// wantedCookie is the name of a cookie with the page that the browser requested before its user
// signed in. The address may have a url_token, so it must not be in a query.
const (
	wantedCookie = "wanted"
	wantedFor    = 10 * 60 // seconds
	maxWanted    = 1024    // bytes of path and query
)

// kindName is the name of the field of the query that chooses a kind of the form for a new push.
const kindName = "kind"

// wantedFiles is the only wanted page that does not need a sign-in itself: its files do.
const wantedFiles = "/?" + kindName + "=file"

// wantedPaths are the paths that a sign-in may lead to, if they are also those of a page for
// signed-in users. They have neither escapes nor dots, and cannot be mistaken for a host.
var wantedPaths = regexp.MustCompile(`^(/[0-9A-Za-z_-]+)+$`)

// GoToSignIn redirects the browser to the page for signing in, which later leads to the requested
// page.
func (s *Set) GoToSignIn(r *action.Request) action.Reply {
	return action.GoTo(signInPath).With(s.newWantedCookie(r))
}

// newWantedCookie returns the cookie for the page that the request asks for; nil if signing
// in cannot lead there.
func (s *Set) newWantedCookie(r *action.Request) *http.Cookie {
	path := s.checkWanted(strings.TrimPrefix(r.URL.Path, s.Config.BasePath) + "?" + r.URL.RawQuery)
	if r.Method != http.MethodGet || path == "" {
		return nil
	}
	return s.keepWanted(r, path)
}

func (s *Set) keepWanted(r *action.Request, path string) *http.Cookie {
	c := r.NewCookie(wantedCookie, base64.RawURLEncoding.EncodeToString([]byte(path)))
	c.MaxAge = wantedFor
	return c
}

// wanted returns the page to show after signing in; empty if the browser asked for none.
func (s *Set) wanted(r *action.Request) string {
	c, err := r.OwnCookie(wantedCookie)
	if err != nil {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return ""
	}
	return s.checkWanted(string(text))
}

// noWantedCookie removes the cookie from the browser; nil if it has none.
func (s *Set) noWantedCookie(r *action.Request) *http.Cookie {
	if _, err := r.OwnCookie(wantedCookie); err != nil {
		return nil
	}
	c := r.NewCookie(wantedCookie, "")
	c.MaxAge = -1
	return c
}

// checkWanted returns a normalized path and query of a page for signed-in users, or of wantedFiles;
// empty for any other.
func (s *Set) checkWanted(text string) string {
	if text == wantedFiles {
		return text
	}
	path, query, _ := strings.Cut(text, "?")
	if len(text) > maxWanted || !wantedPaths.MatchString(path) {
		return ""
	}
	route := s.FindPage(path)
	if route == nil || route.Access != action.Required || !route.Has(action.IsPage) {
		return ""
	}
	values, err := url.ParseQuery(query)
	if err != nil || len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// whySignIn returns the key of the message that says why to sign in, for a wanted page.
func whySignIn(wanted string) string {
	switch wanted {
	case "":
		return ""
	case wantedFiles:
		return "create_files_need_account"
	default:
		return "sign_in_wanted"
	}
}
