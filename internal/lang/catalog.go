// Package lang has the texts of the pages in every language of pushbox.
//
// A message is a text with placeholders such as {name}. A message that depends on a
// number has the placeholder {count}, and a text for each plural category of its
// language (Unicode CLDR). The messages are in messages/TAG.json; English is
// complete, and a test fails if another language lacks a message or a placeholder.
//
// The messages use one word for one thing: a push, as code and the API call it, is a
// secret; it is active until it has ended; it expires by views or time, and is deleted by
// a person; a link leads to it; opening it uses a view; an answer is read by who asked;
// senders, recipients and the administrator are called so.
package lang

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/text/language"
)

//go:embed messages/*.json
var files embed.FS

// A Language is a language of the pages.
type Language struct {
	Tag  string // BCP 47
	Name string // in the language itself
}

// languages lists every language, in the order of the choice on the pages.
var languages = [...]Language{
	{"en", "English"},
	{"de", "Deutsch"},
	{"fr", "Français"},
	{"es", "Español"},
	{"it", "Italiano"},
	{"nl", "Nederlands"},
	{"pt", "Português"},
	{"pl", "Polski"},
	{"cs", "Čeština"},
	{"sv", "Svenska"},
	{"ja", "日本語"},
	{"zh", "中文"},
}

// Languages returns every language of the pages.
func Languages() []Language { return slices.Clone(languages[:]) }

// Tags returns the tag of every language of the pages.
func Tags() (tags []string) {
	for _, l := range languages {
		tags = append(tags, l.Tag)
	}
	return tags
}

// A Catalog has all messages. It is safe for concurrent use.
type Catalog struct {
	matcher language.Matcher
	locales []*Locale
}

// New returns the built-in messages. It reads those of a language at their first use,
// so that a start does not wait for them.
func New() *Catalog {
	c := new(Catalog)
	var tags []language.Tag
	for _, l := range languages {
		tag := language.MustParse(l.Tag)
		locale := &Locale{Language: l, tag: tag, messages: sync.OnceValue(func() map[string]message { return read(l) })}
		tags, c.locales = append(tags, tag), append(c.locales, locale)
	}
	c.matcher = language.NewMatcher(tags)
	return c
}

// read reads the messages of a language. It panics if they are missing or malformed,
// which is a fault of the build.
func read(l Language) (all map[string]message) {
	text, err := files.ReadFile("messages/" + l.Tag + ".json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		panic(fmt.Sprintf("lang: messages of %s: %v", l.Tag, err))
	}
	return all
}

// Choose returns the locale of an answer: the one with the tag wanted; otherwise the
// best one for an Accept-Language header (RFC 9110 section 12.5.4); otherwise the one
// with the tag fallback; otherwise English. wanted and accept need not be valid.
func (c *Catalog) Choose(wanted, accept, fallback string) *Locale {
	if l := c.find(wanted); l != nil {
		return l
	}
	return c.Nearest(accept, fallback)
}

// Nearest returns the best locale for an Accept-Language header or a tag such as pt-br;
// otherwise the one with the tag fallback; otherwise English.
func (c *Catalog) Nearest(accept, fallback string) *Locale {
	if l := c.near(accept); l != nil {
		return l
	}
	if l := c.find(fallback); l != nil {
		return l
	}
	return c.locales[0]
}

// Near returns the tag of the language of the pages that is nearest to a tag such as
// pt-br, in any case; empty if none is near. The text need not be valid.
func (c *Catalog) Near(text string) string {
	if l := c.near(text); l != nil {
		return l.Tag
	}
	return ""
}

// near returns the best locale for an Accept-Language header or a tag; nil if none is
// near.
func (c *Catalog) near(accept string) *Locale {
	if len(accept) > maxAccept {
		return nil
	}
	tags, _, err := language.ParseAcceptLanguage(accept)
	if _, i, confidence := c.matcher.Match(tags...); err == nil && len(tags) > 0 && confidence > language.Low {
		return c.locales[i]
	}
	return nil
}

// maxAccept is the length in bytes above which an Accept-Language header is ignored.
const maxAccept = 1000

// Speaks reports whether tag is the tag of a language of the pages.
func (c *Catalog) Speaks(tag string) bool { return c.find(tag) != nil }

func (c *Catalog) find(tag string) *Locale {
	for _, l := range c.locales {
		if l.Tag == tag {
			return l
		}
	}
	return nil
}
