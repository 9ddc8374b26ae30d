package server_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/store"
)

// exact are payloads that a page may not change, and that may not change a page.
var exact = map[string]string{
	"plain":               "correct horse battery staple",
	"a tag":               "<script>alert(1)</script>",
	"the end of its tag":  "</pre></div></main><script src=//elsewhere.example></script>",
	"the end of a title":  "</title><svg onload=alert(1)>",
	"a comment":           "<!-- --><!--",
	"an attribute":        `"><img src=x onerror=alert(1)>'`,
	"entities":            "&amp; &lt; &#39; &#x0; &notanentity &copy",
	"a template":          "{{.Page}} {{template \"secret\"}} ${7*7} <%= 7 %>",
	"a URL of a script":   "javascript:alert(1)",
	"a line feed":         "\nbegins with one",
	"line feeds":          "\n\n\nx\n\n\n",
	"a carriage return":   "\rbegins with one",
	"lines of Windows":    "a\r\nb\r\n",
	"white space":         "  \t a  b\u00a0\u3000c \f\v ",
	"both directions":     "\u202egnp.exe \u2066x\u2069 \u200f\u200eאבג",
	"what cannot be seen": "\ufeffa\u200bb\u00adc\u2060d\u0085e\u2028f\u2029g\u007fh\u0001i\u001bj",
	"no characters":       "\ufffe\uffff\U0010ffff",
	"many scripts":        "日本語 ไทย العربية 👩‍👩‍👧 e\u0301 \U0001f1e9\U0001f1ea",
	"CDATA":               "]]><![CDATA[<b>",
	"the replacement":     "\ufffd",
	"a mebibyte":          strings.Repeat("<&\r\n'\">abcdefgh\t", 1<<16),
}

func TestATextIsShownToTheLetter(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for name, text := range exact {
		token := a.create(`"payload":` + quoted(text))
		got := a.send("/p/"+token, nil).want(http.StatusOK).page()
		if shown := textOf(got.id("secret")); shown != text {
			t.Errorf("%s: %.60q is not %.60q", name, shown, text)
		}
		inert(t, name, got)
	}
}

// inert fails the test where a payload became a part of its page.
func inert(t *testing.T, name string, p page) {
	t.Helper()
	scripts := p.elements("script")
	for _, n := range scripts {
		if !strings.HasPrefix(attr(n, "src"), "/assets/") || textOf(n) != "" {
			t.Errorf("%s: a script of %q", name, attr(n, "src"))
		}
	}
	if len(scripts) != 2 || len(p.elements("img")) != 0 || len(p.elements("main")) != 1 || p.id("said") == nil {
		t.Errorf("%s: the page is another", name)
	}
	for _, n := range p.find(func(node) bool { return true }) {
		for _, at := range n.Attr {
			if strings.HasPrefix(at.Key, "on") || at.Key == "style" {
				t.Errorf("%s: <%s %s>", name, n.Data, at.Key)
			}
		}
	}
}

func TestATextThatHTMLCannotHoldIsThereForTheScript(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const text = "\na\x00b<\r\n\x00"
	token := a.create(`"payload":` + quoted(text))
	got := a.send("/p/"+token, nil).want(http.StatusOK).page()
	if shown := textOf(got.id("secret")); shown != strings.ReplaceAll(text, "\x00", "\ufffd") {
		t.Errorf("shown as %q", shown)
	}
	if sent, err := base64.StdEncoding.DecodeString(attr(got.id("secret"), "data-exact")); err != nil || string(sent) != text {
		t.Errorf("sent as %q, %v", sent, err)
	}
	inert(t, "NUL", got)
}

func TestAQRCodeHasItsTextBehindAToggle(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for text, drawn := range map[string]bool{"WIFI:T:WPA;S:net;P:<secret>;;": true, strings.Repeat("ä", 1024): true, strings.Repeat("👩", 1024): false} {
		token := a.create(`"kind":"qr","payload":` + quoted(text))
		got := a.send("/p/"+token, nil).want(http.StatusOK).page()
		codes := got.find(func(n node) bool { return n.Data == "path" && attr(n, "class") == "qr-dark" })
		if len(codes) == 1 != drawn || drawn && len(attr(codes[0], "d")) < 1000 {
			t.Errorf("%.20q: %d codes", text, len(codes))
		}
		secret := got.id("secret")
		if textOf(secret) != text || (secret.Parent.Parent.Data == "details") != drawn {
			t.Errorf("%.20q: its text is in %s", text, secret.Parent.Parent.Data)
		}
		inert(t, "QR", got)
	}
}

func TestAURLIsShownAndNotFollowed(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for text, link := range map[string]string{
		"https://example.com/a?b=<script>&c='\"#d": "https://example.com/a?b=%3cscript%3e&c=%27%22#d",
		"https://Example.com:8443/x":               "https://Example.com:8443/x",
		"https://bücher.example/ü":                 "https://xn--bcher-kva.example/%C3%BC",
		"HTTP://EXAMPLE.COM":                       "http://EXAMPLE.COM",
	} {
		token := a.create(`"kind":"url","payload":` + quoted(text))
		res := a.send("/p/"+token, nil, visit).want(http.StatusOK)
		got := res.page()
		if res.header.Get("Location")+res.header.Get("Refresh") != "" || len(got.find(func(n node) bool { return attr(n, "http-equiv") != "" })) > 0 {
			t.Errorf("%s is followed", text)
		}
		if textOf(got.id("link")) != text {
			t.Errorf("shown as %q", textOf(got.id("link")))
		}
		if to := got.link("Open the address"); !strings.EqualFold(to, link) {
			t.Errorf("%s leads to %s", text, to)
		}
		away := got.find(func(n node) bool { return attr(n, "target") != "" })
		if len(away) != 1 || attr(away[0], "rel") != "noreferrer noopener nofollow" {
			t.Errorf("%d links away", len(away))
		}
		inert(t, text, got)
	}
}

func TestAURLIsTakenApartForPeople(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ask := func(text string) page {
		token := a.create(`"kind":"url","payload":` + quoted(text))
		return a.send("/p/"+token, nil).want(http.StatusOK).page()
	}
	ask("https://example.com/x").has("This address leads to example.com").lacks("alphabets", "may look like others", "not a valid one")
	ask("https://bücher.example/").has("leads to bücher.example", "xn--bcher-kva.example").lacks("alphabets")
	ask("https://аpple.com/").has("leads to аpple.com", "xn--pple-43d.com", "several alphabets")
	ask("https://xn--pple-43d.com/").has("leads to аpple.com", "xn--pple-43d.com", "several alphabets")
	bad := ask("https://xn--zzzzzzzzzzz99999.com/").has("not a valid one", "https://xn--zzzzzzzzzzz99999.com/")
	if bad.link("Open the address") != "" {
		t.Error("it has a link")
	}
}

func TestFileNamesAreInertOnThePage(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	names := []string{`"><script>alert(1)</script>.txt`, "</span><img src=x onerror=alert(1)>", "{{.}}.pdf", "a'b&c.txt"}
	var files []file
	for _, name := range names {
		files = append(files, file{name: strings.ReplaceAll(name, `"`, "%22"), content: []byte("x")})
	}
	media, body := filePush{files: files}.json()
	got := a.do("POST", pushes, body, a.user("ann@example.com"), http.Header{"Content-Type": {media}}).want(http.StatusCreated)
	p := a.send("/p/"+got.text("url_token"), nil).want(http.StatusOK).page()
	var shown []string
	for _, n := range p.find(func(n node) bool { return attr(n, "class") == "name" }) {
		shown = append(shown, textOf(n))
	}
	for i, f := range files {
		if want := f.name[strings.LastIndex(f.name, "/")+1:]; len(shown) != len(files) || shown[i] != want { // path parts are dropped
			t.Errorf("shown are %q", shown)
		}
	}
	inert(t, "names", p)
}

func TestARevealedPageIsKeptByNobody(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	got := a.send("/p/"+token, nil, http.Header{"X-Forwarded-Proto": {"https"}}).want(http.StatusOK).page()
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "strict-origin",
		"Cross-Origin-Opener-Policy": "same-origin", "X-Content-Type-Options": "nosniff", "Set-Cookie": "",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %q", name, got.header.Get(name))
		}
	}
	if step := got.id("opened"); attr(step, "data-step") != "/p/"+token+"/r" {
		t.Errorf("back leads to %q", attr(step, "data-step"))
	}
	if !slices.Equal(got.forms(), []string{"post /p/" + token + "/expire"}) {
		t.Errorf("forms %v", got.forms())
	}
}

func TestViewsAtTheSameTimeAreCountedOnThePage(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"inside it","expire_after_views":3`)
	answers := make(chan answer)
	for range 8 {
		go func() {
			got, err := a.try(http.MethodPost, "/p/"+token, "", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
			if err != nil {
				t.Error(err)
			}
			answers <- got
		}()
	}
	opened := 0
	for range 8 {
		if got := <-answers; got.status == http.StatusOK {
			opened++
		} else if got.status != http.StatusNotFound || strings.Contains(got.body, "inside it") {
			t.Errorf("%d", got.status)
		}
	}
	if after := a.trace(token); opened != 3 || after.views != 3 || after.state != store.Expired {
		t.Errorf("%d were opened: %v", opened, after)
	}
}
