package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/secret"
)

// A Push is what a server tells of one.
type Push struct {
	Link    secret.Text // to give away
	Payload secret.Text // of a retrieval
	Files   []File      // of a retrieval

	// Limits, and the rest of the views; below 0 where the answer does not tell.
	Days, Views, ViewsRemaining int64

	// PassphraseInURL tells that the server takes the passphrase nowhere else, so
	// that its log may have it.
	PassphraseInURL bool
}

// A File is a file of a push that was retrieved.
type File struct {
	Name string      // as the server tells it: it may be anything
	Size int64       // bytes; below 0 where the answer does not tell
	url  secret.Text // a grant for it
}

// passphraseHeader is where pushbox takes a passphrase without it being in a URL,
// which a log may keep. It says so when it misses one.
const passphraseHeader = "X-Push-Passphrase"

// Retrieve gets a push, which counts as a view unless the token is its owner's.
// An empty passphrase is none. The error is ErrExpired, ErrPassphrase, a
// *StatusError, or says why there was no answer; then a view may have been
// counted nevertheless.
func (c *Client) Retrieve(ctx context.Context, l Link, passphrase secret.Text) (Push, error) {
	inHeader := fitsHeader(passphrase.Reveal())
	p, err := c.retrieve(ctx, l, passphrase, inHeader)
	refused := (*StatusError)(nil)
	if errors.As(err, &refused) && refused.passphrase && !refused.takesOurs && inHeader && !passphrase.IsZero() {
		return c.retrieve(ctx, l, passphrase, false) // it did not see it
	}
	return p, err
}

func (c *Client) retrieve(ctx context.Context, l Link, passphrase secret.Text, inHeader bool) (Push, error) {
	ctx, w := newWatch(ctx, answerTimeout)
	defer w.stop()
	req, err := c.apiRequest(ctx, http.MethodGet, l.Server, nil, l.token.Reveal())
	if err != nil {
		return Push{}, err
	}
	switch {
	case passphrase.IsZero():
	case inHeader:
		req.Header.Set(passphraseHeader, passphrase.Reveal())
	default:
		req.URL.RawQuery = url.Values{"passphrase": {passphrase.Reveal()}}.Encode()
	}
	body, err := c.answer(ctx, w, req)
	if err != nil {
		return Push{}, err
	}
	p := pushOf(body, l.Server)
	expired, _ := read[bool](body, "expired")
	if expired && p.Payload.IsZero() && len(p.Files) == 0 { // a last view may be told as expired, and has them
		return Push{}, ErrExpired
	}
	p.PassphraseInURL = !passphrase.IsZero() && !inHeader
	return p, nil
}

// fitsHeader reports whether a header carries the passphrase as it is: blanks
// around it would be dropped.
func fitsHeader(passphrase string) bool {
	return strings.TrimSpace(passphrase) == passphrase && !strings.ContainsFunc(passphrase, unicode.IsControl) && utf8.ValidString(passphrase)
}

// Expire ends a push: nobody retrieves it any more, if the error is nil.
func (c *Client) Expire(ctx context.Context, l Link) error {
	ctx, w := newWatch(ctx, answerTimeout)
	defer w.stop()
	req, err := c.apiRequest(ctx, http.MethodDelete, l.Server, nil, l.token.Reveal())
	if err != nil {
		return err
	}
	_, err = c.answer(ctx, w, req)
	return err
}

// pushOf reads a push that a server tells of.
func pushOf(o object, from Server) Push {
	p := Push{
		Link: secret.New(o.text("html_url")), Payload: secret.New(o.text("payload")),
		Days: o.number("expire_after_days"), Views: o.number("expire_after_views"), ViewsRemaining: o.number("views_remaining"),
	}
	files, _ := read[[]object](o, "files")
	for _, f := range files {
		p.Files = append(p.Files, fileOf(f, from))
	}
	if token := o.text("url_token"); !isLink(p.Link.Reveal()) && urlTokens.MatchString(token) {
		p.Link = secret.New(from.url("p", token).String())
	}
	return p
}

func isLink(text string) bool {
	_, err := ParseLink(text)
	return err == nil && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' })
}

// fileOf reads a file. Behind a proxy a server may not know that it is reached
// by TLS: an address on its own host becomes one with TLS, and any other without
// it is none.
func fileOf(o object, from Server) File {
	f := File{Name: o.first("filename", "name"), Size: o.number("size")}
	text := o.first("url", "download_url")
	u, err := from.url().Parse(text)
	if err != nil || text == "" || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return f
	}
	if from.scheme == "https" && u.Scheme == "http" {
		if !strings.EqualFold(u.Hostname(), from.url().Hostname()) {
			return f
		}
		u.Scheme, u.Host = from.scheme, from.host
	}
	f.url = secret.New(u.String())
	return f
}
