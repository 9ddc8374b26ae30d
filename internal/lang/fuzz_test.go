package lang_test

import (
	"slices"
	"strings"
	"testing"

	"pushbox/internal/lang"
)

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
