package client

import (
	"net/http"
	"strconv"
	"strings"
)

// versionOf is what If-Range may be sent with: a strong ETag, or else the time
// of the last change; files of pushes do not change.
func versionOf(h http.Header) string {
	if tag := h.Get("ETag"); len(tag) > 2 && strings.HasPrefix(tag, `"`) && strings.HasSuffix(tag, `"`) {
		return tag
	}
	return h.Get("Last-Modified")
}

// contentRange reads the header Content-Range: where the part begins, and how
// long the whole is. first is -1 where there is no part.
func contentRange(h http.Header) (first, total int64, ok bool) {
	part, whole, ok := strings.Cut(strings.TrimPrefix(h.Get("Content-Range"), "bytes "), "/")
	total, err := strconv.ParseInt(whole, 10, 64)
	if !ok || err != nil || total < 0 {
		return 0, 0, false
	}
	if part == "*" {
		return -1, total, true
	}
	from, to, ok := strings.Cut(part, "-")
	first, err = strconv.ParseInt(from, 10, 64)
	last, lastErr := strconv.ParseInt(to, 10, 64)
	return first, total, ok && err == nil && lastErr == nil && first >= 0 && first <= last && last == total-1
}
