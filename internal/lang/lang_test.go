package lang_test

import (
	"slices"
	"strings"
	"testing"

	"pushbox/internal/lang"
	"pushbox/internal/testkit/env"
)

func TestTheRequestedLanguageIsChosen(t *testing.T) {
	t.Parallel()
	c := load(t)
	for _, test := range []struct{ wanted, accept, fallback, tag string }{
		{"", "", "", "en"},
		{"", "", "de", "de"},
		{"", "fr", "de", "fr"},
		{"ja", "fr", "de", "ja"},
		{"xx", "fr", "de", "fr"},
		{"", "he", "de", "de"},
		{"", "de-AT,de;q=0.9,en;q=0.8", "en", "de"},
		{"", "zh-Hans-CN", "en", "zh"},
		{"", "pt-BR", "en", "pt"},
		{"", "en;q=0.1, sv;q=0.9", "de", "sv"},
		{"", "*", "de", "de"},
		{"", "gsw", "en", "de"},
		{"", "zh-Hant-TW", "en", "en"},
		{"", "\x00 not a header", "cs", "cs"},
		{"<script>", "<script>", "<script>", "en"},
	} {
		if got := c.Choose(test.wanted, test.accept, test.fallback); got.Tag != test.tag {
			t.Errorf("%q, %q, %q: %s, want %s", test.wanted, test.accept, test.fallback, got.Tag, test.tag)
		}
	}
}

func TestTheNearestLanguageIsFound(t *testing.T) {
	t.Parallel()
	c := load(t)
	for text, want := range map[string]string{
		"de": "de", "DE": "de", "pt-BR": "pt", "pt-br": "pt", "pt-PT": "pt", "zh-CN": "zh", "en-GB": "en", "en_GB": "en", "fr-CA": "fr",
		"fi": "", "th": "", "xx": "", "": "", "not a tag": "", "\x00": "",
		strings.Repeat(" ", 998) + "de": "de", strings.Repeat(" ", 999) + "de": "",
	} {
		env.Equal(t, text, c.Near(text), want)
	}
}

func TestATooLongHeaderIsIgnored(t *testing.T) {
	t.Parallel()
	c := load(t)
	long := strings.Repeat("de,", 333)
	for spaces, want := range map[int]string{1: "de", 2: "fr"} { // 1000 bytes, and one more
		if got := c.Choose("", long+strings.Repeat(" ", spaces), "fr"); got.Tag != want {
			t.Errorf("%d bytes: %s, want %s", len(long)+spaces, got.Tag, want)
		}
	}
}

func TestPlaceholdersAndNumbersAreFilledIn(t *testing.T) {
	t.Parallel()
	en := load(t).Choose("en", "", "")
	for _, test := range []struct{ got, want string }{
		{en.Text("problem_wait", "count", 1), "Try again in 1 second."},
		{en.Text("problem_wait", "count", 2), "Try again in 2 seconds."},
		{en.Text("problem_wait", "count", 0), "Try again in 0 seconds."},
		{en.Text("problem_request", "id", "{id}"), "Request {id}"},
		{en.Text("problem_request"), "Request {id}"},
		{en.Text("no_such_key"), "no_such_key"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}

func load(t *testing.T) *lang.Catalog {
	t.Helper()
	return lang.New()
}

// FuzzChoose checks that every request gets a language; that a wanted tag goes before
// all else; that a header which names one tag alone gets it; and that an empty header
// leaves the choice to the fallback.
func FuzzChoose(f *testing.F) {
	for _, accept := range []string{
		"", "de", "de-AT,de;q=0.9,en;q=0.8", "zh-Hans-CN", "*", "en;q=0.1, sv;q=0.9", "x-klingon", "i-default", "de;q=2", "de;q=", ",,,",
		"a-b-c-d-e-f", "\x00", "und", "art-lojban", strings.Repeat("de,", 400), "pt-u-co-phonebk-x-y", "de\r\nX: y",
	} {
		f.Add("", accept, "fr")
		f.Add("ja", accept, accept)
		f.Add(accept, "", "")
	}
	c, tags := lang.New(), lang.Tags()
	f.Fuzz(func(t *testing.T, wanted, accept, fallback string) {
		got := c.Choose(wanted, accept, fallback).Tag
		if !slices.Contains(tags, got) {
			t.Fatalf("%q, %q and %q get %q", wanted, accept, fallback, got)
		}
		want := ""
		switch spoken := slices.Contains(tags, wanted); {
		case spoken != c.Speaks(wanted):
			t.Fatalf("%q is a language of the pages: %t", wanted, !spoken)
		case spoken:
			want = wanted
		case slices.Contains(tags, accept):
			want = accept
		case strings.Trim(accept, " ") != "" && len(accept) <= 1000: // the library parses it
			return
		case slices.Contains(tags, fallback):
			want = fallback
		default:
			want = "en"
		}
		if got != want {
			t.Fatalf("%q, %q and %q get %q, not %q", wanted, accept, fallback, got, want)
		}
	})
}
