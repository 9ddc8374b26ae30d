package servertest

import (
	"net/http"
	"net/url"
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
	root, err := html.Parse(strings.NewReader(r.Body))
	env.OK(r.T, err)
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

// Has fails the test for each text that the page does not say.
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
