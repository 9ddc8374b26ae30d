package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/secret"
)

// A Push is a push as the server describes it.
type Push struct {
	Link    secret.Text // for the recipients
	Payload secret.Text // after a retrieval
	Files   []File      // after a retrieval

	// Limits and the remaining views; below 0 if the answer does not have them.
	Days, Views, ViewsRemaining int64

	// Times; zero or nothing if the answer does not have them.
	ExpiresAt, OpenFrom time.Time
	closeAfter          int64 // a code; below 0: none
	networks            int   // how many it opens from; 0: from all

	Mailed bool // the server sends the link by mail; after Create

	recipient string // that it names; after Create

	// PassphraseInURL says that the server accepts the passphrase only in the URL, so
	// that its log may contain it.
	PassphraseInURL bool
}

// Differs reports whether the server made the push with other limits than it was asked for.
func (p Push) Differs(from NewPush) bool {
	code, _ := DurationCode(from.CloseAfter)
	if from.Networks != "" && p.networks == 0 {
		return true
	}
	if missed(from.ExpiresAt, p.ExpiresAt) || missed(from.OpenFrom, p.OpenFrom) || from.CloseAfter > 0 && p.closeAfter != int64(code) {
		return true
	}
	return from.Days > 0 && p.Days >= 0 && p.Days != int64(from.Days) || from.Views > 0 && p.Views >= 0 && p.Views != int64(from.Views)
}

// missed reports whether a time that was asked for differs from what it became. Servers keep milliseconds.
func missed(asked, became time.Time) bool {
	return !asked.IsZero() && !asked.Truncate(time.Millisecond).Equal(became)
}

// A File is a file of a push that was retrieved.
type File struct {
	Name string      // from the server, not verified
	Size int64       // bytes; below 0: unknown
	url  secret.Text // contains a grant
}

// passphraseHeader carries a passphrase to pushbox, since a log may keep URLs. An answer
// of pushbox names it if the passphrase is missing.
const passphraseHeader = "X-Push-Passphrase"

// Retrieve gets a push, which counts as a view unless the token is its owner's.
// An empty passphrase is none. The error is ErrExpired, ErrPassphrase, a *StatusError, or
// says why there was no answer: in that case a view may have been counted.
func (c *Client) Retrieve(ctx context.Context, l Link, passphrase secret.Text) (Push, error) {
	inHeader := fitsHeader(passphrase.Reveal())
	p, err := c.retrieve(ctx, l, passphrase, inHeader)
	if refused, ok := errors.AsType[*StatusError](err); ok && refused.passphrase && !refused.takesOurs && inHeader && !passphrase.IsZero() {
		return c.retrieve(ctx, l, passphrase, false) // the server ignored the header
	}
	return p, err
}

func (c *Client) retrieve(ctx context.Context, l Link, passphrase secret.Text, inHeader bool) (Push, error) {
	body, err := c.call(ctx, http.MethodGet, l.Server, func(req *http.Request) {
		switch {
		case passphrase.IsZero():
		case inHeader:
			req.Header.Set(passphraseHeader, passphrase.Reveal())
		default:
			req.URL.RawQuery = url.Values{"passphrase": {passphrase.Reveal()}}.Encode()
		}
	}, pushes, l.token.Reveal())
	if err != nil {
		return Push{}, err
	}
	p := pushOf(body, l.Server)
	expired, _ := read[bool](body, "expired")
	if expired && p.Payload.IsZero() && len(p.Files) == 0 { // the last view may be reported as expired, and has files
		return Push{}, ErrExpired
	}
	p.PassphraseInURL = !passphrase.IsZero() && !inHeader
	return p, nil
}

// fitsHeader reports whether a header carries the passphrase unchanged: it would lose
// spaces at its ends.
func fitsHeader(passphrase string) bool {
	return strings.TrimSpace(passphrase) == passphrase && !strings.ContainsFunc(passphrase, unicode.IsControl) && utf8.ValidString(passphrase)
}

// Expire ends a push. If the error is nil, no one can retrieve it afterwards.
func (c *Client) Expire(ctx context.Context, l Link) error {
	_, err := c.call(ctx, http.MethodDelete, l.Server, func(*http.Request) {}, pushes, l.token.Reveal())
	return err
}

func pushOf(o object, from Server) Push {
	p := Push{
		Link: secret.New(o.text("html_url")), Payload: secret.New(o.text("payload")),
		Days: o.number("expire_after_days"), Views: o.number("expire_after_views"), ViewsRemaining: o.number("views_remaining"),
		ExpiresAt: o.time("expires_at"), OpenFrom: o.time("open_from"), closeAfter: o.number("close_after_first_view"),
		Mailed: o.text("notify_emails_to") != "", recipient: o.text("recipient_email"),
	}
	networks, _ := read[[]string](o, "networks")
	p.networks = len(networks)
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

// fileOf reads a file. A server behind a proxy may not know that its clients use TLS. If
// this one does, a URL on the server's host becomes one with TLS, and any other URL
// without TLS is refused.
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

// An object is a JSON object. Any part of it may be missing; a part of another type than
// expected counts as missing.
type object map[string]json.RawMessage

func parseObject(text []byte) (object, bool) {
	var o object
	err := json.Unmarshal(text, &o)
	return o, err == nil && o != nil
}

func read[T any](o object, key string) (v T, ok bool) {
	var read *T // null leaves it nil
	if json.Unmarshal(o[key], &read) != nil || read == nil {
		return v, false
	}
	return *read, true
}

func (o object) text(key string) string {
	v, _ := read[string](o, key)
	return v
}

// time reads a time; zero if there is none.
func (o object) time(key string) time.Time {
	at, _ := time.Parse(time.RFC3339, o.text(key))
	return at
}

// number returns a whole number, also one in quotes; -1 if there is none.
func (o object) number(key string) int64 {
	raw := strings.Trim(string(o[key]), `"`)
	v := int64(-1)
	if json.Unmarshal([]byte(raw), &v) != nil {
		return -1
	}
	return v
}

func (o object) first(keys ...string) string {
	for _, key := range keys {
		if text := o.text(key); text != "" {
			return text
		}
	}
	return ""
}
