package api

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
)

// FuzzRange checks that a part is the same part of a slice, and that net/http agrees
// wherever it understands the header.
func FuzzRange(f *testing.F) {
	for _, h := range []string{"bytes=0-0", "bytes=5-", "bytes=-5", "bytes=-0", "bytes=9-5", "bytes=10-", "BYTES=1-2", "bytes= 1-2 ", "bytes=1-2,4-5", "bytes=", "bytes=-", "lines=1-2", "bytes=18446744073709551616-", "bytes=-84467440737095516161", ""} {
		f.Add(h, uint16(10))
	}
	f.Fuzz(func(t *testing.T, header string, size uint16) {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(i * 7)
		}
		part, partial, err := parseRange(header, int64(size))
		theirs := httptest.NewRecorder()
		req := httptest.NewRequest(http.MethodGet, "/", nil)
		req.Header.Set("Range", header)
		http.ServeContent(theirs, req, "x", time.Time{}, bytes.NewReader(content))
		switch {
		case err != nil:
			// A suffix of no bytes is not satisfiable by RFC 9110 section 14.1.2; to net/http it is.
			if theirs.Code != http.StatusRequestedRangeNotSatisfiable && theirs.Body.Len() > 0 {
				t.Errorf("%q of %d is refused, net/http says %d", header, size, theirs.Code)
			}
		case partial:
			if part.From < 0 || part.Length < 1 || part.From+part.Length > int64(size) {
				t.Fatalf("%q of %d is %+v", header, size, part)
			}
			if !strings.EqualFold(header[:6], "bytes=") || header[:6] != "bytes=" {
				return // net/http goes by the case of the unit, RFC 9110 does not
			}
			if suffix, ok := strings.CutPrefix(header, "bytes=-"); ok && len(strings.TrimSpace(suffix)) > 18 && part.Length == int64(size) {
				return // a suffix longer than the file is the whole file (RFC 9110 section 14.1.2), however large the number; net/http has an int64
			}
			if got := content[part.From : part.From+part.Length]; theirs.Code != http.StatusPartialContent || !bytes.Equal(theirs.Body.Bytes(), got) {
				t.Errorf("%q of %d is %+v, net/http says %d with %d bytes", header, size, part, theirs.Code, theirs.Body.Len())
			}
		case strings.ContainsFunc(header[min(6, len(header)):], unicode.IsSpace):
			// RFC 9110 section 14.1.1 has no space in a range, so such a header is ignored; net/http takes it
		case theirs.Code == http.StatusPartialContent && !strings.Contains(header, ",") && theirs.Header().Get("Content-Length") != strconv.Itoa(int(size)):
			t.Errorf("%q of %d is ignored, net/http says %v", header, size, theirs.Header())
		}
	})
}
