package server_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/config"
)

// jsonFiles is a create request with these members of a push.
func jsonFiles(members string) string { return `{"push":{` + members + `}}` }

const (
	badBase64  = "content is not valid base64"
	howToSend  = "must be sent as multipart/form-data, each with a filename, or in JSON as a list of objects with filename and content in base64"
	filesFirst = `"files":[{"filename":"a","content":"` // the content goes on
)

func TestFilesThatAreRefusedAndWhy(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	large := base64.StdEncoding.EncodeToString(bytesOf(2 << 20)) // more than is kept at a time
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
		got := a.do("POST", pushes, jsonFiles(members), ann)
		if got.want(http.StatusUnprocessableEntity); got.body != `{"files":[`+quoted(want)+"]}\n" {
			t.Errorf("%.80s: %s", members, got.body)
		}
	}
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for name, got := range map[string]answer{
		"a form":               a.do("POST", pushes, "push[payload]=x&push[files][]=a", form, ann),
		"a form with objects":  a.do("POST", pushes, "push[files][0][filename]=a&push[files][0][content]=aGk%3D", form, ann),
		"a part without name":  a.do("POST", pushes, textPart("push[files][]", "a")+"--b--", multi, ann),
		"a part of a text box": a.do("POST", pushes, textPart("push[files]", "\r\n")+"--b--", multi, ann),
	} {
		if got.want(http.StatusUnprocessableEntity); got.body != `{"files":[`+quoted(howToSend)+"]}\n" {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	a.wantNothing(ann)
}

func TestAFieldThatIsRefusedLeavesNothingOfTheFiles(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	files := []file{{"a", "", bytesOf(1 << 20)}, {"b", "", nil}}
	for field, text := range map[string]string{"expire_after_days": "0", "expire_after_views": "x", "kind": "text", "name": strings.Repeat("n", 256)} {
		for _, p := range []filePush{
			{files: files, after: map[string]string{field: text}},
			{files: files, before: map[string]string{field: text}},
		} {
			for _, encode := range fileKinds {
				contentType, body := encode(p)
				got := a.post(contentType, body, ann)
				if fields := got.invalid(); !slices.Equal(fields, []string{field}) {
					t.Errorf("%s: %s", field, got.body)
				}
			}
		}
	}
	a.store.SweepAll()
	a.wantNothing(ann)
}

func TestBadMultipartBodiesLeaveNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	good := filePart(file{"a", "a/b", bytesOf(100_000)})
	for name, body := range map[string]string{
		"cut in the content":          good[:50_000],
		"cut before the last line":    good,
		"cut in the last line":        good + "--b",
		"cut behind a line between":   good + "--b\r\n",
		"cut in a header":             good + "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"",
		"cut in the next text":        good + strings.TrimSuffix(textPart("push[payload]", "x"), "\r\n"),
		"half of the last line's end": good + "--b-",
		"no name":                     good + part(`Content-Disposition: form-data; filename="x"`, "x") + "--b--",
		"no form-data":                good + part(`Content-Disposition: attachment; name="push[files][]"; filename="x"`, "x") + "--b--",
		"no disposition":              good + part(`Content-Type: text/plain`, "x") + "--b--",
		"an open quote":               good + part(`Content-Disposition: form-data; name="push[files][]"; filename="x`, "x") + "--b--",
		"two names":                   good + part(`Content-Disposition: form-data; name="a"; name="push[files][]"`, "x") + "--b--",
		"a name that is not UTF-8":    good + part("Content-Disposition: form-data; name=\"\xff\"", "x") + "--b--",
		"a file name that is not":     good + part("Content-Disposition: form-data; name=\"push[files][]\"; filename=\"a\xff\"", "x") + "--b--",
		"an extended one that is not": good + part("Content-Disposition: form-data; name=\"push[files][]\"; filename*=UTF-8''a%FF", "x") + "--b--",
		"a text that is not UTF-8":    good + textPart("push[payload]", "\xff") + "--b--",
		"a header that is none":       good + part("nonsense", "x") + "--b--",
		"a field twice":               good + textPart("push[name]", "x") + textPart("push[name]", "y") + "--b--",
		"too many fields":             good + strings.Repeat(textPart("x", ""), 110) + "--b--",
	} {
		if got := a.do("POST", pushes, body, multi, ann); got.status != http.StatusBadRequest || got.problem() != "bad-request" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
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
		if got := a.do("POST", pushes, body, ann); got.status != http.StatusBadRequest || got.problem() != "bad-request" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	a.wantNothing(ann)
}

// What is known before a file has come is told before it comes.
func TestARefusalDoesNotWaitForAFile(t *testing.T) {
	t.Parallel()
	a := newAPI(t, fileLimits(2, 1000))
	off := newAPI(t, func(c *config.Config) { c.EnableFilePushes = false })
	ann, offAnn := a.user("ann@example.com"), off.user("ann@example.com")
	head := strings.TrimSuffix(filePart(file{"f", "", nil}), "\r\n")
	small := filePart(file{"f", "", []byte("x")})
	list := `{"push":{"files":[`
	one := `{"content":"aGk="},`
	for name, c := range map[string]struct {
		a           *api
		caller      http.Header
		contentType string
		body        string
		want        int
	}{
		"401, multipart":      {a, nil, "multipart/form-data; boundary=b", head, 401},
		"401, an empty field": {a, nil, "multipart/form-data; boundary=b", textPart("push[files][]", "") + "--b", 401},
		"401, kind in a form": {a, nil, "multipart/form-data; boundary=b", textPart("push[kind]", "file") + "--b\r\n", 401},
		"401, JSON":           {a, nil, "application/json", `{"push":{"files":`, 401},
		"401, kind in JSON":   {a, nil, "application/json", `{"push":{"kind":" file","x":`, 401},
		"disabled, multipart": {off, offAnn, "multipart/form-data; boundary=b", head, 422},
		"disabled, JSON":      {off, offAnn, "application/json", list + `{"content":"`, 422},
		"too many, multipart": {a, ann, "multipart/form-data; boundary=b", small + small + head, 422},
		"too many, JSON":      {a, ann, "application/json", list + one + one + `{"content":"`, 422},
		"a declared length":   {a, ann, "multipart/form-data; boundary=b", strings.Replace(head, "\r\n\r\n", "\r\nContent-Length: 1001\r\n\r\n", 1), 413},
		"a real length":       {a, ann, "multipart/form-data; boundary=b", head + strings.Repeat("x", 65<<10), 413},
		"a text":              {a, ann, "application/json", `{"push":{"files":"`, 422},
		"a number":            {a, ann, "application/json", list + `{"content":7`, 422},
		"bad base64":          {a, ann, "application/json", list + `{"content":"*******` + strings.Repeat("*", 2000), 422},
		"bad JSON":            {a, ann, "application/json", list + `{"content":"` + "\n", 400},
	} {
		length := declared(c.contentType, int64(len(c.body))+10, c.caller)
		chunked := length.Clone()
		chunked.Del("Content-Length")
		chunked.Set("Transfer-Encoding", "chunked")
		for _, l := range []*line{
			c.a.dial(length, c.body),
			c.a.dial(chunked, strconv.FormatInt(int64(len(c.body)), 16)+"\r\n"+c.body+"\r\n"),
		} {
			if got := l.want(c.want); got.header.Get("Connection") != "close" {
				t.Errorf("%s: %v", name, got.header)
			}
		}
	}
	a.wantNothing(ann)
}

func TestAnUploadThatIsCutLeavesNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	for _, encode := range fileKinds {
		contentType, body := encode(filePush{files: []file{{"a", "", bytesOf(1 << 20)}, {"b", "", bytesOf(1 << 20)}}})
		for _, cut := range []int{len(body) / 3, len(body) * 2 / 3, len(body) - 1} {
			l := a.dial(declared(contentType, int64(len(body)), ann), body[:cut])
			_ = l.CloseWrite()
			l.want(http.StatusBadRequest)
			a.wantNothing(ann)
		}
	}
}

func TestAnUploadThatStallsIsCut(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.Limits.StallTimeout = 100 * time.Millisecond })
	ann := a.user("ann@example.com")
	for _, encode := range fileKinds {
		contentType, body := encode(filePush{files: []file{{"a", "", bytesOf(1 << 20)}}})
		l := a.dial(declared(contentType, int64(len(body)), ann), body[:len(body)/2])
		l.want(http.StatusBadRequest)
	}
	a.wantNothing(ann)
}

func TestAFullStoreTakesNoFileAndKeepsNothingOfIt(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.MaxStoreSize = 4 << 20 })
	ann := a.user("ann@example.com")
	for _, encode := range fileKinds {
		contentType, body := encode(filePush{files: []file{{"a", "", bytesOf(8 << 20)}}})
		if got := a.post(contentType, body, ann).want(http.StatusInsufficientStorage); got.problem() != "insufficient-storage" {
			t.Errorf("%s", got.body)
		}
		a.wantNothing(ann)
	}
	f := file{"a", "a/b", bytesOf(1 << 20)}
	contentType, body := filePush{files: []file{f}}.multipart()
	a.wantFiles(a.post(contentType, body, ann).want(http.StatusCreated).text("url_token"), f)
}

func TestNamesAndContentsOfFilesAreNowhereInClear(t *testing.T) {
	t.Parallel()
	const marker = "MARKER-of-a-file"
	a := newAPI(t)
	ann := a.user("ann@example.com")
	for _, encode := range fileKinds {
		contentType, body := encode(filePush{files: []file{{marker, "x/" + marker, bytes.Repeat([]byte(marker), 10)}}})
		got := a.post(contentType, body, ann).want(http.StatusCreated)
		bad := a.post(contentType, body[:len(body)-1]+"*", ann)
		if strings.Contains(got.body+bad.body+a.log.String(), marker) {
			t.Errorf("it is in an answer or in the log: %s %s", got.body, bad.body)
		}
	}
}

// A token that is revoked while a file comes creates no push with it.
func TestARevokedTokenDoesNotFinishItsUpload(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.store.Account("ann@example.com")
	token, err := a.store.CreateToken(ctx, "ann@example.com", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	req, err := http.NewRequest(http.MethodPost, a.url+pushes, r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + token.Secret.Reveal()}, "Content-Type": multi["Content-Type"]}
	revoked := make(chan error, 1)
	go func() {
		whole := filePart(file{name: "a", content: bytesOf(3 << 20)})
		_, _ = io.WriteString(w, whole[:2<<20]) // by now it was let in
		revoked <- a.store.RevokeToken(ctx, token.ID)
		_, _ = io.WriteString(w, whole[2<<20:]+"--b--\r\n")
		_ = w.Close()
	}()
	res, err := a.client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := <-revoked; err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d, %v", res.StatusCode, err)
	}
	if a.store.Orphans() != 0 {
		t.Error("something was left")
	}
}

func TestWhoMayPushNoFilesIsToldSoHoweverMuchWasDeclared(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.Limits.MaxBody = 64 << 10 })
	large := file{"f", "a/b", bytesOf(1 << 20)}
	for name, encode := range fileKinds {
		contentType, body := encode(filePush{files: []file{large}})
		if got := a.post(contentType, body, nil); got.status != http.StatusUnauthorized {
			t.Errorf("%v: %d %s", name, got.status, got.body)
		}
	}
}
