package store

import (
	"strings"
	"testing"
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
