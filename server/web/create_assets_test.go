package web_test

import (
	"regexp"
	"strings"
	"testing"

	"pushbox/server/web"
)

func TestTheListOfWordsHasItsLength(t *testing.T) {
	t.Parallel()
	p, err := web.New(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	path, err := p.Path("words.js")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := p.Asset(strings.TrimPrefix(path, web.AssetPrefix))
	_, list, _ := strings.Cut(string(a.Content), "`")
	list, _, _ = strings.Cut(list, "`")
	seen := make(map[string]bool)
	for _, word := range strings.Fields(list) {
		if seen[word] || !regexp.MustCompile(`^[a-z]{2,8}$`).MatchString(word) {
			t.Errorf("%q is there twice, or is no short word", word)
		}
		seen[word] = true
	}
	if len(seen) != 512 || len(a.Content) > 4000 {
		t.Errorf("%d words in %d bytes", len(seen), len(a.Content))
	}
}
