package servertest

import (
	"html"
	"net/http"
	"regexp"
	"strings"
)

// Urlencoded is the header of a form.
var Urlencoded = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}

// Typed returns the fields of an unchanged form, except for these changes.
func Typed(changes map[string]string) map[string]string {
	f := map[string]string{
		"kind": "text", "payload": "hunter2", "expire_after_days": "7", "expire_after_views": "5",
		"expire_after_duration": "", "passphrase": "", "retrieval_step": "on", "deletable_by_viewer": "on",
	}
	for name, text := range changes {
		f[name] = text
		if text == Unticked {
			delete(f, name)
		}
	}
	return f
}

// Unticked is the value for a field that is not sent.
const Unticked = "\x00"

// SendForm sends the form of the page, as a browser without scripts may, and follows it to
// the receipt.
func (a *Server) SendForm(fields map[string]string, headers ...http.Header) Answer {
	a.T.Helper()
	bracketed := make(map[string]string)
	for name, text := range fields {
		bracketed["push["+name+"]"] = text
	}
	return a.receipt(a.Send("/", bracketed, headers...), headers)
}

// NewReceipt creates a push by the form, and returns the path of its receipt.
func (a *Server) NewReceipt(headers ...http.Header) string {
	a.T.Helper()
	got := a.Send("/", map[string]string{"push[kind]": "text", "push[payload]": "hunter2", "push[expire_after_days]": "7", "push[expire_after_views]": "5", "push[retrieval_step]": "on"}, headers...)
	return got.Want(http.StatusSeeOther).Header.Get("Location")
}

// receipt follows the answer to a form that made a push.
func (a *Server) receipt(got Answer, headers []http.Header) Answer {
	a.T.Helper()
	if to := got.Header.Get("Location"); got.Status == http.StatusSeeOther && strings.Contains(to, "/receipt/") {
		return a.Do(http.MethodGet, to, "", headers...)
	}
	return got
}

// SendParts is SendForm with multipart/form-data.
func (a *Server) SendParts(p FilePush, headers ...http.Header) Answer {
	a.T.Helper()
	_, body := p.Multipart()
	return a.receipt(a.Do("POST", "/", body, append([]http.Header{Multi}, headers...)...), headers)
}

// NothingChosen is what a browser sends for a field for files with no file chosen.
var NothingChosen = Part(`Content-Disposition: form-data; name="push[files][]"; filename=""`+"\r\nContent-Type: application/octet-stream", "")

var linkField = regexp.MustCompile(`<input id="link" readonly value="([^"]*)"`)

// Link returns the link that a receipt shows.
func (r Answer) Link() string {
	r.T.Helper()
	found := linkField.FindStringSubmatch(r.Want(http.StatusOK).Body)
	if found == nil {
		r.T.Fatalf("no link: %s", r.Body)
	}
	return html.UnescapeString(found[1])
}

// PushToken returns the url_token of that link.
func (r Answer) PushToken() string {
	r.T.Helper()
	_, path, _ := strings.Cut(r.Link(), "/p/")
	token, _, _ := strings.Cut(path, "/")
	return token
}

// Problems returns the problems that a form lists, as texts.
func (r Answer) Problems() (texts []string) {
	r.T.Helper()
	_, list, _ := strings.Cut(r.Want(http.StatusUnprocessableEntity).Body, `<div class="problems" role="alert" tabindex="-1" autofocus>`)
	list, _, _ = strings.Cut(list, "</div>")
	for _, found := range regexp.MustCompile(`<li>(.*?)</li>`).FindAllStringSubmatch(list, -1) {
		texts = append(texts, html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(found[1], "")))
	}
	if len(texts) == 0 {
		r.T.Errorf("no problem is told: %s", r.Body)
	}
	return texts
}

// Tag returns the opening tag of the element with that ID.
func (r Answer) Tag(id string) string {
	return regexp.MustCompile(`<[a-z]+ [^>]*\bid="` + id + `"[^>]*>`).FindString(r.Body)
}

// TypedInto returns the text in a text field.
func (r Answer) TypedInto(id string) string {
	tag := r.Tag(id)
	_, rest, _ := strings.Cut(r.Body, tag)
	if strings.HasPrefix(tag, "<textarea") {
		text, _, _ := strings.Cut(rest, "</textarea>")
		return html.UnescapeString(strings.TrimPrefix(text, "\n"))
	}
	found := regexp.MustCompile(` value="([^"]*)"`).FindStringSubmatch(tag)
	if found == nil {
		return ""
	}
	return html.UnescapeString(found[1])
}
