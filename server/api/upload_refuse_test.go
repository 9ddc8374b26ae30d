package api_test

import (
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/storetest"
)

// jsonFiles is a create request with these members of a push.
func jsonFiles(members string) string { return `{"push":{` + members + `}}` }

const (
	badBase64  = "content is not valid base64"
	howToSend  = "must be sent as multipart/form-data, each with a filename, or in JSON as a list of objects with filename and content in base64"
	filesFirst = `"files":[{"filename":"a","content":"` // the content continues
)

func TestFilesThatAreRefusedAndWhy(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	large := base64.StdEncoding.EncodeToString(servertest.BytesOf(2 << 20)) // more than is kept at a time
	for members, want := range map[string]string{
		`"kind":"file"`:                              "are required: a file push has at least one",
		`"kind":"file","payload":"x","files":[]`:     "are required: a file push has at least one",
		`"files":"a"`:                                howToSend,
		`"files":1`:                                  howToSend,
		`"files":true`:                               howToSend,
		`"files":{"0":{"content":""}}`:               howToSend,
		`"files":["a"]`:                              howToSend,
		`"files":[null]`:                             howToSend,
		`"files":[[]]`:                               howToSend,
		`"files":[{"content":""},1]`:                 howToSend,
		`"files":[{}]`:                               "content is missing",
		`"files":[{"filename":"a"}]`:                 "content is missing",
		`"files":[{"content":null}]`:                 "content must be a text in base64",
		`"files":[{"content":1}]`:                    "content must be a text in base64",
		`"files":[{"content":["aGk="]}]`:             "content must be a text in base64",
		`"files":[{"filename":1,"content":""}]`:      "filename must be a text",
		`"files":[{"content":"","filename":{}}]`:     "filename must be a text",
		`"files":[{"content":"","content_type":[]}]`: "content_type must be a text",
		`"files":[{"content":"","filename":"` + strings.Repeat("n", 16<<10+1) + `"}]`: "filename is too long",
		filesFirst + `a"}]`:                             badBase64,
		filesFirst + `aGk"}]`:                           badBase64,
		filesFirst + `aGk-"}]`:                          badBase64,
		filesFirst + `aGk= "}]`:                         badBase64,
		filesFirst + ` aGk="}]`:                         badBase64,
		filesFirst + `aGk=aGk="}]`:                      badBase64,
		filesFirst + `aG==k"}]`:                         badBase64,
		filesFirst + `aGk=="}]`:                         badBase64,
		filesFirst + `====="}]`:                         badBase64,
		filesFirst + `aGk=\u0000"}]`:                    badBase64,
		filesFirst + `data:text/plain;base64,aGk="}]`:   badBase64,
		filesFirst + large + `="}]`:                     badBase64,
		filesFirst + large + `aGk="},{"content":"*"}]`:  badBase64,
		filesFirst + large[:len(large)/8*4] + `=AAA"}]`: badBase64,
	} {
		got := a.Do("POST", pushes, jsonFiles(members), ann)
		if got.Want(http.StatusUnprocessableEntity); got.Body != `{"files":[`+servertest.Quoted(want)+"]}\n" {
			t.Errorf("%.80s: %s", members, got.Body)
		}
	}
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for name, got := range map[string]servertest.Answer{
		"a form":               a.Do("POST", pushes, "push[payload]=x&push[files][]=a", form, ann),
		"a form with objects":  a.Do("POST", pushes, "push[files][0][filename]=a&push[files][0][content]=aGk%3D", form, ann),
		"a part without name":  a.Do("POST", pushes, servertest.TextPart("push[files][]", "a")+"--b--", servertest.Multi, ann),
		"a part of a text box": a.Do("POST", pushes, servertest.TextPart("push[files]", "\r\n")+"--b--", servertest.Multi, ann),
	} {
		if got.Want(http.StatusUnprocessableEntity); got.Body != `{"files":[`+servertest.Quoted(howToSend)+"]}\n" {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	a.WantNothing(ann)
}

func TestAFieldThatIsRefusedLeavesNothingOfTheFiles(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	files := []servertest.File{{Name: "a", Media: "", Content: servertest.BytesOf(1 << 20)}, {Name: "b", Media: "", Content: nil}}
	for field, text := range map[string]string{"expire_after_days": "0", "expire_after_views": "x", "kind": "letter", "name": strings.Repeat("n", 256)} {
		for _, p := range []servertest.FilePush{
			{Files: files, After: map[string]string{field: text}},
			{Files: files, Before: map[string]string{field: text}},
		} {
			for _, encode := range servertest.FileKinds {
				contentType, body := encode(p)
				got := a.Post(contentType, body, ann)
				if fields := got.Invalid(); !slices.Equal(fields, []string{field}) {
					t.Errorf("%s: %s", field, got.Body)
				}
			}
		}
	}
	a.Store.SweepAll()
	a.WantNothing(ann)
}

func TestBadMultipartBodiesLeaveNothing(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	good := servertest.FilePart(servertest.File{Name: "a", Media: "a/b", Content: servertest.BytesOf(100_000)})
	for name, body := range map[string]string{
		"cut in the content":          good[:50_000],
		"cut before the last line":    good,
		"cut in the last line":        good + "--b",
		"cut behind a line between":   good + "--b\r\n",
		"cut in a header":             good + "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"",
		"cut in the next text":        good + strings.TrimSuffix(servertest.TextPart("push[payload]", "x"), "\r\n"),
		"half of the last line's end": good + "--b-",
		"no name":                     good + servertest.Part(`Content-Disposition: form-data; filename="x"`, "x") + "--b--",
		"no form-data":                good + servertest.Part(`Content-Disposition: attachment; name="push[files][]"; filename="x"`, "x") + "--b--",
		"no disposition":              good + servertest.Part(`Content-Type: text/plain`, "x") + "--b--",
		"an open quote":               good + servertest.Part(`Content-Disposition: form-data; name="push[files][]"; filename="x`, "x") + "--b--",
		"two names":                   good + servertest.Part(`Content-Disposition: form-data; name="a"; name="push[files][]"`, "x") + "--b--",
		"a name that is not UTF-8":    good + servertest.Part("Content-Disposition: form-data; name=\"\xff\"", "x") + "--b--",
		"a file name that is not":     good + servertest.Part("Content-Disposition: form-data; name=\"push[files][]\"; filename=\"a\xff\"", "x") + "--b--",
		"an extended one that is not": good + servertest.Part("Content-Disposition: form-data; name=\"push[files][]\"; filename*=UTF-8''a%FF", "x") + "--b--",
		"a text that is not UTF-8":    good + servertest.TextPart("push[payload]", "\xff") + "--b--",
		"a header that is none":       good + servertest.Part("nonsense", "x") + "--b--",
		"a field twice":               good + servertest.TextPart("push[name]", "x") + servertest.TextPart("push[name]", "y") + "--b--",
		"too many fields":             good + strings.Repeat(servertest.TextPart("x", ""), 110) + "--b--",
	} {
		if got := a.Do("POST", pushes, body, servertest.Multi, ann); got.Status != http.StatusBadRequest || got.Problem() != "bad-request" {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	for name, body := range map[string]string{
		"cut in the content":    jsonFiles(filesFirst + `aGk=`)[:40],
		"cut behind the file":   `{"push":{` + filesFirst + `aGk="}]`,
		"not UTF-8":             jsonFiles(filesFirst + "aGk\xff" + `"}]`),
		"half a surrogate pair": jsonFiles(filesFirst + `\ud800"}]`),
		"a duplicate of files":  jsonFiles(`"files":[],"files":[]`),
		"content twice":         jsonFiles(filesFirst + `aGk=","content":"aGk="}]`),
		"more behind it":        jsonFiles(filesFirst+`aGk="}]`) + "{}",
	} {
		if got := a.Do("POST", pushes, body, ann); got.Status != http.StatusBadRequest || got.Problem() != "bad-request" {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	a.WantNothing(ann)
}

// What is known before a file arrives is refused before it arrives.
func TestARefusalDoesNotWaitForAFile(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.FileLimits(2, 1000))
	off := servertest.New(t, func(c *config.Config) { c.EnableFilePushes = false })
	ann, offAnn := a.AddTokenUser("ann@example.com"), off.AddTokenUser("ann@example.com")
	head := strings.TrimSuffix(servertest.FilePart(servertest.File{Name: "f", Media: "", Content: nil}), "\r\n")
	small := servertest.FilePart(servertest.File{Name: "f", Media: "", Content: []byte("x")})
	list := `{"push":{"files":[`
	one := `{"content":"aGk="},`
	for name, c := range map[string]struct {
		a           *servertest.Server
		caller      http.Header
		contentType string
		body        string
		want        int
	}{
		"401, multipart":      {a, nil, "multipart/form-data; boundary=b", head, 401},
		"401, without a name": {a, nil, "multipart/form-data; boundary=b", strings.TrimSuffix(servertest.TextPart("push[files][]", "x"), "\r\n"), 401},
		"401, kind in a form": {a, nil, "multipart/form-data; boundary=b", servertest.TextPart("push[kind]", "file") + "--b\r\n", 401},
		"401, JSON":           {a, nil, "application/json", `{"push":{"files":[{`, 401},
		"401, kind in JSON":   {a, nil, "application/json", `{"push":{"kind":" file","x":`, 401},
		"disabled, multipart": {off, offAnn, "multipart/form-data; boundary=b", head, 422},
		"disabled, JSON":      {off, offAnn, "application/json", list + `{"content":"`, 422},
		"too many, multipart": {a, ann, "multipart/form-data; boundary=b", small + small + head, 422},
		"too many, JSON":      {a, ann, "application/json", list + one + one + `{"content":"`, 422},
		"a declared length":   {a, ann, "multipart/form-data; boundary=b", strings.Replace(head, "\r\n\r\n", "\r\nContent-Length: 1001\r\n\r\n", 1), 413},
		"a real length":       {a, ann, "multipart/form-data; boundary=b", head + strings.Repeat("x", 65<<10), 413},
		"a text":              {a, ann, "application/json", `{"push":{"files":"a",`, 422},
		"a number":            {a, ann, "application/json", list + `{"content":7`, 422},
		"bad base64":          {a, ann, "application/json", list + `{"content":"*******` + strings.Repeat("*", 2000), 422},
		"bad JSON":            {a, ann, "application/json", list + `{"content":"` + "\n", 400},
	} {
		length := servertest.Declared(c.contentType, int64(len(c.body))+10, c.caller)
		chunked := length.Clone()
		chunked.Del("Content-Length")
		chunked.Set("Transfer-Encoding", "chunked")
		for _, l := range []*servertest.Line{
			c.a.Dial(length, c.body),
			c.a.Dial(chunked, strconv.FormatInt(int64(len(c.body)), 16)+"\r\n"+c.body+"\r\n"),
		} {
			if got := l.Want(c.want); got.Header.Get("Connection") != "close" {
				t.Errorf("%s: %v", name, got.Header)
			}
		}
	}
	a.WantNothing(ann)
}

func TestAnUploadThatIsCutLeavesNothing(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	for _, encode := range servertest.FileKinds {
		contentType, body := encode(servertest.FilePush{Files: []servertest.File{{Name: "a", Media: "", Content: servertest.BytesOf(1 << 20)}, {Name: "b", Media: "", Content: servertest.BytesOf(1 << 20)}}})
		for _, cut := range []int{len(body) / 3, len(body) * 2 / 3, len(body) - 1} {
			l := a.Dial(servertest.Declared(contentType, int64(len(body)), ann), body[:cut])
			_ = l.Conn.(*net.TCPConn).CloseWrite()
			l.Want(http.StatusBadRequest)
			a.WantNothing(ann)
		}
	}
}

func TestAnUploadThatStallsIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const stall = time.Second
		a := servertest.InMemory(t, func(c *config.Config) { c.Limits.StallTimeout = stall })
		ann := a.AddTokenUser("ann@example.com")
		for kind, encode := range servertest.FileKinds {
			contentType, body := encode(servertest.FilePush{Files: []servertest.File{{Name: "a", Media: "", Content: servertest.BytesOf(1 << 20)}}})
			l := a.Dial(servertest.Declared(contentType, int64(len(body)), ann), body[:len(body)/2])
			stalled := time.Now()
			if l.Want(http.StatusBadRequest); time.Since(stalled) != stall {
				t.Errorf("%s: it is cut after %v", kind, time.Since(stalled))
			}
		}
		a.WantNothing(ann)
	})
}

// Many files that move hardly at all hold their slot no longer than one.
func TestFilesOfAnUploadStallTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const stall, files = 6 * time.Second, 8 // together less than a test has patience
		a := servertest.InMemory(t, func(c *config.Config) { c.Limits.StallTimeout = stall })
		ann := a.AddTokenUser("ann@example.com")
		l := a.Dial(servertest.Declared("multipart/form-data; boundary=b", 1<<20, ann), "")
		cut := cutAfter(l)
		for range files {
			if _, err := io.WriteString(l, "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"a\"\r\n\r\na"); err != nil {
				break
			}
			time.Sleep(stall * 2 / 3)
			_, _ = io.WriteString(l, "a\r\n")
		}
		if after := <-cut; after > 3*stall {
			t.Errorf("it is cut after %v", after)
		}
		_ = l.Close()
		a.WantNothing(ann)
	})
}

// cutAfter tells how long it takes from now until the server closes a connection.
func cutAfter(l *servertest.Line) <-chan time.Duration {
	begun, cut := time.Now(), make(chan time.Duration, 1)
	go func() {
		_, _ = io.Copy(io.Discard, l)
		cut <- time.Since(begun)
	}()
	return cut
}

// Nor do many files with much time between them.
func TestTheTimeBetweenFilesAddsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const request, files = 10 * time.Second, 8
		a := servertest.InMemory(t, func(c *config.Config) { c.Limits.RequestTimeout = request })
		ann := a.AddTokenUser("ann@example.com")
		l := a.Dial(servertest.Declared("multipart/form-data; boundary=b", 1<<20, ann), "--b\r\n")
		cut := cutAfter(l)
		for range files {
			if _, err := io.WriteString(l, "Content-Disposition: form-data; name=\"push[files][]\"; filename=\"a\"\r\n\r\na\r\n--b\r\n"); err != nil {
				break
			}
			time.Sleep(request * 2 / 3)
		}
		if after := <-cut; after > 3*request {
			t.Errorf("it is cut after %v", after)
		}
		_ = l.Close()
		a.WantNothing(ann)
	})
}

func TestAFullStoreTakesNoFileAndKeepsNothingOfIt(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.MaxStoreSize = 4 << 20 })
	ann := a.AddTokenUser("ann@example.com")
	for _, encode := range servertest.FileKinds {
		contentType, body := encode(servertest.FilePush{Files: []servertest.File{{Name: "a", Media: "", Content: servertest.BytesOf(8 << 20)}}})
		if got := a.Post(contentType, body, ann).Want(http.StatusInsufficientStorage); got.Problem() != "insufficient-storage" {
			t.Errorf("%s", got.Body)
		}
		a.WantNothing(ann)
	}
	f := servertest.File{Name: "a", Media: "a/b", Content: servertest.BytesOf(1 << 20)}
	contentType, body := servertest.FilePush{Files: []servertest.File{f}}.Multipart()
	a.WantFiles(a.Post(contentType, body, ann).Want(http.StatusCreated).Text("url_token"), f)
}

// A token that is revoked while a file arrives creates no push with the file.
func TestARevokedTokenDoesNotFinishItsUpload(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	a.Store.Account("ann@example.com")
	token, err := a.Store.CreateToken(ctx, storetest.Operator, "ann@example.com", store.TokenTerms{})
	env.OK(t, err)
	r, w := io.Pipe()
	req, err := http.NewRequest(http.MethodPost, a.URL+pushes, r)
	env.OK(t, err)
	req.Header = http.Header{"Authorization": {"Bearer " + token.Secret.Reveal()}, "Content-Type": servertest.Multi["Content-Type"]}
	revoked := make(chan error, 1)
	go func() {
		whole := servertest.FilePart(servertest.File{Name: "a", Content: servertest.BytesOf(3 << 20)})
		_, _ = io.WriteString(w, whole[:2<<20]) // by now it was let in
		revoked <- a.Store.RevokeToken(ctx, storetest.Operator, token.ID)
		_, _ = io.WriteString(w, whole[2<<20:]+"--b--\r\n")
		_ = w.Close()
	}()
	res, err := a.Client.RoundTrip(req)
	env.OK(t, err)
	defer res.Body.Close()
	if err := <-revoked; err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d, %v", res.StatusCode, err)
	}
	if a.Store.Orphans() != 0 {
		t.Error("something was left")
	}
}

func TestACallerWhoMayPushNoFilesIsRefusedWhateverTheDeclaredLength(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.MaxBody = 64 << 10 })
	large := servertest.File{Name: "f", Media: "a/b", Content: servertest.BytesOf(1 << 20)}
	for name, encode := range servertest.FileKinds {
		contentType, body := encode(servertest.FilePush{Files: []servertest.File{large}})
		if got := a.Post(contentType, body, nil); got.Status != http.StatusUnauthorized {
			t.Errorf("%v: %d %s", name, got.Status, got.Body)
		}
	}
}
