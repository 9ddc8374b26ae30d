package server_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
)

var urlencoded = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}

// senderAt adds an account and returns the header of a browser that is signed in
// as it.
func (a *api) senderAt(email string) http.Header {
	a.t.Helper()
	header, _ := a.signIn(email)
	return header
}

// typed is a form as it is when nobody touched it, but for these fields.
func typed(changes map[string]string) map[string]string {
	f := map[string]string{
		"kind": "text", "payload": "hunter2", "expire_after_days": "7", "expire_after_views": "5",
		"expire_after_duration": "", "passphrase": "", "retrieval_step": "on", "deletable_by_viewer": "on",
	}
	for name, text := range changes {
		f[name] = text
		if text == unticked {
			delete(f, name)
		}
	}
	return f
}

// unticked is what a field has that is not sent.
const unticked = "\x00"

// sendForm sends the form of the page, as a browser without scripts may.
func (a *api) sendForm(fields map[string]string, headers ...http.Header) answer {
	a.t.Helper()
	bracketed := make(map[string]string)
	for name, text := range fields {
		bracketed["push["+name+"]"] = text
	}
	return a.send("/", bracketed, headers...)
}

// sendParts sends the form as multipart/form-data.
func (a *api) sendParts(p filePush, headers ...http.Header) answer {
	a.t.Helper()
	_, body := p.multipart()
	return a.do("POST", "/", body, append([]http.Header{multi}, headers...)...)
}

// nothingChosen is what a browser sends for a field for files that was left empty.
var nothingChosen = part(`Content-Disposition: form-data; name="push[files][]"; filename=""`+"\r\nContent-Type: application/octet-stream", "")

var linkField = regexp.MustCompile(`<input id="link" readonly value="([^"]*)"`)

// link is the link that the page of a new push shows.
func (r answer) link() string {
	r.t.Helper()
	found := linkField.FindStringSubmatch(r.want(http.StatusCreated).body)
	if found == nil {
		r.t.Fatalf("no link: %s", r.body)
	}
	return html.UnescapeString(found[1])
}

// pushed is the url_token of a new push.
func (r answer) pushed() string {
	r.t.Helper()
	_, path, _ := strings.Cut(r.link(), "/p/")
	token, _, _ := strings.Cut(path, "/")
	return token
}

// problems are the problems that a form lists, as texts.
func (r answer) problems() (texts []string) {
	r.t.Helper()
	_, list, _ := strings.Cut(r.want(http.StatusUnprocessableEntity).body, `<div class="problems" role="alert" tabindex="-1" autofocus>`)
	list, _, _ = strings.Cut(list, "</div>")
	for _, found := range regexp.MustCompile(`<li>(.*?)</li>`).FindAllStringSubmatch(list, -1) {
		texts = append(texts, html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(found[1], "")))
	}
	if len(texts) == 0 {
		r.t.Errorf("no problem is told: %s", r.body)
	}
	return texts
}

// tag is the opening tag of what has that id.
func (r answer) tag(id string) string {
	return regexp.MustCompile(`<[a-z]+ [^>]*\bid="` + id + `"[^>]*>`).FindString(r.body)
}

// typedInto is the text that a text field comes with.
func (r answer) typedInto(id string) string {
	tag := r.tag(id)
	_, rest, _ := strings.Cut(r.body, tag)
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
