package store

import (
	"reflect"
	"strings"
	"testing"

	"pushbox/internal/secret"
)

func TestAContentTypeIsKeptWhereItIsOne(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return "text/plain; a=" + strings.Repeat("b", n-len("text/plain; a=")) }
	for given, want := range map[string]string{
		"text/plain":                    "text/plain",
		"text/plain; charset=UTF-8":     "text/plain; charset=UTF-8",
		"TEXT/Plain":                    "TEXT/Plain",
		"image/svg+xml":                 "image/svg+xml",
		"application/vnd.ms-excel":      "application/vnd.ms-excel",
		`text/plain; a="b c"`:           `text/plain; a="b c"`,
		"text/plain;":                   "text/plain;",
		" text/plain\r\n":               "text/plain",
		long(255):                       long(255),
		long(256):                       noContentType,
		"":                              noContentType,
		"text":                          noContentType,
		"/plain":                        noContentType,
		"text/":                         noContentType,
		"text/plain/more":               noContentType,
		"text plain":                    noContentType,
		"text/plain, text/html":         noContentType,
		"text/plain; a":                 noContentType,
		"text/plain; a=b; a=c":          noContentType,
		"text/plain\r\nX-Evil: 1":       noContentType,
		"text/plain;\r\n a=b":           noContentType,
		"text/\x00plain":                noContentType,
		"text/plain; a=\"\x1b[2J\"":     noContentType,
		"text/plain; a=\"\x7f\"":        noContentType,
		"text/plain; a=\"\u202efdp\"":   noContentType,
		"text/plain; a=\"\xff\"":        noContentType,
		"text/pl\u00e9in":               noContentType,
		"<script>alert(1)</script>/x":   noContentType,
		"text/html; a=\"<script>\"":     "text/html; a=\"<script>\"",
		"multipart/form-data; boundary": noContentType,
	} {
		if got := contentType(given); got != want {
			t.Errorf("%+q became %+q, want %+q", given, got, want)
		}
	}
}

func TestAListOfFilesComesBackAsItWas(t *testing.T) {
	t.Parallel()
	for _, files := range [][]FileInfo{
		{},
		{{Name: secret.New("a.txt"), ContentType: "text/plain", Size: 1<<63 - 1}},
		{{Name: secret.New("报告.pdf"), ContentType: "application/pdf", Size: 3}, {Name: secret.New("file"), Size: 0}},
	} {
		b := encodeFiles(files)
		got, err := decodeFiles(b)
		if err != nil || !reflect.DeepEqual(got, files) {
			t.Errorf("%+v became %+v, %v", files, got, err)
		}
		for n := range b {
			if _, err := decodeFiles(b[:n]); err == nil {
				t.Errorf("%d of %d bytes are accepted", n, len(b))
			}
		}
		if _, err := decodeFiles(append(b, 0)); err == nil {
			t.Error("a byte more is accepted")
		}
	}
}
