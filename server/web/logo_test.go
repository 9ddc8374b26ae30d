package web_test

import (
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/server/web"
)

// TestAnotherLogoTakesThePlaceOfTheFirst, and a page that a browser has already
// still finds the one that it names.
func TestAnotherLogoTakesThePlaceOfTheFirst(t *testing.T) {
	t.Parallel()
	var none *web.Pages
	plain, err := none.With(nil, "")
	if err != nil || plain.LogoPath() != "" {
		t.Fatalf("without a logo it is %q, %v", plain.LogoPath(), err)
	}
	first, err := plain.With(&web.Logo{Name: "a.png", Content: []byte("first")}, "")
	env.OK(t, err)
	if same, err := first.With(&web.Logo{Name: "a.png", Content: []byte("first")}, ""); err != nil || same != first {
		t.Errorf("the same logo makes other pages, %v", err)
	}
	second, err := first.With(&web.Logo{Name: "a.png", Content: []byte("second")}, "")
	if err != nil || second.LogoPath() == first.LogoPath() {
		t.Fatalf("the logo is %q still, %v", second.LogoPath(), err)
	}
	for _, p := range []*web.Pages{first, second} {
		name := strings.TrimPrefix(p.LogoPath(), web.AssetPrefix)
		want := map[bool]string{true: "first", false: "second"}[p == first]
		if a, ok := second.Asset(name); !ok || string(a.Content) != want {
			t.Errorf("%s is %q, %v", name, a.Content, ok)
		}
	}
	if _, err := second.With(&web.Logo{Name: "a.exe"}, ""); err == nil {
		t.Error("a program was taken for a logo")
	}
	if gone, err := second.With(nil, ""); err != nil || gone.LogoPath() != "" {
		t.Errorf("without a logo it is %q, %v", gone.LogoPath(), err)
	}
}

func TestTheListOfWordsHasItsLength(t *testing.T) {
	t.Parallel()
	p, err := web.New(nil, "")
	env.OK(t, err)
	path, err := p.Path("words.js")
	env.OK(t, err)
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
