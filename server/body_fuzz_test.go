package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pushbox/store"
	"pushbox/store/storetest"
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
	if err != nil || kind != "form-data" || !named || !utf8.ValidString(name) {
		return false
	}
	field := pushField.FindStringSubmatch(name)
	if field == nil || field[1] != filesField {
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

// FuzzMultipartFiles holds that a multipart body is taken where a parser that has
// all of it in memory takes it, with the same texts and the same files, and that
// nothing is left of one that is refused.
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
	fixture := storetest.New(f)
	s := newParser(fixture.Store)
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) > maxPartHead {
			return // a part may have too long a header, which slurp does not count
		}
		want, ok := slurp(body)
		// Nothing behind the last line matters, if it is there.
		more, whole := slurp(body + "\r\n--b\r\nContent-Disposition: form-data; name=x\r\n\r\n\r\n--b--")
		ok = ok && whole && more.parts == want.parts
		in, _ := taken(t, s, "multipart/form-data; boundary=b", body)
		err := in.readPush()
		if err == errNoPush && len(want.texts)+len(want.files) == 0 {
			err = nil
		}
		if want.parts <= maxFormFields && ok != (err == nil) {
			t.Fatalf("%v; it is good: %v", err, ok)
		}
		if err != nil {
			in.close()
			wantNoOrphans(t, fixture)
			return
		}
		texts := make(map[string]string)
		for name, v := range in.fields {
			if name != filesField {
				texts[name] = v.text
			}
		}
		if got := contents(t, in); !slices.EqualFunc(got, want.files, bytes.Equal) || !maps.Equal(texts, want.texts) {
			t.Fatalf("%d files and %q; want %d and %q", len(got), texts, len(want.files), want.texts)
		}
		in.close()
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
	fixture := storetest.New(f)
	s := newParser(fixture.Store)
	f.Fuzz(func(t *testing.T, text string, escape, slow bool) {
		if !utf8.ValidString(text) {
			return // it cannot be put into JSON
		}
		want, wantErr := base64.StdEncoding.DecodeString(text)
		in, _ := taken(t, s, typeJSON, `{"push":{"files":[{"content":`+inJSON(t, text, escape)+`}]}}`)
		if slow {
			in.body.src = io.NopCloser(iotest.OneByteReader(in.body.src))
		}
		err := in.readPush()
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v; encoding/base64: %v", err, wantErr)
		}
		if err != nil {
			if err.Error() != "files content is not valid base64" {
				t.Fatal(err)
			}
			in.close()
			wantNoOrphans(t, fixture)
			return
		}
		if got := contents(t, in); len(got) != 1 || !bytes.Equal(got[0], want) {
			t.Fatalf("%q, not %q", got, want)
		}
		in.close()
	})
}

// wantNoOrphans fails the test if chunks of files are there that belong to no push.
func wantNoOrphans(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	if ids, err := f.Engine().Orphans(t.Context(), store.ID{}, 1); len(ids) > 0 || err != nil {
		t.Fatalf("there are some: %v, %v", ids, err)
	}
}

// inJSON is a text as a string of JSON: as encoding/json writes it, or with an
// escape for each character that has a short one.
func inJSON(t *testing.T, text string, escape bool) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	if !escape {
		return string(b)
	}
	return strings.NewReplacer("/", `\/`, "A", `\u0041`, "=", `\u003d`).Replace(string(b))
}
