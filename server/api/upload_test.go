package api_test

import (
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

func TestFilesComeOutAsTheyWentIn(t *testing.T) {
	t.Parallel()
	const chunk, step = 64 << 10, 512 << 10
	var p servertest.FilePush
	for i, size := range []int{0, 1, chunk - 1, chunk, chunk + 1, step - 1, step, step + 1, 3<<20 + 7} {
		p.Files = append(p.Files, servertest.File{Name: string(rune('a'+i)) + ".bin", Media: "application/x-test", Content: servertest.BytesOf(size)})
	}
	p.Before = map[string]string{"payload": "a word with it", "name": "n"}
	p.After = map[string]string{"note": "o", "expire_after_days": "3"}
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	for name, encode := range servertest.FileKinds {
		contentType, body := encode(p)
		got := a.Post(contentType, body, ann).Want(http.StatusCreated)
		got.Has(map[string]string{"kind": "file", "name": "n", "note": "o", "expire_after_days": "3"})
		a.WantFiles(got.Text("url_token"), p.Files...)
		shown := a.Get(pushes + "/" + got.Text("url_token")).Want(http.StatusOK)
		if shown.Text("payload") != "a word with it" {
			t.Errorf("%s: the payload is %q", name, shown.Text("payload"))
		}
	}
}

func TestAFileMayArriveInPieces(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	files := []servertest.File{{Name: "a", Media: "text/plain", Content: servertest.BytesOf(10_000)}, {Name: "b", Media: "text/plain", Content: servertest.BytesOf(20)}}
	for name, encode := range servertest.FileKinds {
		contentType, body := encode(servertest.FilePush{Files: files})
		req, err := http.NewRequest("POST", a.URL+pushes, io.MultiReader(strings.NewReader(body[:600]), strings.NewReader(body[600:])))
		env.OK(t, err)
		req.Header = servertest.Declared(contentType, 0, ann) // not sent: the length is not known
		req.Header.Del("Content-Length")
		res, err := a.Client.RoundTrip(req)
		env.OK(t, err)
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %s, %v", name, res.StatusCode, got, err)
		}
		a.WantFiles(servertest.Answer{T: t, Status: res.StatusCode, Header: res.Header, Body: string(got)}.Text("url_token"), files...)
	}
}

func TestMembersOfAFileMayComeInAnyOrder(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	for files, want := range map[string][]servertest.File{
		`[{"content":"aGk=","filename":"a.txt","content_type":"text/plain"}]`:             {{Name: "a.txt", Media: "text/plain", Content: []byte("hi")}},
		`[{"filename":"a.txt","content":"aGk=","content_type":"text/plain"}]`:             {{Name: "a.txt", Media: "text/plain", Content: []byte("hi")}},
		`[{"x":{"content":[1]},"content":"aGk=","size":7,"url":null}]`:                    {{Name: "file", Media: "application/octet-stream", Content: []byte("hi")}},
		`[{"content":"aGk=","filename":null,"content_type":null}]`:                        {{Name: "file", Media: "application/octet-stream", Content: []byte("hi")}},
		`[{"content":""},{"filename":"b","content":"aGk="}]`:                              {{Name: "file", Media: "application/octet-stream", Content: nil}, {Name: "b", Media: "application/octet-stream", Content: []byte("hi")}},
		`[{"content":"aGk=\r\n"}]`:                                                        {{Name: "file", Media: "application/octet-stream", Content: []byte("hi")}},
		`[{"content":"\na\r\nG\n\nk\n=\n"}]`:                                              {{Name: "file", Media: "application/octet-stream", Content: []byte("hi")}},
		`[{"content":"\u0061Gk\u003d"}]`:                                                  {{Name: "file", Media: "application/octet-stream", Content: []byte("hi")}},
		`[{"content":"aGk=","filename":"a\u0000\u0001\r\n\"\u202eb\ud83d\ude00%22"}]`:     {{Name: "a\"b😀%22", Media: "application/octet-stream", Content: []byte("hi")}},
		`[{"content":"\/\/\/\/"}]`:                                                        {{Name: "file", Media: "application/octet-stream", Content: []byte("\xff\xff\xff")}},
		`[{"filename":"` + strings.Repeat("n", 16<<10) + `","content":""}]`:               {{Name: strings.Repeat("n", 200), Media: "application/octet-stream", Content: nil}},
		`[{"content":"` + strings.Repeat(`QUFB\r\n`, 50_000) + `","filename":"a"}]`:       {{Name: "a", Media: "application/octet-stream", Content: []byte(strings.Repeat("AAA", 50_000))}},
		`[{"filename":"a/b\\c.txt","content":"aGk=","content_type":"text/plain; a=\"b"}]`: {{Name: "c.txt", Media: "application/octet-stream", Content: []byte("hi")}},
	} {
		got := a.Do("POST", pushes, `{"push":{"files":`+files+`}}`, ann).Want(http.StatusCreated)
		a.WantFiles(got.Text("url_token"), want...)
	}
}

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
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
		var want []servertest.File
		for _, s := range batch {
			body += servertest.Part(`Content-Disposition: form-data; name="push[files][]"; `+s, "x")
			want = append(want, servertest.File{Name: names[s], Media: "application/octet-stream", Content: []byte("x")})
		}
		got := a.Do("POST", pushes, body+"--b--\r\n", servertest.Multi, ann).Want(http.StatusCreated)
		a.WantFiles(got.Text("url_token"), want...)
	}
}

func TestFilesOfAFormMayBeNamedInSeveralWays(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	body := ""
	var want []servertest.File
	for _, name := range []string{"push[files][]", "push[files][0]", "push[files][1]", "push[files]", "push[files]"} {
		body += servertest.Part(`Content-Disposition: form-data; filename="f"; name="`+name+`"`+"\r\nContent-Type: image/png", name)
		want = append(want, servertest.File{Name: "f", Media: "image/png", Content: []byte(name)})
	}
	got := a.Do("POST", pushes, body+"--b--", servertest.Multi, ann).Want(http.StatusCreated)
	a.WantFiles(got.Text("url_token"), want...)
}

func TestContentThatLooksLikeTheEndOfAPartIsKept(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	f := servertest.File{Name: "f", Media: "a/b", Content: []byte("\r\n--\r\n--bb\r\n-b--\r\n--b-\r\n" + strings.Repeat("\r\n--", 40_000) + "\r\n")}
	_, body := servertest.FilePush{Files: []servertest.File{f, f}}.Multipart()
	a.WantFiles(a.Do("POST", pushes, body, servertest.Multi, ann).Want(http.StatusCreated).Text("url_token"), f, f)
	unix := strings.ReplaceAll(servertest.Part("Content-Disposition: form-data; name=\"push[files]\"; filename=f", "a\rb")+"--b--\r\n", "\r\n", "\n")
	a.WantFiles(a.Do("POST", pushes, unix, servertest.Multi, ann).Want(http.StatusCreated).Text("url_token"), servertest.File{Name: "f", Media: "application/octet-stream", Content: []byte("a\rb")})
}

func TestARequestWithoutAFileMakesATextPush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	payload := servertest.TextPart("push[payload]", "x")
	for name, got := range map[string]servertest.Answer{
		"an empty list":                       a.Do("POST", pushes, `{"push":{"payload":"x","files":[]}}`, ann),
		"null":                                a.Do("POST", pushes, `{"push":{"files":null,"payload":"x"}}`, ann),
		"a field that a browser leaves empty": a.Do("POST", pushes, payload+servertest.Part("Content-Disposition: form-data; name=\"push[files][]\"; filename=\"\"\r\nContent-Type: application/octet-stream", "")+"--b--", servertest.Multi, ann),
		"what Rails puts before the files":    a.Do("POST", pushes, servertest.TextPart("push[files][]", "")+payload+"--b--", servertest.Multi, ann),
		"an empty field of a form":            a.Do("POST", pushes, "push[payload]=x&push[files][]=", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, ann),
	} {
		if got.Want(http.StatusCreated).Text("kind") != "text" {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	mixed := servertest.TextPart("push[files][]", "") + servertest.FilePart(servertest.File{Name: "", Media: "", Content: []byte("x")}) + servertest.Part(`Content-Disposition: form-data; name="push[files][]"; filename=""`, "") + servertest.FilePart(servertest.File{Name: "empty", Media: "", Content: nil})
	got := a.Do("POST", pushes, mixed+"--b--", servertest.Multi, ann).Want(http.StatusCreated)
	a.WantFiles(got.Text("url_token"), servertest.File{Name: "file", Media: "application/octet-stream", Content: []byte("x")}, servertest.File{Name: "empty", Media: "application/octet-stream", Content: nil})
}

func TestManyUploadsAtOnce(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	callers := []http.Header{a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")} // who may have half of all each
	f := servertest.File{Name: "f", Media: "a/b", Content: servertest.BytesOf(200_000)}
	var wg sync.WaitGroup
	var answers [64]servertest.Answer
	for i := range answers {
		wg.Go(func() {
			contentType, body := servertest.FilePush{Files: []servertest.File{f}}.Multipart()
			if i%2 == 0 {
				contentType, body = servertest.FilePush{Files: []servertest.File{f}}.JSON()
			}
			got, err := a.Try("POST", pushes, body, http.Header{"Content-Type": {contentType}}, callers[i/2%2])
			if err != nil {
				t.Error(err)
			}
			answers[i] = got
		})
	}
	wg.Wait()
	for _, got := range answers {
		a.WantFiles(got.Want(http.StatusCreated).Text("url_token"), f)
	}
}

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) { // not parallel: it looks at all memory
	if env.UnderRace {
		t.Skip("it measures memory, and the race detector takes some")
	}
	const size, bound = 48 << 20, 32 << 20
	a := servertest.New(t, func(c *config.Config) { c.Limits.MaxBody = 64 << 10 })
	session, bearer := a.AddSessionUser("ann@example.com"), a.AddToken("ann@example.com")
	mebibyte := string(servertest.BytesOf(3 << 18))
	_, fields := servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": "file"})}.Multipart()
	file := strings.TrimSuffix(servertest.FilePart(servertest.File{Name: "f", Media: "a/b"}), "\r\n")
	for _, c := range []struct {
		path, contentType string
		by                http.Header
		text              [3]string
		status            int
	}{
		{pushes, servertest.Multi.Get("Content-Type"), bearer, [3]string{file, mebibyte, "\r\n--b--\r\n"}, http.StatusCreated},
		{"/", servertest.Multi.Get("Content-Type"), session, [3]string{strings.TrimSuffix(fields, "--b--\r\n") + file, mebibyte, "\r\n--b--\r\n"}, http.StatusSeeOther},
		{pushes, "application/json", bearer, [3]string{`{"push":{"files":[{"content":"`, base64.StdEncoding.EncodeToString([]byte(mebibyte)), `"}]}}`}, http.StatusCreated},
	} {
		text := c.text
		readers := []io.Reader{strings.NewReader(text[0])}
		for range size / len(mebibyte) {
			readers = append(readers, strings.NewReader(text[1]))
		}
		after := new(servertest.Gauge)
		readers = append(readers, after, strings.NewReader(text[2]))
		before := servertest.HeapInUse()
		req, err := http.NewRequest("POST", a.URL+c.path, io.MultiReader(readers...))
		env.OK(t, err)
		req.Header = c.by.Clone()
		req.Header.Set("Content-Type", c.contentType)
		res, err := a.Client.RoundTrip(req)
		env.OK(t, err)
		_ = res.Body.Close()
		if res.StatusCode != c.status || after.Held > before+bound {
			t.Errorf("%s, %s: %d; the heap grew from %d to %d", c.path, c.contentType, res.StatusCode, before, after.Held)
		}
	}
}
