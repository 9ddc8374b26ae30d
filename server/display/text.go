// Package display formats values for people: links, addresses, times, programs, QR codes, and a
// text exactly as it was sent. It does not depend on requests, records or templates.
package display

import (
	"encoding/base64"
	"html/template"
	"strings"
	"time"
)

// PushLink returns the link of a push that a sender gives to a recipient. It begins with
// base, the address of the server; step says that a page with a button comes before
// the push.
func PushLink(base, urlToken string, step bool) string {
	page := ""
	if step {
		page = "/r"
	}
	return base + "/p/" + urlToken + page
}

// RequestLink returns the link of a request for secrets, which its owner gives to people. It
// begins with base, the address of the server.
func RequestLink(base, token string) string { return base + "/q/" + token }

// PasswordLink returns the link that sets the password of an account.
func PasswordLink(base, code string) string { return base + PasswordPath + code }

// PasswordPath, with a code behind it, is the path of the page that sets a password.
const PasswordPath = "/users/password/new/"

// A Time is a time as a page shows it. A script writes Machine (RFC 3339) in the
// reader's time zone and language; without scripts the page shows Text, in UTC.
type Time struct{ Machine, Text string }

// NewTime returns a time to the minute.
func NewTime(t time.Time) Time { return newTime(t, "2006-01-02 15:04") }

// NewExactTime returns a time to the second.
func NewExactTime(t time.Time) Time { return newTime(t, time.DateTime) }

func newTime(t time.Time, layout string) Time {
	t = t.UTC()
	return Time{t.Format(time.RFC3339), t.Format(layout) + " UTC"}
}

// OptionalTime returns a time to the minute; nil for the zero time.
func OptionalTime(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	shown := NewTime(t)
	return &shown
}

// asHTML escapes a text so that a parser of HTML reads it unchanged. Unlike the
// templates' own escaping, it keeps carriage returns, which parsers turn into line
// feeds unless they are escaped (HTML Standard, preprocessing the input stream).
var asHTML = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;",
	"\r", "&#13;", "\x00", "\uFFFD",
)

// ExactHTML returns a text as HTML for the inside of an element. HTML cannot hold the
// character NUL: for a text with one, exact is the text in base64, which a script puts
// into the element; otherwise exact is empty.
func ExactHTML(text string) (html template.HTML, exact string) {
	if strings.ContainsRune(text, 0) {
		exact = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return template.HTML(asHTML.Replace(text)), exact // all of it is escaped
}

// StampLayout is the layout of a time in the API and the log: ISO 8601 in UTC with
// milliseconds.
const StampLayout = "2006-01-02T15:04:05.000Z"

// Stamp writes a time in StampLayout. It formats RFC 3339 and adds the milliseconds: Format
// is much slower with a layout that it has no special case for.
func Stamp(t time.Time) string {
	var room [len(StampLayout)]byte
	b := t.UTC().AppendFormat(room[:0], time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return string(append(b[:len(b)-1], '.', '0'+byte(ms/100), '0'+byte(ms/10%10), '0'+byte(ms%10), 'Z'))
}

// OptionalStamp is nil for the zero time.
func OptionalStamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(Stamp(t))
}
