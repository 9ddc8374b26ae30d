package server_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
)

// cookieOf is the secret of the session that a browser has.
func (a *api) cookieOf(browser http.Header) secret.Text {
	_, value, _ := strings.Cut(browser.Get("Cookie"), "=")
	return secret.New(value)
}

func TestFilesGoThroughTheForm(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.senderAt("ann@example.com")
	files := []file{{"a.txt", "text/plain", []byte("a\r\nb")}, {"b \"x\".bin", "application/x-test", bytesOf(200_000)}, {"empty", "a/b", nil}}
	sent := filePush{before: typed(map[string]string{"kind": "file", "payload": "for\r\nyou"}), files: files}
	sent.files[1].name = `b %22x%22.bin` // as browsers write it
	got := a.sendParts(sent, ann)
	files[1].name = `b "x".bin`
	a.wantFiles(got.pushed(), files...)
	a.get(pushes + "/" + got.pushed()).has(map[string]string{"kind": "file", "payload": "for\nyou"})
	none := a.sendParts(filePush{before: typed(map[string]string{"kind": "file", "payload": ""}), files: files[:1]}, ann)
	a.wantFiles(none.pushed(), files[0])
}

func TestAFieldForFilesThatIsLeftEmptyIsNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	_, body := filePush{before: typed(nil)}.multipart()
	for _, caller := range []http.Header{{}, a.senderAt("ann@example.com")} {
		got := a.do("POST", "/", nothingChosen+body, multi, caller)
		a.get(pushes + "/" + got.pushed()).has(map[string]string{"kind": "text"})
		a.sendForm(typed(map[string]string{"files][": ""}), caller).want(http.StatusCreated)
	}
}

func TestFilesAreForThoseWhoAreSignedIn(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.senderAt("ann@example.com")
	for who, test := range map[string]struct {
		caller  http.Header
		offered bool
	}{"nobody": {http.Header{}, false}, "ann": {ann, true}, "a token": {a.user("bob@example.com"), false}, "a bad cookie": {http.Header{"Cookie": {"pushbox_session=x"}}, false}} {
		form := a.get("/", test.caller).want(http.StatusOK)
		if strings.Contains(form.tag("kind-file"), " disabled") == test.offered || (form.tag("files") != "") != test.offered || (form.tag("kind-hint") == "") != test.offered {
			t.Errorf("%s: %s %s", who, form.tag("kind-file"), form.tag("files"))
		}
		if test.offered {
			continue
		}
		for _, kind := range []string{"file", "text"} {
			a.sendParts(filePush{before: typed(map[string]string{"kind": kind}), files: []file{{"f", "a/b", []byte("x")}}}, test.caller).want(http.StatusUnauthorized)
		}
		a.sendForm(typed(map[string]string{"kind": "file"}), test.caller).want(http.StatusUnauthorized)
	}
	a.wantNothing(a.user("eve@example.com"))
}

func TestASessionThatEndsDuringAnUploadSendsNothing(t *testing.T) {
	t.Parallel()
	for anonymous, want := range map[bool]int{true: http.StatusUnauthorized, false: http.StatusSeeOther} {
		a := newAPI(t, func(c *config.Config) { c.AllowAnonymous = anonymous })
		ann := a.senderAt("ann@example.com")
		_, body := filePush{before: typed(map[string]string{"kind": "file"}), files: []file{{"f", "a/b", bytesOf(300_000)}}}.multipart()
		ending := readerFunc(func([]byte) (int, error) {
			if err := a.store.SignOut(ctx, a.cookieOf(ann)); err != nil {
				t.Error(err)
			}
			return 0, io.EOF
		})
		half := len(body) / 2
		req, err := http.NewRequest("POST", a.url+"/", io.MultiReader(strings.NewReader(body[:half]), &ending, strings.NewReader(body[half:])))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = ann.Clone()
		req.Header.Set("Content-Type", multi.Get("Content-Type"))
		res, err := a.client.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("anonymous %v: %d", anonymous, res.StatusCode)
		}
		if n := a.store.Orphans(); n > 0 {
			t.Errorf("chunks of %d uploads are there", n)
		}
	}
}

// A readerFunc is a function as a reader.
type readerFunc func([]byte) (int, error)

func (f *readerFunc) Read(p []byte) (int, error) { return (*f)(p) }

func TestHowManyFilesTheFormTakes(t *testing.T) {
	t.Parallel()
	a := newAPI(t, fileLimits(2, 1000))
	ann := a.senderAt("ann@example.com")
	send := func(kind string, sizes ...int) answer {
		p := filePush{before: typed(map[string]string{"kind": kind})}
		for _, n := range sizes {
			p.files = append(p.files, file{"f", "a/b", bytesOf(n)})
		}
		return a.sendParts(p, ann)
	}
	send("file", 1000, 0).want(http.StatusCreated)
	for name, test := range map[string]struct {
		got  answer
		want string
	}{
		"none":            {send("file"), "Choose at least one file"},
		"too many":        {send("file", 1, 2, 3), "too many files: at most 2"},
		"of another kind": {send("text", 1), "the kind was not Files"},
	} {
		if told := test.got.problems(); len(told) != 1 || !strings.Contains(told[0], test.want) {
			t.Errorf("%s: %q", name, told)
		}
		if test.got.typedInto("payload") != "hunter2" || !strings.Contains(test.got.body, "Files must be chosen again") {
			t.Errorf("%s: %s", name, test.got.body)
		}
	}
	a.sendForm(typed(map[string]string{"kind": "file", "files][": "x"}), ann).problems() // as programs may
	got := send("file", 1001).want(http.StatusRequestEntityTooLarge)
	if !strings.Contains(got.body, "This is too large") {
		t.Error(got.body)
	}
	if n := a.store.Orphans(); n > 0 {
		t.Errorf("chunks of %d uploads are there", n)
	}
}

func TestAFormThatIsCutByAProblemHasTheRestAsAtFirst(t *testing.T) {
	t.Parallel()
	a := newAPI(t, fileLimits(1, 1000))
	rest := typed(nil)
	delete(rest, "kind")
	delete(rest, "payload")
	got := a.sendParts(filePush{
		before: map[string]string{"kind": "file", "payload": "word"}, after: rest,
		files: []file{{"f", "a/b", nil}, {"g", "a/b", nil}},
	}, a.senderAt("ann@example.com"))
	got.problems()
	if got.typedInto("days") != "7" || got.typedInto("views") != "5" || !strings.Contains(got.tag("step"), " checked") || !strings.Contains(got.tag("kind-file"), " checked") {
		t.Error(got.body)
	}
}

func TestMemoryDoesNotGrowWithAFileOfTheForm(t *testing.T) { // not parallel: it looks at all memory
	const size, bound = 64 << 20, 32 << 20
	a := newAPI(t, func(c *config.Config) { c.Limits.MaxBody = 64 << 10 })
	ann := a.senderAt("ann@example.com")
	_, fields := filePush{before: typed(map[string]string{"kind": "file"})}.multipart()
	mebibyte := string(bytesOf(1 << 20))
	readers := []io.Reader{strings.NewReader(strings.TrimSuffix(fields, "--b--\r\n") + strings.TrimSuffix(filePart(file{"f", "a/b", nil}), "\r\n"))}
	for range size / len(mebibyte) {
		readers = append(readers, strings.NewReader(mebibyte))
	}
	readers = append(readers, strings.NewReader("\r\n--b--\r\n"))
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	most := uint64(0)
	req, err := http.NewRequest("POST", a.url+"/", filler{io.MultiReader(readers...), &most})
	if err != nil {
		t.Fatal(err)
	}
	req.Header = ann.Clone()
	req.Header.Set("Content-Type", multi.Get("Content-Type"))
	res, err := a.client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusCreated || most > before.HeapInuse+bound {
		t.Errorf("%d; the heap grew from %d to %d", res.StatusCode, before.HeapInuse, most)
	}
}
