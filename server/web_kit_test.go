package server_test

import (
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// A node is one of a page.
type node = *html.Node

// A page is an answer that is HTML, read as a browser reads it.
type page struct {
	answer
	root node
}

// page reads the answer as a page.
func (r answer) page() page {
	r.t.Helper()
	if got := r.header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		r.t.Fatalf("not a page but %q: %s", got, r.body)
	}
	root, err := html.Parse(strings.NewReader(r.body))
	if err != nil {
		r.t.Fatal(err)
	}
	return page{r, root}
}

// send sends a form, given as pairs of names and values.
func (a *api) send(path string, fields map[string]string, headers ...http.Header) answer {
	a.t.Helper()
	form := make(url.Values)
	for name, value := range fields {
		form.Set(name, value)
	}
	return a.do(http.MethodPost, path, form.Encode(), append([]http.Header{urlencoded}, headers...)...)
}

// find returns the elements that match.
func (p page) find(match func(node) bool) (found []node) {
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && match(n) {
			found = append(found, n)
		}
	}
	return found
}

// elements returns those of a name.
func (p page) elements(name string) []node {
	return p.find(func(n node) bool { return n.Data == name })
}

// textOf is what an element and all in it say, to the letter.
func textOf(n node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// words is what main says, with each run of white space as one space.
func (p page) words() string {
	p.t.Helper()
	main := p.elements("main")
	if len(main) != 1 {
		p.t.Fatalf("%d elements main", len(main))
	}
	return strings.Join(strings.Fields(textOf(main[0])), " ")
}

// has fails the test for each text that the page does not say.
func (p page) has(texts ...string) page {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.words(), text) {
			p.t.Errorf("it does not say %q but: %.600s", text, p.words())
		}
	}
	return p
}

// lacks fails the test for each text that the page says.
func (p page) lacks(texts ...string) page {
	p.t.Helper()
	for _, text := range texts {
		if strings.Contains(p.words(), text) {
			p.t.Errorf("it says %q: %.300s", text, p.words())
		}
	}
	return p
}

// field returns the value of a control of that name, and whether there is one.
func (p page) field(name string) (value string, ok bool) {
	found := p.find(func(n node) bool { return n.Data != "meta" && attr(n, "name") == name })
	switch {
	case len(found) == 0:
		return "", false
	case found[0].Data == "textarea":
		return textOf(found[0]), true
	default:
		return attr(found[0], "value"), true
	}
}

// link returns where the link leads that says text; empty if there is none.
func (p page) link(text string) string {
	for _, n := range p.elements("a") {
		if strings.TrimSpace(textOf(n)) == text {
			return attr(n, "href")
		}
	}
	return ""
}

// id returns the element of that ID, or nil.
func (p page) id(id string) node {
	if found := p.find(func(n node) bool { return attr(n, "id") == id }); len(found) > 0 {
		return found[0]
	}
	return nil
}

// forms returns where the forms of main are sent.
func (p page) forms() (actions []string) {
	for n := range p.elements("main")[0].Descendants() {
		if n.Type == html.ElementNode && n.Data == "form" {
			actions = append(actions, attr(n, "method")+" "+attr(n, "action"))
		}
	}
	return actions
}

func attr(n node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
