// Package web has the templates, styles and scripts of the pages, and renders them. It does not
// depend on HTTP, and gets the data of pages as structs.
package web

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"pushbox/internal/lang"
)

//go:embed templates/*.html static/*
var files embed.FS

// Pages renders pages and has the files that they need. It is safe for
// concurrent use.
type Pages struct {
	reading   sync.Once // templates, read with the first page so that a start need not wait for them
	templates map[string]*template.Template
	broken    error
	base      string // what paths begin with
	logo      *Logo
	assets    map[string]Asset
	paths     map[string]string // of assets, by their names
}

// New reads the assets, and the logo unless it is nil. All paths in pages begin with
// base, which is empty or has no slash at its end. An error is a fault of the logo, or
// of the build.
func New(logo *Logo, base string) (*Pages, error) {
	p := &Pages{logo: logo, base: base}
	return p, p.readAssets(logo)
}

// With returns pages with another logo, or without one; if the logo is the same, it
// returns p. p may be nil; otherwise base must be that of p. A browser with an older
// page still finds p's logo.
func (p *Pages) With(logo *Logo, base string) (*Pages, error) {
	if p != nil && p.logo.same(logo) {
		return p, nil
	}
	next, err := New(logo, base)
	if err == nil && p != nil && p.logo != nil {
		name := strings.TrimPrefix(p.LogoPath(), AssetPrefix)
		next.assets[name] = p.assets[name]
	}
	return next, err
}

// parts splits a name of a setting, a variable or a file where a line may break: after _, . and /.
func parts(name string) (all []string) {
	for {
		i := strings.IndexAny(name, "_./")
		if i < 0 || i == len(name)-1 {
			return append(all, name)
		}
		all, name = append(all, name[:i+1]), name[i+1:]
	}
}

// readTemplates reads the template of each page, with the frame of all. An error is
// a fault of the build.
func (p *Pages) readTemplates() (map[string]*template.Template, error) {
	all := make(map[string]*template.Template)
	base := template.New("layout.html").Funcs(template.FuncMap{"asset": p.Path, "digest": p.Digest, "to": p.to, "parts": parts})
	if err := parse(base, "layout.html", "part_*.html"); err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, path := range names {
		name := strings.TrimSuffix(strings.TrimPrefix(path, "templates/"), ".html")
		if name == "layout" || strings.HasPrefix(name, "part_") {
			continue
		}
		if all[name], err = base.Clone(); err == nil {
			err = parse(all[name], name+".html")
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// indent is the white space in front of a tag or an action at the start of a line.
var indent = regexp.MustCompile(`\n\s+([<{])`)

// parse adds the templates of these names to a set, without their indentation, which no browser shows.
func parse(set *template.Template, names ...string) error {
	for _, name := range names {
		paths, err := fs.Glob(files, "templates/"+name)
		if err != nil {
			return err
		}
		for _, path := range paths {
			source, err := files.ReadFile(path)
			if err != nil {
				return err
			}
			t := set
			if name := strings.TrimPrefix(path, "templates/"); name != set.Name() {
				t = set.New(name)
			}
			if _, err := t.Parse(indent.ReplaceAllString(string(source), "\n$1")); err != nil {
				return err
			}
		}
	}
	return nil
}

// Site is the data of all pages of a server.
type Site struct {
	Title, Tagline, Footer string
	Duties                 []Link // at the foot: of whom the server is, and where to complain
	Logo                   string // its path; empty: none
	SignUps                bool   // whether people may make accounts
	Requests               bool   // whether accounts may ask for secrets
	Bare                   bool   // the page is for recipients, and links to nothing else
}

// A Notice reports the result of an action on the next page.
type Notice struct {
	Message string // its key
	Name    string // the name in it
	Count   int    // the count in it
	Warning bool
	First   bool   // it greets the first account
	Account string // that is signed in
	SignOut string // path at which the reader signs out of the provider Name; empty: none
}

// A Link leads to a page.
type Link struct {
	Path, Where string // Where names the page in the navigation
	Text        string // the key of the message that names the page for people
}

// A View is one page: its template, its data, and its reader.
type View struct {
	Template   string
	Locale     *lang.Locale
	Site       Site
	Account    string  // the address of the signed-in account; empty: none
	Admin      bool    // the account is an administrator
	NoPassword bool    // the account signs in at a provider
	Where      string  // names the page in the navigation
	Menu       []Link  // to the pages of the settings
	Switch     bool    // the page is available in other languages at its address
	Apart      bool    // leaving the page would lose the reader's input, so other languages open in a new tab
	Notice     *Notice // nil: none
	Page       any     // the data of the template
}

// T translates a message, as lang.Locale.Text does.
func (v *View) T(key string, pairs ...any) string { return v.Locale.Text(key, pairs...) }

// Forms returns the texts of a message by plural category, as lang.Locale.Forms does.
func (v *View) Forms(key string) string { return v.Locale.Forms(key) }

// A Choice is a language to switch to.
type Choice struct {
	lang.Language
	Current bool
}

// Around translates a message as T does, and returns the text before and after one of its
// placeholders, so that an element can replace it.
func (v *View) Around(name, key string, pairs ...any) (parts [2]string) {
	parts[0], parts[1], _ = strings.Cut(v.T(key, pairs...), "{"+name+"}")
	return parts
}

// Languages lists the languages to switch to.
func (v *View) Languages() []Choice {
	var all []Choice
	for _, l := range lang.Languages() {
		all = append(all, Choice{l, l.Tag == v.Locale.Tag})
	}
	return all
}

// Render writes a page as HTML.
func (p *Pages) Render(w io.Writer, v *View) error {
	p.reading.Do(func() { p.templates, p.broken = p.readTemplates() })
	if p.broken != nil {
		return p.broken
	}
	t, ok := p.templates[v.Template]
	if !ok {
		return fmt.Errorf("there is no page %q", v.Template)
	}
	return t.ExecuteTemplate(w, "layout.html", v)
}
