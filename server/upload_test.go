package server_test

import (
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pushbox/config"
)

func TestFilesComeOutAsTheyWentIn(t *testing.T) {
	t.Parallel()
	const chunk, step = 64 << 10, 512 << 10
	var p filePush
	for i, size := range []int{0, 1, chunk - 1, chunk, chunk + 1, step - 1, step, step + 1, 3<<20 + 7} {
		p.files = append(p.files, file{string(rune('a'+i)) + ".bin", "application/x-test", bytesOf(size)})
	}
	p.before = map[string]string{"payload": "a word with it", "name": "n"}
	p.after = map[string]string{"note": "o", "expire_after_days": "3"}
	a := newAPI(t)
	ann := a.user("ann@example.com")
	for name, encode := range fileKinds {
		contentType, body := encode(p)
		got := a.post(contentType, body, ann).want(http.StatusCreated)
		got.has(map[string]string{"kind": "file", "name": "n", "note": "o", "expire_after_days": "3"})
		a.wantFiles(got.text("url_token"), p.files...)
		shown := a.get(pushes + "/" + got.text("url_token")).want(http.StatusOK)
		if shown.text("payload") != "a word with it" {
			t.Errorf("%s: the payload is %q", name, shown.text("payload"))
		}
	}
}

func TestAFileComesAsWellInPieces(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	files := []file{{"a", "text/plain", bytesOf(10_000)}, {"b", "text/plain", bytesOf(20)}}
	for name, encode := range fileKinds {
		contentType, body := encode(filePush{files: files})
		req, err := http.NewRequest("POST", a.url+pushes, io.MultiReader(strings.NewReader(body[:600]), strings.NewReader(body[600:])))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = declared(contentType, 0, ann) // not sent: the length is not known
		req.Header.Del("Content-Length")
		res, err := a.client.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %s, %v", name, res.StatusCode, got, err)
		}
		a.wantFiles(answer{t, res.StatusCode, res.Header, string(got)}.text("url_token"), files...)
	}
}

func TestMembersOfAFileMayComeInAnyOrder(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	for files, want := range map[string][]file{
		`[{"content":"aGk=","filename":"a.txt","content_type":"text/plain"}]`:             {{"a.txt", "text/plain", []byte("hi")}},
		`[{"filename":"a.txt","content":"aGk=","content_type":"text/plain"}]`:             {{"a.txt", "text/plain", []byte("hi")}},
		`[{"x":{"content":[1]},"content":"aGk=","size":7,"url":null}]`:                    {{"file", "application/octet-stream", []byte("hi")}},
		`[{"content":"aGk=","filename":null,"content_type":null}]`:                        {{"file", "application/octet-stream", []byte("hi")}},
		`[{"content":""},{"filename":"b","content":"aGk="}]`:                              {{"file", "application/octet-stream", nil}, {"b", "application/octet-stream", []byte("hi")}},
		`[{"content":"aGk=\r\n"}]`:                                                        {{"file", "application/octet-stream", []byte("hi")}},
		`[{"content":"\na\r\nG\n\nk\n=\n"}]`:                                              {{"file", "application/octet-stream", []byte("hi")}},
		`[{"content":"\u0061Gk\u003d"}]`:                                                  {{"file", "application/octet-stream", []byte("hi")}},
		`[{"content":"aGk=","filename":"a\u0000\u0001\r\n\"\u202eb\ud83d\ude00%22"}]`:     {{"a\"b😀%22", "application/octet-stream", []byte("hi")}},
		`[{"content":"\/\/\/\/"}]`:                                                        {{"file", "application/octet-stream", []byte("\xff\xff\xff")}},
		`[{"filename":"` + strings.Repeat("n", 16<<10) + `","content":""}]`:               {{strings.Repeat("n", 200), "application/octet-stream", nil}},
		`[{"content":"` + strings.Repeat(`QUFB\r\n`, 50_000) + `","filename":"a"}]`:       {{"a", "application/octet-stream", []byte(strings.Repeat("AAA", 50_000))}},
		`[{"filename":"a/b\\c.txt","content":"aGk=","content_type":"text/plain; a=\"b"}]`: {{"c.txt", "application/octet-stream", []byte("hi")}},
	} {
		got := a.do("POST", pushes, `{"push":{"files":`+files+`}}`, ann).want(http.StatusCreated)
		a.wantFiles(got.text("url_token"), want...)
	}
}

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	names := map[string]string{ // as it is sent, and as it is kept
		`filename="a.txt"`:                   "a.txt",
		`filename=a.txt`:                     "a.txt",
		`filename="a b;c=d.txt"`:             "a b;c=d.txt",
		`filename="/etc/passwd"`:             "passwd",
		`filename="C:\temp\x.txt"`:           "x.txt",
		`filename="../../x"`:                 "x",
		`filename="a%22b%0D%0Ac%20d%0d.txt"`: `a"bc%20d%0d.txt`, // these three alone, in capitals
		`filename="a\"b.txt"`:                `a"b.txt`,
		`filename="100%.txt"`:                "100%.txt",
		`filename="résumé 履歴書 سيرة резюме 😀.pdf"`:            "résumé 履歴書 سيرة резюме 😀.pdf",
		"filename=\"photo\u202egpj.exe\"":                    "photogpj.exe",
		"filename=\"a\u2066b\u2069\u200fc\td\"":              "abcd",
		`filename="..."`:                                     "file",
		`filename*=UTF-8''%e2%82%ac%20rates.txt`:             "€ rates.txt",
		`filename="x.txt"; filename*=UTF-8''%e2%82%ac.txt`:   "€.txt",
		`filename*=utf-8'en'a%2522.txt`:                      "a%22.txt", // decoded once
		`filename*=ISO-8859-1''%e9.txt; filename="e.txt"`:    "e.txt",
		`filename*=ISO-8859-1''%e9.txt`:                      "file",
		`filename*0="long "; filename*1="name.txt"`:          "long name.txt",
		`filename="` + strings.Repeat("é", 150) + `.tar.gz"`: strings.Repeat("é", 98) + ".gz",
	}
	sent := slices.Sorted(maps.Keys(names))
	for batch := range slices.Chunk(sent, 10) {
		body := ""
		var want []file
		for _, s := range batch {
			body += part(`Content-Disposition: form-data; name="push[files][]"; `+s, "x")
			want = append(want, file{names[s], "application/octet-stream", []byte("x")})
		}
		got := a.do("POST", pushes, body+"--b--\r\n", multi, ann).want(http.StatusCreated)
		a.wantFiles(got.text("url_token"), want...)
	}
}

func TestFilesOfAFormMayBeNamedInSeveralWays(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	body := ""
	var want []file
	for _, name := range []string{"push[files][]", "push[files][0]", "push[files][1]", "push[files]", "push[files]"} {
		body += part(`Content-Disposition: form-data; filename="f"; name="`+name+`"`+"\r\nContent-Type: image/png", name)
		want = append(want, file{"f", "image/png", []byte(name)})
	}
	got := a.do("POST", pushes, body+"--b--", multi, ann).want(http.StatusCreated)
	a.wantFiles(got.text("url_token"), want...)
}

func TestContentThatLooksLikeTheEndOfAPartIsKept(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	f := file{"f", "a/b", []byte("\r\n--\r\n--bb\r\n-b--\r\n--b-\r\n" + strings.Repeat("\r\n--", 40_000) + "\r\n")}
	_, body := filePush{files: []file{f, f}}.multipart()
	a.wantFiles(a.do("POST", pushes, body, multi, ann).want(http.StatusCreated).text("url_token"), f, f)
	unix := strings.ReplaceAll(part("Content-Disposition: form-data; name=\"push[files]\"; filename=f", "a\rb")+"--b--\r\n", "\r\n", "\n")
	a.wantFiles(a.do("POST", pushes, unix, multi, ann).want(http.StatusCreated).text("url_token"), file{"f", "application/octet-stream", []byte("a\rb")})
}

func TestWhatMeansNoFileMakesATextPush(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	payload := textPart("push[payload]", "x")
	for name, got := range map[string]answer{
		"an empty list":                       a.do("POST", pushes, `{"push":{"payload":"x","files":[]}}`, ann),
		"null":                                a.do("POST", pushes, `{"push":{"files":null,"payload":"x"}}`, ann),
		"a field that a browser leaves empty": a.do("POST", pushes, payload+part("Content-Disposition: form-data; name=\"push[files][]\"; filename=\"\"\r\nContent-Type: application/octet-stream", "")+"--b--", multi, ann),
		"what Rails puts before the files":    a.do("POST", pushes, textPart("push[files][]", "")+payload+"--b--", multi, ann),
		"an empty field of a form":            a.do("POST", pushes, "push[payload]=x&push[files][]=", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, ann),
	} {
		if got.want(http.StatusCreated).text("kind") != "text" {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	mixed := textPart("push[files][]", "") + filePart(file{"", "", []byte("x")}) + part(`Content-Disposition: form-data; name="push[files][]"; filename=""`, "") + filePart(file{"empty", "", nil})
	got := a.do("POST", pushes, mixed+"--b--", multi, ann).want(http.StatusCreated)
	a.wantFiles(got.text("url_token"), file{"file", "application/octet-stream", []byte("x")}, file{"empty", "application/octet-stream", nil})
}

func TestManyUploadsAtOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	f := file{"f", "a/b", bytesOf(200_000)}
	var wg sync.WaitGroup
	var answers [64]answer
	for i := range answers {
		wg.Go(func() {
			contentType, body := filePush{files: []file{f}}.multipart()
			if i%2 == 0 {
				contentType, body = filePush{files: []file{f}}.json()
			}
			got, err := a.try("POST", pushes, body, http.Header{"Content-Type": {contentType}}, ann)
			if err != nil {
				t.Error(err)
			}
			answers[i] = got
		})
	}
	wg.Wait()
	for _, got := range answers {
		a.wantFiles(got.want(http.StatusCreated).text("url_token"), f)
	}
}

// A filler yields a text, then n times another, and a third, and notes how large
// the heap grows meanwhile.
type filler struct {
	io.Reader
	most *uint64
}

func (f filler) Read(p []byte) (int, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	*f.most = max(*f.most, m.HeapInuse)
	return f.Reader.Read(p)
}

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) { // not parallel: it looks at all memory
	if testing.Short() {
		t.Skip("what it measures is measured at the ordinary length, and not by the race detector")
	}
	const size, bound = 48 << 20, 32 << 20
	a := newAPI(t, func(c *config.Config) { c.Limits.MaxBody = 64 << 10 })
	ann := a.user("ann@example.com")
	mebibyte := string(bytesOf(3 << 18))
	for name, text := range map[string][3]string{
		"multipart/form-data; boundary=b": {strings.TrimSuffix(filePart(file{"f", "a/b", nil}), "\r\n"), mebibyte, "\r\n--b--\r\n"},
		"application/json":                {`{"push":{"files":[{"content":"`, base64.StdEncoding.EncodeToString([]byte(mebibyte)), `"}]}}`},
	} {
		readers := []io.Reader{strings.NewReader(text[0])}
		for range size / len(mebibyte) {
			readers = append(readers, strings.NewReader(text[1]))
		}
		readers = append(readers, strings.NewReader(text[2]))
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		most := uint64(0)
		req, err := http.NewRequest("POST", a.url+pushes, filler{io.MultiReader(readers...), &most})
		if err != nil {
			t.Fatal(err)
		}
		req.Header = ann.Clone()
		req.Header.Set("Content-Type", name)
		res, err := a.client.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusCreated || most > before.HeapInuse+bound {
			t.Errorf("%s: %d; the heap grew from %d to %d", name, res.StatusCode, before.HeapInuse, most)
		}
	}
}
