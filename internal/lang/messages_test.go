package lang_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/lang"
)

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

func placeholders(text string) []string {
	return slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(text, -1))))
}

func TestEveryLanguageHasEveryMessage(t *testing.T) {
	t.Parallel()
	c := load(t)
	english := c.Choose("en", "", "").Messages()
	for _, l := range lang.Languages() {
		t.Run(l.Tag, func(t *testing.T) {
			t.Parallel()
			locale := c.Choose(l.Tag, "", "")
			all := locale.Messages()
			for key, want := range english {
				got, ok := all[key]
				if !ok {
					t.Errorf("%s is missing", key)
					continue
				}
				checkMessage(t, key, want, got, locale.Categories())
			}
			for key := range all {
				if _, ok := english[key]; !ok {
					t.Errorf("%s is not a message in English", key)
				}
			}
		})
	}
}

// checkMessage compares a message with the English one.
func checkMessage(t *testing.T, key string, english, got map[string]string, plurals []string) {
	t.Helper()
	if len(english) > 1 {
		if has := slices.Sorted(maps.Keys(got)); !slices.Equal(has, plurals) {
			t.Errorf("%s has the categories %v, and the language %v", key, has, plurals)
		}
	} else if len(got) != 1 {
		t.Errorf("%s depends on a number", key)
	}
	want := placeholders(english["other"])
	inWords := slices.DeleteFunc(slices.Clone(want), func(p string) bool { return p == "{count}" })
	for category, text := range got {
		if strings.TrimSpace(text) != text || text == "" || strings.ContainsAny(text, "<>\t") {
			t.Errorf("%s, %s: %q", key, category, text)
		}
		has := placeholders(text)
		if slices.Equal(has, want) || category == "one" && slices.Equal(has, inWords) {
			continue // "one" may say it in words
		}
		t.Errorf("%s, %s: placeholders %v, and English has %v", key, category, has, want)
	}
}

func TestNoLanguageIsListedTwice(t *testing.T) {
	t.Parallel()
	tags := lang.Tags()
	if len(tags) == 0 || tags[0] != "en" || len(slices.Compact(slices.Sorted(slices.Values(tags)))) != len(tags) {
		t.Errorf("%v", tags)
	}
}

func TestEveryLanguageAddressesItsReadersInOneWay(t *testing.T) {
	t.Parallel()
	c := load(t)
	for tag, other := range map[string]string{
		"es": `(?i)\busted\b|\bhaga\b|inténtelo`,
		"nl": `(?i)\buw?\b`,
		"pt": `(?i)palavra-passe|utilizador|\bsobre si\b|eliminad`,
	} {
		for key, texts := range c.Choose(tag, "", "").Messages() {
			for _, text := range texts {
				if found := regexp.MustCompile(other).FindString(text); found != "" {
					t.Errorf("%s, %s: %q in %q", tag, key, found, text)
				}
			}
		}
	}
}

// A line must not begin with a colon.
func TestFrenchSignsStayWithTheirWords(t *testing.T) {
	t.Parallel()
	for key, texts := range load(t).Choose("fr", "", "").Messages() {
		for _, text := range texts {
			if regexp.MustCompile(`« | [»:;?!]`).MatchString(text) {
				t.Errorf("%s: %q", key, text)
			}
		}
	}
}
