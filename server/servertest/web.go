package servertest

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"pushbox/internal/testkit/env"
)

// A Node is a node of a page.
type Node = *html.Node

// A Page is an answer that is HTML, read as a browser reads it.
type Page struct {
	Answer
	root Node
}

// Page reads the answer as a page.
func (r Answer) Page() Page {
	r.T.Helper()
	if got := r.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		r.T.Fatalf("not a page but %q: %s", got, r.Body)
	}
	root := env.Must(html.Parse(strings.NewReader(r.Body)))(r.T)
	return Page{r, root}
}

// Send sends a form with these fields.
func (a *Server) Send(path string, fields map[string]string, headers ...http.Header) Answer {
	a.T.Helper()
	form := make(url.Values)
	for name, value := range fields {
		form.Set(name, value)
	}
	return a.Do(http.MethodPost, path, form.Encode(), append([]http.Header{Urlencoded}, headers...)...)
}

// Find returns the elements that match.
func (p Page) Find(match func(Node) bool) (found []Node) {
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && match(n) {
			found = append(found, n)
		}
	}
	return found
}

// Elements returns the elements of that name.
func (p Page) Elements(name string) []Node {
	return p.Find(func(n Node) bool { return n.Data == name })
}

// TextOf returns the exact text of an element and everything in it.
func TextOf(n Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// Words returns the text of main, with each run of white space as one space.
func (p Page) Words() string {
	p.T.Helper()
	main := p.Elements("main")
	if len(main) != 1 {
		p.T.Fatalf("%d elements main", len(main))
	}
	return strings.Join(strings.Fields(TextOf(main[0])), " ")
}

// Has fails the test for each text that the page lacks.
func (p Page) Has(texts ...string) Page {
	p.T.Helper()
	for _, text := range texts {
		if !strings.Contains(p.Words(), text) {
			p.T.Errorf("it does not say %q but: %.600s", text, p.Words())
		}
	}
	return p
}

// Lacks fails the test for each text that the page says.
func (p Page) Lacks(texts ...string) Page {
	p.T.Helper()
	for _, text := range texts {
		if strings.Contains(p.Words(), text) {
			p.T.Errorf("it says %q: %.300s", text, p.Words())
		}
	}
	return p
}

// Field returns the value of a control of that name, and whether there is one.
func (p Page) Field(name string) (value string, ok bool) {
	found := p.Find(func(n Node) bool { return n.Data != "meta" && Attr(n, "name") == name })
	switch {
	case len(found) == 0:
		return "", false
	case found[0].Data == "textarea":
		return TextOf(found[0]), true
	default:
		return Attr(found[0], "value"), true
	}
}

// Link returns where the link leads that says text; empty if there is none.
func (p Page) Link(text string) string {
	for _, n := range p.Elements("a") {
		if strings.TrimSpace(TextOf(n)) == text {
			return Attr(n, "href")
		}
	}
	return ""
}

// ID returns the element of that ID, or nil.
func (p Page) ID(id string) Node {
	if found := p.Find(func(n Node) bool { return Attr(n, "id") == id }); len(found) > 0 {
		return found[0]
	}
	return nil
}

// Forms returns where the forms of main are sent.
func (p Page) Forms() (actions []string) {
	for n := range p.Elements("main")[0].Descendants() {
		if n.Type == html.ElementNode && n.Data == "form" {
			actions = append(actions, Attr(n, "method")+" "+Attr(n, "action"))
		}
	}
	return actions
}

// Attr is the value of an attribute; empty: it has none.
func Attr(n Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

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

// agent returns the headers of a program with that User-Agent.
func agent(name string, more ...http.Header) http.Header {
	h := http.Header{"User-Agent": {name}}
	for _, m := range more {
		maps.Copy(h, m)
	}
	return h
}

const chromium = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

// Navigation returns all headers of a browser in which a person opens a link.
func Navigation(more ...http.Header) http.Header {
	h := maps.Clone(Visit)
	h.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	h.Set("Upgrade-Insecure-Requests", "1")
	for _, m := range more {
		maps.Copy(h, m)
	}
	return agent(chromium, h)
}

// Scanners are requests of programs that inspect links in messages, and of browsers
// that prefetch. No person sees the answers.
var Scanners = map[string]struct {
	Method string
	Header http.Header
}{
	"Slack unfurling":          {"GET", agent("Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", http.Header{"Range": {"bytes=0-32768"}, "Accept": {"*/*"}})},
	"Slack images":             {"GET", agent("Slack-ImgProxy (+https://api.slack.com/robots)")},
	"Teams":                    {"GET", agent("Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com")},
	"Teams in another way":     {"GET", agent("Mozilla/5.0 (compatible; MicrosoftPreview/2.0; +https://aka.ms/MicrosoftPreview) Chrome/142.0.0.0 Safari/537.36", http.Header{"Accept": {"text/html"}})},
	"WhatsApp":                 {"GET", agent("WhatsApp/2.23.20.0", http.Header{"Accept": {"text/html"}, "Accept-Language": {"en"}})},
	"Outlook Safe Links":       {"GET", agent(chromium, http.Header{"Accept": {"text/html,*/*"}, "X-Forwarded-For": {"40.94.0.1"}})},
	"Outlook Safe Links, HEAD": {"HEAD", agent(chromium)},
	"Telegram":                 {"GET", agent("TelegramBot (like TwitterBot)")},
	"Facebook":                 {"GET", agent("facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", http.Header{"Range": {"bytes=0-524287"}})},
	"Discord":                  {"GET", agent("Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)")},
	"Google":                   {"GET", agent("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", http.Header{"From": {"googlebot(at)googlebot.com"}})},
	"curl":                     {"GET", agent("curl/8.14.1", http.Header{"Accept": {"*/*"}})},
	"curl -I":                  {"HEAD", agent("curl/8.14.1")},
	"OPTIONS":                  {"OPTIONS", agent("Microsoft Office Protocol Discovery")},
	"PROPFIND":                 {"PROPFIND", agent("Microsoft-WebDAV-MiniRedir/10.0.19045")},
	"nothing at all":           {"GET", agent("")},

	"Chromium prefetch":             {"GET", Navigation(http.Header{"Sec-Purpose": {"prefetch"}, "Purpose": {"prefetch"}})},
	"Chromium prefetch by proxy":    {"GET", Navigation(http.Header{"Sec-Purpose": {"prefetch;anonymous-client-ip"}})},
	"Chromium prerender":            {"GET", Navigation(http.Header{"Sec-Purpose": {"prefetch;prerender"}, "Purpose": {"prefetch"}})},
	"Chromium link prefetch":        {"GET", agent(chromium, http.Header{"Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Dest": {"empty"}, "Sec-Purpose": {"prefetch"}})},
	"prefetch by an old name":       {"GET", Navigation(http.Header{"Purpose": {"Prefetch"}})},
	"an old Firefox":                {"GET", Navigation(http.Header{"X-Moz": {"prefetch"}})},
	"Safari's top hit":              {"GET", Navigation(http.Header{"X-Purpose": {"preview"}})},
	"a frame":                       {"GET", Navigation(http.Header{"Sec-Fetch-Dest": {"iframe"}})},
	"an image":                      {"GET", agent(chromium, http.Header{"Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Dest": {"image"}})},
	"a script's fetch":              {"GET", agent(chromium, http.Header{"Sec-Fetch-Mode": {"cors"}, "Sec-Fetch-Dest": {"empty"}})},
	"a browser on plain HTTP":       {"GET", agent(chromium, http.Header{"Accept": {"text/html"}, "Upgrade-Insecure-Requests": {"1"}})},
	"HEAD that looks like a person": {"HEAD", Navigation()},
}
