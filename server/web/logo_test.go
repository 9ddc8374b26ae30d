package web_test

import (
	"strings"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
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
