package web_test

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/server/web"
)

func read(t *testing.T, pattern string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	all := make(map[string]string)
	for _, name := range names {
		text, err := os.ReadFile(name)
		env.OK(t, err)
		all[name] = string(text)
	}
	return all
}

// library is the script that others wrote.
const library = "uqr.js"

// A comment with the licence comes before what npm has.
func TestTheLibraryIsUnchanged(t *testing.T) {
	t.Parallel()
	_, code, _ := strings.Cut(read(t, "static/"+library)["static/"+library], "*/\n")
	if sum := sha256.Sum256([]byte(code)); hex.EncodeToString(sum[:]) != "7f0e61c2f13bb3724edee7bfb876e13c54ac9ee4fcfa283c9fa93cfb1241c325" {
		t.Errorf("%x", sum)
	}
}

// The scripts grew past 66,000 bytes so that what failed leaves nothing that a redirect could use, and that a
// page of which a part is missing or late sends nothing in clear, and shows no link without its key; and past
// 69,000 for times that tell how long ago something was, to clear the clipboard, to share a link, and to send files in
// pieces; and past 79,500 for a key that comes apart from its link, and past 80,500 for the zone of typed times.
func TestStylesAndScriptsAreSmall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		most    int
	}{{"static/*.css", 57_000}, {"static/*.js", 81_500}} {
		size := 0
		for name, text := range read(t, c.pattern) {
			if filepath.Base(name) != library {
				size += len(text)
			}
		}
		if size >= c.most {
			t.Errorf("%s: %d bytes, which should be less than %d", c.pattern, size, c.most)
		}
	}
}

// What the Content-Security-Policy would stop must not be there in the first
// place.
func TestNothingIsInlineAndNothingComesFromElsewhere(t *testing.T) {
	t.Parallel()
	bad := regexp.MustCompile(`(?i)<style|\sstyle\s*=|\son[a-z]+\s*=|<script(?:[^>]*)>[^<]|javascript:|data:|(?:src|href|action|formaction)="?https?:`)
	for name, text := range read(t, "templates/*.html") {
		if found := bad.FindString(text); found != "" {
			t.Errorf("%s: %q", name, found)
		}
	}
	elsewhere := regexp.MustCompile(`(?i)@import|url\(|https?://`)
	for name, text := range read(t, "static/*.css") {
		if found := elsewhere.FindString(text); found != "" {
			t.Errorf("%s: %q", name, found)
		}
	}
	for name, text := range read(t, "static/*.js") {
		if filepath.Base(name) == library {
			continue
		}
		if found := regexp.MustCompile(`https?://|eval\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write`).FindString(text); found != "" {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// messages are the keys that there are, and the code and templates that may use them.
func messages(t *testing.T) (keys map[string]bool, sources string) {
	t.Helper()
	var english map[string]json.RawMessage
	text, err := os.ReadFile("../../internal/lang/messages/en.json")
	env.OK(t, err)
	env.OK(t, json.Unmarshal(text, &english))
	keys = make(map[string]bool)
	for key := range english {
		keys[key] = true
	}
	var all strings.Builder
	for _, pattern := range []string{"templates/*.html", "../*.go", "../action/*.go", "../api/*.go", "../intake/*.go", "../manage/*.go", "../pages/*.go", "../../internal/mail/*.go", "../../internal/webhook/*.go"} {
		for name, text := range read(t, pattern) {
			if !strings.HasSuffix(name, "_test.go") {
				all.WriteString(text)
			}
		}
	}
	return keys, all.String()
}

func TestTemplatesUseOnlyMessagesThatExist(t *testing.T) {
	t.Parallel()
	keys, sources := messages(t)
	for _, m := range regexp.MustCompile(`\.T "([a-z0-9_]+)"`).FindAllStringSubmatch(sources, -1) {
		if !keys[m[1]] {
			t.Errorf("there is no message %s", m[1])
		}
	}
}

// A key that is put together is used where its beginning and its end are.
func TestEveryMessageIsUsed(t *testing.T) {
	t.Parallel()
	keys, sources := messages(t)
	for key := range keys {
		if strings.Contains(sources, `"`+key+`"`) || family(key, sources) {
			continue
		}
		t.Errorf("nothing uses the message %s", key)
	}
}

// family reports whether a literal ends with _ and begins the key.
func family(key, sources string) bool {
	for i, c := range key {
		if c == '_' && strings.Contains(sources, `"`+key[:i+1]+`"`) {
			return true
		}
	}
	return false
}

func TestAnAssetsPathFollowsFromItsContent(t *testing.T) {
	t.Parallel()
	paths := make(map[string]bool)
	for _, logo := range []*web.Logo{nil, {Name: "x/A.SVG", Content: []byte("<svg/>")}, {Name: "b.svg", Content: []byte("<svg />")}} {
		p, err := web.New(logo, "")
		env.OK(t, err)
		if (logo == nil) != (p.LogoPath() == "") {
			t.Errorf("logo %v: path %q", logo, p.LogoPath())
		}
		if logo != nil {
			a, ok := p.Asset(strings.TrimPrefix(p.LogoPath(), web.AssetPrefix))
			if !ok || a.Type != "image/svg+xml" || string(a.Content) != string(logo.Content) || paths[p.LogoPath()] {
				t.Errorf("%s: %+v", p.LogoPath(), a)
			}
			paths[p.LogoPath()] = true
		}
		at, err := p.Path("style.css")
		if a, ok := p.Asset(strings.TrimPrefix(at, web.AssetPrefix)); err != nil || !ok || a.Type != "text/css; charset=utf-8" {
			t.Errorf("%s, %v: %+v", at, err, a)
		}
		if _, err := p.Path("nothing.css"); err == nil {
			t.Error("there is an asset nothing.css")
		}
	}
	for _, name := range []string{"logo.html", "logo.js", "logo.css", "logo", "svg"} {
		if _, err := web.New(&web.Logo{Name: name}, ""); err == nil {
			t.Errorf("a logo may be called %s", name)
		}
	}
}

func TestEveryScriptHasTheDigestOfItsContent(t *testing.T) {
	t.Parallel()
	for name, text := range read(t, "templates/*.html") {
		if strings.Count(text, "<script")+strings.Count(text, `rel="stylesheet"`) != strings.Count(text, " integrity=") {
			t.Errorf("%s has a script or a style without a digest", name)
		}
	}
	p, err := web.New(nil, "/base")
	env.OK(t, err)
	lines := p.Digests()
	for _, name := range []string{"app.js", "endtoend.js", "style.css"} {
		at, _ := p.Path(name)
		digest, err := p.Digest(name)
		a, _ := p.Asset(strings.TrimPrefix(at, "/base"+web.AssetPrefix))
		sum := sha512.Sum384(a.Content)
		if err != nil || digest != "sha384-"+base64.StdEncoding.EncodeToString(sum[:]) || !slices.Contains(lines, digest+"  "+at) {
			t.Errorf("%s: %s, %v", name, digest, err)
		}
	}
}
