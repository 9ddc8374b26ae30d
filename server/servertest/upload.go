package servertest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/storetest"
)

// A File is a file to push, or a downloaded one.
type File struct {
	Name, Media string
	Content     []byte
}

// BytesOf returns n bytes that cannot be compressed, always the same ones.
func BytesOf(n int) []byte { return storetest.Content(uint64(n), n) }

// A FilePush is a create request: its fields before and after the files, and the files.
type FilePush struct {
	Before, After map[string]string
	Files         []File
}

// Multipart returns the push as multipart/form-data.
func (p FilePush) Multipart() (contentType, body string) {
	var b strings.Builder
	for name, text := range p.Before {
		b.WriteString(TextPart("push["+name+"]", text))
	}
	for _, f := range p.Files {
		b.WriteString(FilePart(f))
	}
	for name, text := range p.After {
		b.WriteString(TextPart("push["+name+"]", text))
	}
	return Multi.Get("Content-Type"), b.String() + "--b--\r\n"
}

// Multi is the header of multipart bodies here. Their boundary is b.
var Multi = http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}

// Part returns a part of a multipart body, with this header.
func Part(head, content string) string {
	return "--b\r\n" + head + "\r\n\r\n" + content + "\r\n"
}

// TextPart returns a part of a multipart body that is a field.
func TextPart(name, text string) string {
	return Part(`Content-Disposition: form-data; name="`+name+`"`, text)
}

// FilePart returns a part of a multipart body that is a file.
func FilePart(f File) string {
	head := `Content-Disposition: form-data; name="push[files][]"; filename="` + f.Name + `"`
	if f.Media != "" {
		head += "\r\nContent-Type: " + f.Media
	}
	return Part(head, string(f.Content))
}

// JSON returns the push as JSON.
func (p FilePush) JSON() (contentType, body string) {
	var members []string
	add := func(fields map[string]string) {
		for name, text := range fields {
			members = append(members, Quoted(name)+":"+Quoted(text))
		}
	}
	var files []string
	for _, f := range p.Files {
		files = append(files, `{"filename":`+Quoted(f.Name)+`,"content_type":`+Quoted(f.Media)+
			`,"content":"`+base64.StdEncoding.EncodeToString(f.Content)+`"}`)
	}
	add(p.Before)
	members = append(members, `"files":[`+strings.Join(files, ",")+`]`)
	add(p.After)
	return "application/json", `{"push":{` + strings.Join(members, ",") + `}}`
}

// Quoted returns a text as JSON.
func Quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// FileKinds are the ways to send files, by name.
var FileKinds = map[string]func(FilePush) (contentType, body string){
	"multipart": FilePush.Multipart,
	"JSON":      FilePush.JSON,
}

// Post sends a create request with a body of that type as that caller.
func (a *Server) Post(contentType, body string, caller http.Header) Answer {
	a.T.Helper()
	return a.Do("POST", pushes, body, http.Header{"Content-Type": {contentType}}, caller)
}

// FilesOf retrieves a push and downloads its files from the store.
func (a *Server) FilesOf(urlToken string) (files []File) {
	a.T.Helper()
	t := env.Must(store.ParseToken(urlToken))(a.T)
	p := env.Must(a.Store.Retrieve(ctx, store.Actor{Client: "192.0.2.9"}, t, secret.Text{}, nil))(a.T)
	for i, info := range p.Files {
		content, err := storetest.Download(a.Store, p.Grant, i)
		if err != nil || int64(len(content)) != info.Size {
			a.T.Fatalf("file %d: %d bytes of %d, %v", i, len(content), info.Size, err)
		}
		files = append(files, File{info.Name.Reveal(), info.ContentType, content})
	}
	return files
}

// WantFiles fails the test unless the push has just these files.
func (a *Server) WantFiles(urlToken string, want ...File) {
	a.T.Helper()
	got := a.FilesOf(urlToken)
	if len(got) != len(want) {
		a.T.Fatalf("%d files, not %d", len(got), len(want))
	}
	for i, w := range want {
		if got[i].Name != w.Name || got[i].Media != w.Media || !bytes.Equal(got[i].Content, w.Content) {
			a.T.Errorf("file %d is %q of type %q with %d bytes; want %q, %q, %d",
				i, got[i].Name, got[i].Media, len(got[i].Content), w.Name, w.Media, len(w.Content))
		}
	}
}

// WantNothing fails the test if an account has a push, or the store any part of
// a file.
func (a *Server) WantNothing(caller http.Header) {
	a.T.Helper()
	if list := a.Get(pushes+"/active", caller).Want(http.StatusOK).List(); len(list) > 0 {
		a.T.Errorf("%d pushes are there", len(list))
	}
	if n := a.Store.Orphans(); n > 0 {
		a.T.Errorf("chunks of %d uploads are there", n)
	}
}

// A Line is a connection on which a test writes the bytes of a request.
type Line struct {
	T *testing.T
	net.Conn
}

// Dial begins a create request: it sends the header and the given beginning of the body.
func (a *Server) Dial(header http.Header, body string) *Line {
	a.T.Helper()
	var head strings.Builder
	head.WriteString("POST " + pushes + " HTTP/1.1\r\nHost: box\r\n")
	_ = header.Write(&head)
	l := &Line{a.T, a.Connect()}
	l.send(head.String() + "\r\n" + body)
	return l
}

func (l *Line) send(text string) {
	l.T.Helper()
	env.Must(io.WriteString(l, text))(l.T)
}

// Want fails the test unless an answer with that status arrives, although nothing more
// is sent. It returns the answer and closes the connection.
func (l *Line) Want(status int) Answer {
	l.T.Helper()
	defer l.Close()
	res, err := http.ReadResponse(bufio.NewReader(l), nil)
	if err != nil {
		l.T.Fatalf("no answer, where %d should come: %v", status, err)
	}
	defer res.Body.Close()
	body := env.Must(io.ReadAll(res.Body))(l.T)
	if res.Close {
		res.Header.Set("Connection", "close") // which net/http took out
	}
	return Answer{l.T, res.StatusCode, res.Header, string(body)}.Want(status)
}

// Declared returns the header of a request with a body of that type and length.
func Declared(contentType string, length int64, caller http.Header) http.Header {
	h := caller.Clone()
	if h == nil {
		h = make(http.Header)
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.FormatInt(length, 10))
	return h
}
