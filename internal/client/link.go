package client

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"pushbox/internal/secret"
)

// A Link is the address of a push.
type Link struct {
	Server Server
	token  secret.Text
}

var (
	errLink   = errors.New("must be a link such as https://push.example.com/p/…, as `pushbox push` prints it")
	urlTokens = regexp.MustCompile(`^[A-Za-z0-9_-]{4,128}$`)
)

// languages are the parts by which Password Pusher's links name the language of
// the page: /en/p/TOKEN.
var languages = []string{
	"ca", "cs", "da", "de", "en", "es", "eu", "fi", "fr", "ga", "hi", "hu", "id", "is", "it", "ja", "ko", "lv", "nl", "no",
	"pl", "pt-br", "pt-pt", "ro", "ru", "sk", "sr", "sv", "th", "uk", "ur", "zh-cn",
}

// ParseLink reads a link in any form that pushbox or Password Pusher gives out:
// that of a page, /p/TOKEN, and that of the API, /api/v2/pushes/TOKEN, each with
// what may follow. The error does not hold the text.
func ParseLink(text string) (Link, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Link{}, errLink
	}
	parts := strings.Split(strings.Trim(strings.TrimSuffix(u.Path, ".json"), "/"), "/")
	base, token, ok := cutToken(parts)
	if last := len(parts) - 1; !ok && slices.Contains([]string{"r", "preview", "passphrase"}, parts[last]) {
		base, token, ok = cutToken(parts[:last])
	}
	if !ok {
		return Link{}, errLink
	}
	server, err := serverOf(u, strings.Join(base, "/"))
	if errors.Is(err, errServer) {
		err = errLink
	}
	return Link{server, secret.New(token)}, err
}

// cutToken splits a path into what is in front of a push's own path, and the
// url_token at its end.
func cutToken(parts []string) (base []string, token string, ok bool) {
	last := len(parts) - 1
	if last < 1 || !urlTokens.MatchString(parts[last]) {
		return nil, "", false
	}
	front, token := parts[:last], parts[last]
	switch kind := front[last-1]; {
	case last >= 3 && slices.Equal(front[last-3:], []string{"api", "v2", "pushes"}):
		return front[:last-3], token, true
	case kind != "p" && kind != "f" && kind != "r":
		return nil, "", false
	}
	front = front[:last-1]
	if n := len(front); n > 0 && slices.Contains(languages, strings.ToLower(front[n-1])) {
		front = front[:n-1]
	}
	return front, token, true
}
