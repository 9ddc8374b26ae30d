// Package pageproof checks that a server sends the pages of a release: every script and style has
// the digest of the release's list, and no page runs anything else.
//
// A page proves nothing about the one that another visitor gets.
package pageproof

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A List has the digests of a release by the paths of its files, as `pushbox version --assets` prints it.
type List map[string]string

// maxList bounds the lines of a list.
const maxList = 1000

// ParseList reads a list. The error names the line that is none of a list.
func ParseList(text string) (List, error) {
	l := make(List)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > maxList {
		return nil, fmt.Errorf("has more than %d lines", maxList)
	}
	for i, line := range lines {
		digest, at, ok := strings.Cut(strings.TrimSuffix(line, "\r"), "  ")
		if !ok || !strings.HasPrefix(digest, "sha384-") || !strings.HasPrefix(at, "/") {
			return nil, fmt.Errorf("line %d is not a digest and a path, as `pushbox version --assets` prints them", i+1)
		}
		l[at] = digest
	}
	return l, nil
}

// A Get requests a path of the server as a visitor. It follows no redirect.
type Get func(ctx context.Context, path string) (status int, header http.Header, body []byte, err error)

// A Report is the result of a check.
type Report struct {
	Pages, Files int      // that were compared
	Problems     []string // what is not of the release, in words; none: everything is
}

// Check requests pages, and all scripts and styles of the list. base is the path in front of all
// paths of the server, without a slash at the end. An error means that a request failed.
func Check(ctx context.Context, l List, base string, pages []string, get Get) (r Report, err error) {
	c := check{list: l, base: base}
	for _, at := range pages {
		status, header, body, err := get(ctx, at)
		switch {
		case err != nil:
			return c.Report, fmt.Errorf("%s: %w", shown(at), err)
		case status >= 300 && status < 400:
			continue // what it leads to is another page
		case status >= 500:
			return c.Report, fmt.Errorf("%s: the server answers %d %s", shown(at), status, http.StatusText(status))
		}
		c.page(shown(at), header, body)
	}
	if c.Pages == 0 {
		return c.Report, errors.New("the server sent no page")
	}
	for at, digest := range l {
		if ending := path.Ext(at); ending != ".js" && ending != ".css" {
			continue
		}
		status, _, body, err := get(ctx, at)
		if err != nil {
			return c.Report, fmt.Errorf("%s: %w", at, err)
		}
		c.Files++
		switch sum := sha512.Sum384(body); {
		case status != http.StatusOK:
			c.note(at, "the server has not got it (status %d)", status)
		case "sha384-"+base64.StdEncoding.EncodeToString(sum[:]) != digest:
			c.note(at, "it is another file than that of the release")
		}
	}
	slices.Sort(c.Problems)
	return c.Report, nil
}

// shown hides the url_token in a path.
func shown(at string) string {
	if strings.HasPrefix(at, "/p/") {
		return "/p/…"
	}
	return at
}

type check struct {
	Report
	list List
	base string
}

func (c *check) note(at, problem string, values ...any) {
	c.Problems = append(c.Problems, at+": "+fmt.Sprintf(problem, values...))
}

// page checks that a page runs only scripts of the list.
func (c *check) page(at string, header http.Header, body []byte) {
	c.Pages++
	c.policy(at, strings.Join(header.Values("Content-Security-Policy"), ", "))
	scan := html.NewTokenizer(bytes.NewReader(body))
	for scan.Next() != html.ErrorToken {
		if t := scan.Token(); t.Type == html.StartTagToken || t.Type == html.SelfClosingTagToken {
			c.element(at, t)
		}
	}
}

// policy checks that the browser is told to run nothing but scripts of the server.
func (c *check) policy(at, policy string) {
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'", "form-action 'self'", "connect-src 'self'"} {
		if !slices.ContainsFunc(strings.Split(policy, ";"), func(d string) bool { return strings.TrimSpace(d) == part }) {
			c.note(at, "its Content-Security-Policy lacks %s", part)
		}
	}
}

// element checks a start tag.
func (c *check) element(at string, t html.Token) {
	of := func(name string) string {
		i := slices.IndexFunc(t.Attr, func(a html.Attribute) bool { return a.Key == name })
		if i < 0 {
			return ""
		}
		return t.Attr[i].Val
	}
	switch t.Data {
	case "script":
		c.loads(at, "a script", of("src"), of("integrity"))
	case "link":
		if rel := strings.ToLower(of("rel")); strings.Contains(rel, "stylesheet") || strings.Contains(rel, "preload") {
			c.loads(at, "a "+rel, of("href"), of("integrity"))
		}
	case "iframe", "object", "embed", "frame", "base", "applet":
		c.note(at, "it has an element %s", t.Data)
	case "meta":
		if of("http-equiv") != "" {
			c.note(at, "it has a meta element for %s", of("http-equiv"))
		}
	}
	for _, a := range t.Attr {
		switch {
		case strings.HasPrefix(a.Key, "on"):
			c.note(at, "it has a script in an attribute %s", a.Key)
		case strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:"):
			c.note(at, "it has a script in an address")
		case strings.HasPrefix(a.Key, "data-") && strings.HasSuffix(a.Val, ".js"): // which a script of the page loads
			c.loads(at, "a script", a.Val, c.list[c.own(a.Val)])
		}
	}
}

// own returns the path of the server as the list has it.
func (c *check) own(address string) string { return strings.TrimPrefix(address, c.base) }

// loads checks a file that a page loads.
func (c *check) loads(at, what, address, integrity string) {
	digest, known := c.list[c.own(address)]
	switch {
	case address == "":
		c.note(at, "it has %s without a file", what)
	case !known:
		c.note(at, "it loads %s that the release has not got: %.100q", what, address)
	case integrity != digest:
		c.note(at, "it loads %s without the digest of the release: %s", what, address)
	}
}
