package pageproof_test

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"

	"pushbox/internal/pageproof"
)

const (
	script = "export const x = 1"
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'"
)

func digest(text string) string {
	sum := sha512.Sum384([]byte(text))
	return "sha384-" + base64.StdEncoding.EncodeToString(sum[:])
}

var list = pageproof.List{"/assets/app.1.js": digest(script), "/assets/style.1.css": digest("a{}"), "/assets/icon.svg": "sha384-other"}

// check checks a server whose page has a body, below /box. It has files beside those of the list.
func check(t *testing.T, body, policy string, files map[string]string) pageproof.Report {
	t.Helper()
	r, err := pageproof.Check(t.Context(), list, "/box", []string{"/"}, func(_ context.Context, path string) (int, http.Header, []byte, error) {
		if path == "/" {
			return http.StatusOK, http.Header{"Content-Security-Policy": {policy}}, []byte(body), nil
		}
		text, ok := files[path]
		if !ok {
			text, ok = map[string]string{"/assets/app.1.js": script, "/assets/style.1.css": "a{}"}[path]
		}
		if !ok {
			return http.StatusNotFound, nil, nil, nil
		}
		return http.StatusOK, nil, []byte(text), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var good = `<!doctype html><link rel="stylesheet" href="/box/assets/style.1.css" integrity="` + digest("a{}") + `">
<link rel="icon" href="/box/assets/icon.svg"><script type="module" src="/box/assets/app.1.js" integrity="` + digest(script) + `"></script>
<p data-module="/box/assets/app.1.js">The text</p>`

func TestAPageOfTheReleaseIsFine(t *testing.T) {
	t.Parallel()
	if r := check(t, good, policy, nil); len(r.Problems) != 0 || r.Pages != 1 || r.Files != 2 {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsNotOfTheReleaseIsFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		more, policy, problem string
		files                 map[string]string
	}{
		"an inline script":             {more: `<script>steal()</script>`, problem: "/: it has a script without a file"},
		"another script":               {more: `<script src="/box/assets/evil.js"></script>`, problem: "that the release has not got"},
		"a script of another site":     {more: `<SCRIPT SRC=//evil.example/assets/app.1.js>`, problem: "that the release has not got"},
		"a script without its digest":  {more: `<script src="/box/assets/app.1.js"></script>`, problem: "without the digest"},
		"a style of another site":      {more: `<link rel=StyleSheet href=//evil.example/x.css>`, problem: "that the release has not got"},
		"a module loaded ahead":        {more: `<link rel=modulepreload href=/x.js>`, problem: "that the release has not got"},
		"another module by a script":   {more: `<p data-module="/box/assets/evil.js">`, problem: "that the release has not got"},
		"a script in an attribute":     {more: `<p onclick=steal()>`, problem: "a script in an attribute onclick"},
		"a script in an address":       {more: `<a href=" JavaScript:steal()">`, problem: "a script in an address"},
		"a frame":                      {more: `<iframe src=/x>`, problem: "an element iframe"},
		"another base":                 {more: `<base href=//evil.example>`, problem: "an element base"},
		"a refresh":                    {more: `<meta http-equiv=refresh content=0>`, problem: "a meta element for refresh"},
		"no policy":                    {policy: "none", problem: "lacks script-src 'self'"},
		"a policy for inline scripts":  {policy: strings.Replace(policy, "script-src 'self'", "script-src 'self' 'unsafe-inline'", 1), problem: "lacks script-src 'self'"},
		"another content of a script":  {files: map[string]string{"/assets/app.1.js": script + ";steal()"}, problem: "/assets/app.1.js: it is another file"},
		"a style with something added": {files: map[string]string{"/assets/style.1.css": "a{} "}, problem: "/assets/style.1.css: it is another file"},
	} {
		if test.policy == "" {
			test.policy = policy
		}
		if r := check(t, good+test.more, test.policy, test.files); !strings.Contains(strings.Join(r.Problems, "\n"), test.problem) {
			t.Errorf("%s: it finds %q", name, r.Problems)
		}
	}
}

func TestWithoutAPageNothingIsProved(t *testing.T) {
	t.Parallel()
	for name, get := range map[string]pageproof.Get{
		"redirects": func(context.Context, string) (int, http.Header, []byte, error) {
			return http.StatusFound, nil, nil, nil
		},
		"a failure": func(context.Context, string) (int, http.Header, []byte, error) {
			return http.StatusServiceUnavailable, nil, nil, nil
		},
		"no connection": func(context.Context, string) (int, http.Header, []byte, error) {
			return 0, nil, nil, errors.New("no connection")
		},
	} {
		if _, err := pageproof.Check(t.Context(), list, "", []string{"/", "/p/secret/r"}, get); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestListsOfReleases(t *testing.T) {
	t.Parallel()
	if l, err := pageproof.ParseList("sha384-a  /assets/a.js\r\nsha384-b  /assets/b.css\n"); err != nil || len(l) != 2 || l["/assets/a.js"] != "sha384-a" {
		t.Errorf("%v, %v", l, err)
	}
	for _, text := range []string{"", "sha384-a /assets/a.js", "md5  /assets/a.js", "sha384-a  assets/a.js", strings.Repeat("sha384-a  /a\n", 1001)} {
		if _, err := pageproof.ParseList(text); err == nil {
			t.Errorf("%.40q is taken", text)
		}
	}
}
