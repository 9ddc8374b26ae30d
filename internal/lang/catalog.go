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

// A Language is one that the pages can be read in.
type Language struct {
	Tag  string // BCP 47
	Name string // as its speakers call it
}

// languages is every language, in the order in which people choose from them.
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

// Languages lists every language there is.
func Languages() []Language { return slices.Clone(languages[:]) }

// Tags lists the tags of every language there is.
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

// New returns the messages that are built in. Those of a language are read when
// one of them is wanted: a start need not wait for any.
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

// read reads the messages of a language. It panics if they are not there or
// malformed, which is a fault of the build.
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

// Choose returns the locale to answer in: the one whose tag is wanted; else the
// best for an Accept-Language header (RFC 9110 section 12.5.4); else the one whose
// tag is fallback; else English. What is wanted and the header may be anything.
func (c *Catalog) Choose(wanted, accept, fallback string) *Locale {
	if l := c.find(wanted); l != nil {
		return l
	}
	if len(accept) <= maxAccept {
		tags, _, err := language.ParseAcceptLanguage(accept)
		if _, i, confidence := c.matcher.Match(tags...); err == nil && len(tags) > 0 && confidence > language.Low {
			return c.locales[i]
		}
	}
	if l := c.find(fallback); l != nil {
		return l
	}
	return c.locales[0]
}

// maxAccept is the longest Accept-Language header, in bytes, that is looked at.
const maxAccept = 1000

// Speaks reports whether tag is the tag of a language there is.
func (c *Catalog) Speaks(tag string) bool { return c.find(tag) != nil }

func (c *Catalog) find(tag string) *Locale {
	for _, l := range c.locales {
		if l.Tag == tag {
			return l
		}
	}
	return nil
}
