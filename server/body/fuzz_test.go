package body

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pushbox/internal/limit"
	"pushbox/internal/testkit/env"
)

// slurped is what a multipart body holds, read in the simplest way there is.
type slurped struct {
	parts int
	texts map[string]string
	files [][]byte
}

var pushField = regexp.MustCompile(`^push\[([^\]]+)\](\[|$)`)

// slurp reads a multipart body whose boundary is b. It is false where the body is
// to be refused.
func slurp(body string) (s slurped, ok bool) {
	s.texts = make(map[string]string)
	r := multipart.NewReader(strings.NewReader(body), "b")
	for {
		part, err := r.NextRawPart()
		if err == io.EOF {
			return s, true
		}
		if err != nil {
			return s, false
		}
		content, err := io.ReadAll(part)
		if err != nil || !s.take(part.Header.Get("Content-Disposition"), part.Header.Get("Content-Length"), content) {
			return s, false
		}
		s.parts++
	}
}

// take adds a part, and tells whether that may be.
func (s *slurped) take(disposition, length string, content []byte) bool {
	kind, params, err := mime.ParseMediaType(disposition)
	name, named := params["name"]
	if err != nil || kind != "form-data" || !named || !utf8.ValidString(name) || !utf8.ValidString(params["filename"]) {
		return false
	}
	field := pushField.FindStringSubmatch(name)
	if field == nil || field[1] != "files" {
		return s.takeText(field, content)
	}
	filename, isFile := params["filename"]
	isFile = isFile || strings.Contains(strings.ToLower(disposition), "filename*")
	if filename == "" && len(content) == 0 {
		return true
	}
	s.files = append(s.files, content)
	size, _ := strconv.ParseInt(length, 10, 64)
	return isFile && len(s.files) <= 10 && size <= 1<<30
}

func (s *slurped) takeText(field []string, content []byte) bool {
	if !utf8.Valid(content) {
		return false
	}
	if field == nil {
		return true
	}
	_, twice := s.texts[field[1]]
	if field[2] == "[" { // a list has no text
		content, twice = nil, false
	}
	s.texts[field[1]] = string(content)
	return !twice
}

// A pushSink keeps what a body has, in memory.
type pushSink struct {
	texts map[string]string
	files [][]byte
}

func (s *pushSink) Field(name string, v Value) error {
	if _, twice := s.texts[name]; twice && v.Shape == String {
		return ErrTwice
	}
	if name != "files" {
		s.texts[name] = v.Text.Reveal()
	}
	return nil
}

func (s *pushSink) File(f *File) error {
	if len(s.files) == 10 || f.Declared > 1<<30 {
		return BadFile("is one too many, or too large")
	}
	file, err := io.ReadAll(f)
	s.files = append(s.files, file)
	return err
}

func (s *pushSink) Describe(string, string) {}

func (s *pushSink) Expect(int64) error { return nil }

// readPush reads a body as that of a push.
func readPush(t *testing.T, mediaType string, content io.Reader) (*pushSink, error) {
	t.Helper()
	s := &pushSink{texts: make(map[string]string)}
	hr := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", content)
	hr.Header.Set("Content-Type", mediaType)
	all := limit.NewMemory(64<<20, memoryWait)
	memory := all.Reserve(limit.Holder{})
	r := NewReader(hr, nil)
	err := Read(t.Context(), &r, Options{
		Object: "push", JSON: true, MaxText: 8 << 20, Memory: &memory,
		Files: s, FilesField: "files", MaxFiles: 10, MaxFileSize: 1 << 30,
	}, s)
	return s, err
}

// FuzzMultipartFiles holds that a multipart body is taken where a parser that has
// all of it in memory takes it, with the same texts and the same files.
func FuzzMultipartFiles(f *testing.F) {
	head := "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"f\"\r\n\r\n"
	text := "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"\r\n\r\nx\r\n"
	for _, body := range []string{
		head + "hello\r\n--b--\r\n", text + head + "hello\r\n" + text, text + head + "a\r\n--b-\r\n" + head + "\r\n--b--", head + "x\r\n--b", head + "x\r\n--b\r\n",
		head + "\r\n" + head + "x\r\n--b--  \r\nepilogue", "preamble\r\n" + text + "--b--", strings.ReplaceAll(head+"x\r\n--b--", "\r\n", "\n"),
		strings.Replace(head, "\"f\"", "\"\"", 1) + "\r\n" + text + "--b--", strings.Replace(head, "; filename=\"f\"", "", 1) + "x\r\n--b--",
		strings.Replace(head, "\"f\"", "\"f\"; filename*=UTF-8''%22", 1) + "x\r\n--b--", strings.Replace(head, "\r\n\r\n", "\r\nContent-Length: 2000000000\r\n\r\n", 1) + "x\r\n--b--",
		"--b--", "", text + text + "--b--", strings.Repeat(head+"x\r\n", 11) + "--b--",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) > maxPartHead {
			return // a part may have too long a header, which slurp does not count
		}
		want, ok := slurp(body)
		// Nothing behind the last line matters, if it is there.
		more, whole := slurp(body + "\r\n--b\r\nContent-Disposition: form-data; name=x\r\n\r\n\r\n--b--")
		ok = ok && whole && more.parts == want.parts
		got, err := readPush(t, "multipart/form-data; boundary=b", strings.NewReader(body))
		if want.parts <= maxFields && ok != (err == nil) {
			t.Fatalf("%v; it is good: %v", err, ok)
		}
		if err == nil && (!slices.EqualFunc(got.files, want.files, bytes.Equal) || !maps.Equal(got.texts, want.texts)) {
			t.Fatalf("%d files and %q; want %d and %q", len(got.files), got.texts, len(want.files), want.texts)
		}
	})
}

// FuzzBase64Files holds that a text is taken as a file where encoding/base64
// takes it as a whole, and that the file is the same, however the text is
// escaped and in whatever pieces it comes.
func FuzzBase64Files(f *testing.F) {
	for _, text := range []string{
		"", "aGk=", "aGk", "aGk=\r\n", "a\nG\r\nk=", "aGk=aGk=", "aG==", "aG=", "=", "====", "aGkh====", "aGkh", "-_-_", "aGk=\x00", " aGk=", "é",
		strings.Repeat("QUJD", 300) + "QQ==", strings.Repeat("QUJD\n", 300), strings.Repeat("QQ==", 300), "aG\n==", "aG=\n=", "aGl=",
	} {
		f.Add(text, false, false)
		f.Add(text, true, true)
	}
	f.Fuzz(func(t *testing.T, text string, escape, slow bool) {
		if !utf8.ValidString(text) {
			return // it cannot be put into JSON
		}
		if strings.Count(text, "\r")+strings.Count(text, "\n") > freeBreaks {
			return // too many line breaks, which encoding/base64 does not count
		}
		want, wantErr := base64.StdEncoding.DecodeString(text)
		var content io.Reader = strings.NewReader(`{"push":{"files":[{"content":` + inJSON(t, text, escape) + `}]}}`)
		if slow {
			content = iotest.OneByteReader(content)
		}
		got, err := readPush(t, TypeJSON, content)
		switch {
		case (err == nil) != (wantErr == nil):
			t.Fatalf("%v; encoding/base64: %v", err, wantErr)
		case err != nil && err != BadFile("content is not valid base64"):
			t.Fatal(err)
		case err == nil && (len(got.files) != 1 || !bytes.Equal(got.files[0], want)):
			t.Fatalf("%q, not %q", got.files, want)
		}
	})
}

// inJSON is a text as a string of JSON: as encoding/json writes it, or with an
// escape for each character that has a short one.
func inJSON(t *testing.T, text string, escape bool) string {
	t.Helper()
	b := env.Must(json.Marshal(text))(t)
	if !escape {
		return string(b)
	}
	return strings.NewReplacer("/", `\/`, "A", `\u0041`, "=", `\u003d`).Replace(string(b))
}

// FuzzPairs holds that a form or query is read as net/url reads one in which
// nothing but & separates, or refused.
func FuzzPairs(f *testing.F) {
	for _, text := range []string{"a=b&c=d", "a=1;b=2", "a=b=c&=&&x", "push%5Bpayload%5D=%C3%A4+%2B", "a=%zz", "a=%ff", "a&a=", strings.Repeat("a&", 101), "\x00=\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := url.ParseQuery(strings.ReplaceAll(text, ";", "%3B"))
		pairs, ours := ParseQuery(text)
		n, valid := 0, true
		for name, texts := range want {
			n += len(texts)
			valid = valid && utf8.ValidString(name) && !slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
		}
		if ok := err == nil && valid && n <= maxFields; ok != (ours == nil) {
			t.Fatalf("%q: %v; net/url: %v, in UTF-8: %t, %d fields", text, ours, err, valid, n)
		}
		if ours != nil {
			return
		}
		got := make(url.Values)
		for _, p := range pairs {
			got.Add(p.Name, p.Text.Reveal())
		}
		if got.Encode() != want.Encode() {
			t.Fatalf("%q is %v, not %v", text, got, want)
		}
	})
}
