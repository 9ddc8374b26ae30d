package client

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pushbox/internal/secret"
)

// A RequestLink is the address of the page that the owner of a request has.
type RequestLink struct {
	Server Server
	id     string
}

var errRequestLink = errors.New("must be the link of a request's page, such as https://push.example.com/requests/…")

// ParseRequestLink reads the link of the page, /requests/ID, or that of the API,
// /api/v2/requests/ID. The error does not contain the text.
func ParseRequestLink(text string) (RequestLink, error) {
	u, err := url.Parse(text)
	if err != nil {
		return RequestLink{}, errRequestLink
	}
	parts := strings.Split(strings.Trim(strings.TrimSuffix(u.Path, ".json"), "/"), "/")
	last := len(parts) - 1
	if last < 1 || parts[last-1] != requests || !urlTokens.MatchString(parts[last]) {
		return RequestLink{}, errRequestLink
	}
	base := strings.TrimSuffix(strings.Join(parts[:last-1], "/"), "api/v2")
	server, err := serverOf(u, base)
	if errors.Is(err, errServer) {
		err = errRequestLink
	}
	return RequestLink{server, parts[last]}, err
}

// An Answer is a push that answers a request.
type Answer struct {
	Link       secret.Text // empty once the push has ended
	WrappedKey []byte      // nil if its sender did not encrypt it
}

// Answers lists the answers to a request, in the order of the server. Only the token of
// the request's owner may. Nothing is retrieved.
func (c *Client) Answers(ctx context.Context, l RequestLink) ([]Answer, error) {
	body, err := c.call(ctx, http.MethodGet, l.Server, func(*http.Request) {}, requests, l.id)
	if err != nil {
		return nil, err
	}
	list, ok := read[[]object](body, "answers")
	if !ok {
		return nil, ErrAnswer
	}
	all := make([]Answer, len(list))
	for i, o := range list {
		if expired, _ := read[bool](o, "expired"); !expired {
			all[i].Link = pushOf(o, l.Server).Link
		}
		if text := o.text("wrapped_key"); text != "" {
			if all[i].WrappedKey, err = base64.RawURLEncoding.Strict().DecodeString(text); err != nil {
				return nil, ErrAnswer
			}
		}
	}
	return all, nil
}
