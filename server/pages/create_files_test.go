package pages_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
)

// cookieOf returns the secret of a browser's session.
func cookieOf(a *servertest.Server, browser http.Header) secret.Text {
	_, value, _ := strings.Cut(browser.Get("Cookie"), "=")
	return secret.New(value)
}

func TestFilesGoThroughTheForm(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	files := []servertest.File{{Name: "a.txt", Media: "text/plain", Content: []byte("a\r\nb")}, {Name: "b \"x\".bin", Media: "application/x-test", Content: servertest.BytesOf(200_000)}, {Name: "empty", Media: "a/b", Content: nil}}
	sent := servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": "file", "payload": "for\r\nyou"}), Files: files}
	sent.Files[1].Name = `b %22x%22.bin` // as browsers write it
	got := a.SendParts(sent, ann)
	files[1].Name = `b "x".bin`
	a.WantFiles(got.PushToken(), files...)
	a.Get(pushes + "/" + got.PushToken()).Has(map[string]string{"kind": "file", "payload": "for\nyou"})
	none := a.SendParts(servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": "file", "payload": ""}), Files: files[:1]}, ann)
	a.WantFiles(none.PushToken(), files[0])
}

func TestAnEmptyFieldForFilesIsIgnored(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	_, body := servertest.FilePush{Before: servertest.Typed(nil)}.Multipart()
	for _, caller := range []http.Header{{}, a.AddSessionUser("ann@example.com")} {
		got := a.Do("POST", "/", servertest.NothingChosen+body, servertest.Multi, caller).Want(http.StatusSeeOther)
		token, _, _ := strings.Cut(strings.TrimPrefix(got.Header.Get("Location"), "/p/"), "/")
		a.Get(pushes + "/" + token).Has(map[string]string{"kind": "text"})
		a.SendForm(servertest.Typed(map[string]string{"files][": ""}), caller).Want(http.StatusOK)
	}
}

func TestSmallFilesNeedNoSignInWhereTheSettingsSaySo(t *testing.T) {
	t.Parallel()
	const small = 10_000
	a := servertest.New(t, servertest.AnonymousFiles(small))
	a.Get("/", http.Header{}).Want(http.StatusOK).Page().Has("Choose files", "each up to 9.8").Lacks("Sign in to send files")
	for size, want := range map[int]int{small: http.StatusSeeOther, small + 1: http.StatusRequestEntityTooLarge} {
		file := servertest.File{Name: "a.bin", Media: "a/b", Content: servertest.BytesOf(size)}
		_, body := servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": "file", "payload": ""}), Files: []servertest.File{file}}.Multipart()
		a.Do("POST", "/", body, servertest.Multi).Want(want)
	}
}

func TestFilesNeedASignIn(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	for who, test := range map[string]struct {
		caller  http.Header
		offered bool
	}{"anonymous": {http.Header{}, false}, "ann": {ann, true}, "a token": {a.AddTokenUser("bob@example.com"), false}, "a bad cookie": {http.Header{"Cookie": {"pushbox_session=x"}}, false}} {
		form := a.Get("/", test.caller).Want(http.StatusOK)
		if (form.Tag("files") != "") != test.offered || strings.Contains(form.Body, "Sign in to send files.") == test.offered {
			t.Errorf("%s: %s %s", who, form.Tag("kind-file"), form.Tag("files"))
		}
		if test.offered {
			continue
		}
		for _, kind := range []string{"file", "text"} {
			a.SendParts(servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": kind}), Files: []servertest.File{{Name: "f", Media: "a/b", Content: []byte("x")}}}, test.caller).Want(http.StatusUnauthorized)
		}
		a.SendForm(servertest.Typed(map[string]string{"kind": "file"}), test.caller).Want(http.StatusUnauthorized)
	}
	a.WantNothing(a.AddTokenUser("eve@example.com"))
}

func TestASessionThatEndsDuringAnUploadCreatesNothing(t *testing.T) {
	t.Parallel()
	for anonymous, want := range map[bool]int{true: http.StatusUnauthorized, false: http.StatusSeeOther} {
		a := servertest.New(t, func(c *config.Config) { c.AllowAnonymous = anonymous })
		ann := a.AddSessionUser("ann@example.com")
		_, body := servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": "file"}), Files: []servertest.File{{Name: "f", Media: "a/b", Content: servertest.BytesOf(300_000)}}}.Multipart()
		ending := readerFunc(func([]byte) (int, error) {
			if err := a.Store.SignOut(ctx, store.Actor{}, cookieOf(a, ann)); err != nil {
				t.Error(err)
			}
			return 0, io.EOF
		})
		half := len(body) / 2
		req, err := http.NewRequest("POST", a.URL+"/", io.MultiReader(strings.NewReader(body[:half]), &ending, strings.NewReader(body[half:])))
		env.OK(t, err)
		req.Header = ann.Clone()
		req.Header.Set("Content-Type", servertest.Multi.Get("Content-Type"))
		res, err := a.Client.RoundTrip(req)
		env.OK(t, err)
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("anonymous %v: %d", anonymous, res.StatusCode)
		}
		if n := a.Store.Orphans(); n > 0 {
			t.Errorf("chunks of %d uploads are there", n)
		}
	}
}

// A readerFunc is a function as a reader.
type readerFunc func([]byte) (int, error)

func (f *readerFunc) Read(p []byte) (int, error) { return (*f)(p) }

func TestTheFormLimitsTheNumberOfFiles(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.FileLimits(2, 1000))
	ann := a.AddSessionUser("ann@example.com")
	send := func(kind string, sizes ...int) servertest.Answer {
		p := servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": kind})}
		for _, n := range sizes {
			p.Files = append(p.Files, servertest.File{Name: "f", Media: "a/b", Content: servertest.BytesOf(n)})
		}
		return a.SendParts(p, ann)
	}
	send("file", 1000, 0).Want(http.StatusOK)
	for name, test := range map[string]struct {
		got  servertest.Answer
		want string
	}{
		"none":            {send("file"), "Choose at least one file"},
		"too many":        {send("file", 1, 2, 3), "Too many files: at most 2"},
		"of another kind": {send("text", 1), "the kind is not Files"},
	} {
		if told := test.got.Problems(); len(told) != 1 || !strings.Contains(told[0], test.want) {
			t.Errorf("%s: %q", name, told)
		}
		if test.got.TypedInto("payload") != "hunter2" || !strings.Contains(test.got.Body, "Files must be chosen again") {
			t.Errorf("%s: %s", name, test.got.Body)
		}
	}
	a.SendForm(servertest.Typed(map[string]string{"kind": "file", "files][": "x"}), ann).Problems() // as programs may
	got := send("file", 1001).Want(http.StatusRequestEntityTooLarge)
	if !strings.Contains(got.Body, "This is too large") {
		t.Error(got.Body)
	}
	if n := a.Store.Orphans(); n > 0 {
		t.Errorf("chunks of %d uploads are there", n)
	}
}

func TestAFormThatWasNotReadToItsEndHasDefaultsForTheRest(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.FileLimits(1, 1000))
	rest := servertest.Typed(nil)
	delete(rest, "kind")
	delete(rest, "payload")
	got := a.SendParts(servertest.FilePush{
		Before: map[string]string{"kind": "file", "payload": "word"}, After: rest,
		Files: []servertest.File{{Name: "f", Media: "a/b", Content: nil}, {Name: "g", Media: "a/b", Content: nil}},
	}, a.AddSessionUser("ann@example.com"))
	got.Problems()
	if got.TypedInto("days") != "7" || got.TypedInto("views") != "5" || !strings.Contains(got.Tag("step"), " checked") || !strings.Contains(got.Tag("kind-file"), " checked") {
		t.Error(got.Body)
	}
}
