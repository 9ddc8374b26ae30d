package server_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/store"
)

// A file is one to be pushed, or one as the store gives it.
type file struct {
	name, media string
	content     []byte
}

// bytesOf are n bytes that compress to nothing, the same each time.
func bytesOf(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

// A filePush is a create request in parts: those of the fields, as they stand in
// the body, before and after the files.
type filePush struct {
	before, after map[string]string
	files         []file
}

// multipart is the push as multipart/form-data.
func (p filePush) multipart() (contentType, body string) {
	var b strings.Builder
	for name, text := range p.before {
		b.WriteString(textPart("push["+name+"]", text))
	}
	for _, f := range p.files {
		b.WriteString(filePart(f))
	}
	for name, text := range p.after {
		b.WriteString(textPart("push["+name+"]", text))
	}
	return multi.Get("Content-Type"), b.String() + "--b--\r\n"
}

// multi is the type of the multipart bodies here, whose boundary is b.
var multi = http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}

// part is a part with a header.
func part(head, content string) string {
	return "--b\r\n" + head + "\r\n\r\n" + content + "\r\n"
}

func textPart(name, text string) string {
	return part(`Content-Disposition: form-data; name="`+name+`"`, text)
}

func filePart(f file) string {
	head := `Content-Disposition: form-data; name="push[files][]"; filename="` + f.name + `"`
	if f.media != "" {
		head += "\r\nContent-Type: " + f.media
	}
	return part(head, string(f.content))
}

// json is the push as JSON.
func (p filePush) json() (contentType, body string) {
	var members []string
	add := func(fields map[string]string) {
		for name, text := range fields {
			members = append(members, quoted(name)+":"+quoted(text))
		}
	}
	var files []string
	for _, f := range p.files {
		files = append(files, `{"filename":`+quoted(f.name)+`,"content_type":`+quoted(f.media)+
			`,"content":"`+base64.StdEncoding.EncodeToString(f.content)+`"}`)
	}
	add(p.before)
	members = append(members, `"files":[`+strings.Join(files, ",")+`]`)
	add(p.after)
	return "application/json", `{"push":{` + strings.Join(members, ",") + `}}`
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// fileKinds are the ways to send files.
var fileKinds = map[string]func(filePush) (contentType, body string){
	"multipart": filePush.multipart,
	"JSON":      filePush.json,
}

// post sends a body of that type as that caller.
func (a *api) post(contentType, body string, caller http.Header) answer {
	a.t.Helper()
	return a.do("POST", pushes, body, http.Header{"Content-Type": {contentType}}, caller)
}

// filesOf retrieves a push and downloads its files from the store.
func (a *api) filesOf(urlToken string) (files []file) {
	a.t.Helper()
	t, err := store.ParseToken(urlToken)
	if err != nil {
		a.t.Fatal(err)
	}
	p, err := a.store.Retrieve(ctx, store.Actor{Client: "192.0.2.9"}, t, secret.Text{})
	if err != nil {
		a.t.Fatal(err)
	}
	for i, info := range p.Files {
		d, err := a.store.Download(ctx, p.Grant, i)
		if err != nil {
			a.t.Fatalf("file %d: %v", i, err)
		}
		content, err := io.ReadAll(d)
		d.Close()
		if err != nil || int64(len(content)) != info.Size {
			a.t.Fatalf("file %d: %d bytes of %d, %v", i, len(content), info.Size, err)
		}
		files = append(files, file{info.Name.Reveal(), info.ContentType, content})
	}
	return files
}

// wantFiles fails the test unless the push has just these files.
func (a *api) wantFiles(urlToken string, want ...file) {
	a.t.Helper()
	got := a.filesOf(urlToken)
	if len(got) != len(want) {
		a.t.Fatalf("%d files, not %d", len(got), len(want))
	}
	for i, w := range want {
		if got[i].name != w.name || got[i].media != w.media || !bytes.Equal(got[i].content, w.content) {
			a.t.Errorf("file %d is %q of type %q with %d bytes; want %q, %q, %d",
				i, got[i].name, got[i].media, len(got[i].content), w.name, w.media, len(w.content))
		}
	}
}

// wantNothing fails the test if an account has a push, or the store any part of
// a file.
func (a *api) wantNothing(caller http.Header) {
	a.t.Helper()
	if list := a.get(pushes+"/active", caller).want(http.StatusOK).list(); len(list) > 0 {
		a.t.Errorf("%d pushes are there", len(list))
	}
	if n := a.store.Orphans(); n > 0 {
		a.t.Errorf("chunks of %d uploads are there", n)
	}
}

// A line is a connection on which a request is written by hand.
type line struct {
	t *testing.T
	*net.TCPConn
}

// dial begins a create request: its header, then whatever of its body.
func (a *api) dial(header http.Header, body string) *line {
	a.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	var head strings.Builder
	head.WriteString("POST " + pushes + " HTTP/1.1\r\nHost: box\r\n")
	_ = header.Write(&head)
	l := &line{a.t, c.(*net.TCPConn)}
	l.send(head.String() + "\r\n" + body)
	return l
}

func (l *line) send(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l, text); err != nil {
		l.t.Fatal(err)
	}
}

// want fails the test unless an answer of that status comes, although nothing
// more is sent, and returns it. It closes the connection.
func (l *line) want(status int) answer {
	l.t.Helper()
	defer l.Close()
	res, err := http.ReadResponse(bufio.NewReader(l), nil)
	if err != nil {
		l.t.Fatalf("no answer, where %d should come: %v", status, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	if res.Close {
		res.Header.Set("Connection", "close") // which net/http took out
	}
	return answer{l.t, res.StatusCode, res.Header, string(body)}.want(status)
}

// declared is the header of a request with a body of that type and length.
func declared(contentType string, length int64, caller http.Header) http.Header {
	h := caller.Clone()
	if h == nil {
		h = make(http.Header)
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.FormatInt(length, 10))
	return h
}

// fileLimits allow of files what a test can afford.
func fileLimits(count, size int) func(*config.Config) {
	return func(c *config.Config) {
		c.Files.MaxFileUploads, c.Files.MaxFileSize = count, config.Size(size)
	}
}
