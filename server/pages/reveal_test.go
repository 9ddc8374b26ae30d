package pages_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/server/servertest"
	"pushbox/store"
)

// exact are payloads that a page must not change, and that must not change a page.
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

func TestATextIsShownExactly(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for name, text := range exact {
		token := a.Create(`"payload":` + servertest.Quoted(text))
		got := a.Send("/p/"+token, nil).Want(http.StatusOK).Page()
		if shown := servertest.TextOf(got.ID("secret")); shown != text {
			t.Errorf("%s: %.60q is not %.60q", name, shown, text)
		}
		inert(t, name, got)
	}
}

// inert fails the test if a payload became markup of its page.
func inert(t *testing.T, name string, p servertest.Page) {
	t.Helper()
	scripts := p.Elements("script")
	for _, n := range scripts {
		if !strings.HasPrefix(servertest.Attr(n, "src"), "/assets/") || servertest.TextOf(n) != "" {
			t.Errorf("%s: a script of %q", name, servertest.Attr(n, "src"))
		}
	}
	if len(scripts) != 2 || len(p.Elements("img")) != 0 || len(p.Elements("main")) != 1 || p.ID("said") == nil {
		t.Errorf("%s: the page is another", name)
	}
	for _, n := range p.Find(func(servertest.Node) bool { return true }) {
		for _, at := range n.Attr {
			if strings.HasPrefix(at.Key, "on") || at.Key == "style" {
				t.Errorf("%s: <%s %s>", name, n.Data, at.Key)
			}
		}
	}
}

func TestATextThatHTMLCannotHoldIsGivenToTheScript(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	const text = "\na\x00b<\r\n\x00"
	token := a.Create(`"payload":` + servertest.Quoted(text))
	got := a.Send("/p/"+token, nil).Want(http.StatusOK).Page()
	if shown := servertest.TextOf(got.ID("secret")); shown != strings.ReplaceAll(text, "\x00", "\ufffd") {
		t.Errorf("shown as %q", shown)
	}
	if sent, err := base64.StdEncoding.DecodeString(servertest.Attr(got.ID("secret"), "data-exact")); err != nil || string(sent) != text {
		t.Errorf("sent as %q, %v", sent, err)
	}
	inert(t, "NUL", got)
}

func TestAQRCodeHasItsTextBehindAToggle(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for text, drawn := range map[string]bool{"WIFI:T:WPA;S:net;P:<secret>;;": true, strings.Repeat("ä", 1024): true, strings.Repeat("👩", 1024): false} {
		token := a.Create(`"kind":"qr","payload":` + servertest.Quoted(text))
		got := a.Send("/p/"+token, nil).Want(http.StatusOK).Page()
		codes := got.Find(func(n servertest.Node) bool { return n.Data == "path" && servertest.Attr(n, "class") == "qr-dark" })
		if len(codes) == 1 != drawn || drawn && len(servertest.Attr(codes[0], "d")) < 1000 {
			t.Errorf("%.20q: %d codes", text, len(codes))
		}
		secret := got.ID("secret")
		if servertest.TextOf(secret) != text || (secret.Parent.Parent.Parent.Data == "details") != drawn {
			t.Errorf("%.20q: its text is in %s", text, secret.Parent.Parent.Parent.Data)
		}
		inert(t, "QR", got)
	}
}

func TestAURLIsShownAndNotFollowed(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for text, link := range map[string]string{
		"https://example.com/a?b=<script>&c='\"#d": "https://example.com/a?b=%3cscript%3e&c=%27%22#d",
		"https://Example.com:8443/x":               "https://Example.com:8443/x",
		"https://bücher.example/ü":                 "https://xn--bcher-kva.example/%C3%BC",
		"HTTP://EXAMPLE.COM":                       "http://EXAMPLE.COM",
	} {
		token := a.Create(`"kind":"url","payload":` + servertest.Quoted(text))
		res := a.Send("/p/"+token, nil, servertest.Visit).Want(http.StatusOK)
		got := res.Page()
		if res.Header.Get("Location")+res.Header.Get("Refresh") != "" || len(got.Find(func(n servertest.Node) bool { return servertest.Attr(n, "http-equiv") != "" })) > 0 {
			t.Errorf("%s is followed", text)
		}
		if servertest.TextOf(got.ID("link")) != text {
			t.Errorf("shown as %q", servertest.TextOf(got.ID("link")))
		}
		if to := got.Link("Open the address"); !strings.EqualFold(to, link) {
			t.Errorf("%s leads to %s", text, to)
		}
		away := got.Find(func(n servertest.Node) bool { return servertest.Attr(n, "target") != "" })
		if len(away) != 1 || servertest.Attr(away[0], "rel") != "noreferrer noopener nofollow" {
			t.Errorf("%d links away", len(away))
		}
		inert(t, text, got)
	}
}

func TestThePageNamesWhereAURLLeads(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ask := func(text string) servertest.Page {
		token := a.Create(`"kind":"url","payload":` + servertest.Quoted(text))
		return a.Send("/p/"+token, nil).Want(http.StatusOK).Page()
	}
	ask("https://example.com/x").Has("This address leads to example.com").Lacks("alphabets", "mistaken for others", "is not valid")
	ask("https://bücher.example/").Has("leads to bücher.example", "xn--bcher-kva.example").Lacks("alphabets")
	ask("https://аpple.com/").Has("leads to xn--pple-43d.com", "displayed as: аpple.com", "several alphabets", "Open it anyway")
	ask("https://xn--pple-43d.com/").Has("leads to xn--pple-43d.com", "displayed as: аpple.com", "several alphabets", "Open it anyway")
	bad := ask("https://xn--zzzzzzzzzzz99999.com/").Has("is not valid", "https://xn--zzzzzzzzzzz99999.com/")
	if bad.Link("Open the address") != "" {
		t.Error("it has a link")
	}
}

func TestFileNamesAreInertOnThePage(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	names := []string{`"><script>alert(1)</script>.txt`, "</span><img src=x onerror=alert(1)>", "{{.}}.pdf", "a'b&c.txt"}
	var files []servertest.File
	for _, name := range names {
		files = append(files, servertest.File{Name: strings.ReplaceAll(name, `"`, "%22"), Content: []byte("x")})
	}
	media, body := servertest.FilePush{Files: files}.JSON()
	got := a.Do("POST", pushes, body, a.AddTokenUser("ann@example.com"), http.Header{"Content-Type": {media}}).Want(http.StatusCreated)
	p := a.Send("/p/"+got.Text("url_token"), nil).Want(http.StatusOK).Page()
	var shown []string
	for _, n := range p.Find(func(n servertest.Node) bool { return servertest.Attr(n, "class") == "name" }) {
		shown = append(shown, servertest.TextOf(n))
	}
	for i, f := range files {
		if want := f.Name[strings.LastIndex(f.Name, "/")+1:]; len(shown) != len(files) || shown[i] != want { // path parts are dropped
			t.Errorf("shown are %q", shown)
		}
	}
	inert(t, "names", p)
}

func TestARevealedPageIsNotCached(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	got := a.Send("/p/"+token, nil, http.Header{"X-Forwarded-Proto": {"https"}}).Want(http.StatusOK).Page()
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "strict-origin",
		"Cross-Origin-Opener-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q", name, got.Header.Get(name))
		}
	}
	if step := got.ID("opened"); servertest.Attr(step, "data-step") != "/p/"+token+"/r" {
		t.Errorf("back leads to %q", servertest.Attr(step, "data-step"))
	}
	if !slices.Equal(got.Forms(), []string{"post /p/" + token + "/expire"}) {
		t.Errorf("forms %v", got.Forms())
	}
}

func TestThePageOfTheLastView(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x","expire_after_views":2`)
	a.Send("/p/"+token, nil).Want(http.StatusOK).Page().Has("1 view left", "Delete for everyone").Lacks("last view", "before this")
	a.Get("/p/" + token + "/r").Want(http.StatusOK).Page().Has("You can open it once.")
	a.Send("/p/"+token, nil).Want(http.StatusOK).Page().Has("This was the last view", "It had been opened once before this.").Lacks("view left", "Delete for everyone")
	a.Send("/p/"+token, nil).Want(http.StatusNotFound)
}

// openFiles opens a file push on its page.
func openFiles(a *servertest.Server, p servertest.Pushed) servertest.Page {
	a.T.Helper()
	return a.Send("/p/"+p.Token.Reveal(), nil).Want(http.StatusOK).Page()
}

func TestFilesOnThePage(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	one := 1
	p := a.PushNamed("ann@example.com", func(in *store.NewPush, _ *store.Upload) {
		in.Payload, in.Views = secret.New("read me first"), &one
	}, []byte("hello"), servertest.BytesOf(1536))
	got := openFiles(a, p).Has("read me first", "5 B", "1.5 KiB", "This was the last view", "The files can still be downloaded", "Delete for everyone")
	list := got.Find(func(n servertest.Node) bool { return servertest.Attr(n, "class") == "files" })
	if len(list) != 1 || servertest.Attr(list[0], "data-renew") != "180" {
		t.Fatalf("%d lists of files", len(list))
	}
	var paths []string
	for _, link := range got.Find(func(n servertest.Node) bool { return servertest.Attr(n, "data-size") != "" }) {
		paths = append(paths, servertest.Attr(link, "href"))
	}
	if len(paths) != 2 || a.Get(paths[0]).Want(http.StatusOK).Body != "hello" || len(a.Get(paths[1]).Want(http.StatusOK).Body) != 1536 {
		t.Errorf("paths %d", len(paths))
	}
	for range 10 { // as the script does, past what the grant lasts without
		a.Store.Clock.Advance(3 * time.Minute)
		a.Get(paths[1], http.Header{"Range": {"bytes=0-0"}}).Want(http.StatusPartialContent)
	}
	a.Send("/p/"+p.Token.Reveal()+"/expire", nil).Want(http.StatusOK)
	a.Get(paths[0]).Want(http.StatusNotFound)
}

func TestTheRenewalFollowsTheWindow(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Files.DownloadWindow = time.Minute })
	got := openFiles(a, a.PushFiles("ann@example.com", []byte("x")))
	list := got.Find(func(n servertest.Node) bool { return servertest.Attr(n, "class") == "files" })
	if servertest.Attr(list[0], "data-renew") != "12" || got.ID("secret") != nil {
		t.Errorf("after %s seconds", servertest.Attr(list[0], "data-renew"))
	}
}
