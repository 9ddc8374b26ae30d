package server

import (
	"strconv"
	"strings"
)

// A span is a part of a file.
type span struct{ from, length int64 }

// A rangeError asks for a part that the file does not have.
type rangeError struct{ size int64 }

func (*rangeError) Error() string { return "range not satisfiable" }

// parseRange reads a Range header, RFC 9110 section 14.2, for a file of size
// bytes. It reports false where the whole file is to be sent: there is no such
// header, it is malformed, or it asks for several parts, which a server may
// ignore. *rangeError if the file has no such part.
func parseRange(header string, size int64) (part span, partial bool, err error) {
	set, ok := cutPrefixFold(header, "bytes=")
	first, last, dash := strings.Cut(strings.Trim(set, " \t"), "-")
	if !ok || !dash || strings.Contains(set, ",") {
		return span{}, false, nil
	}
	from, hasFrom := position(first)
	to, hasTo := position(last)
	switch {
	case first != "" && !hasFrom || last != "" && !hasTo || !hasFrom && !hasTo || hasFrom && hasTo && to < from:
		return span{}, false, nil
	case !hasFrom && size == 0 && to > 0: // all there is, which no 206 could tell
		return span{}, false, nil
	case !hasFrom && to == 0 || hasFrom && from >= size:
		return span{}, false, &rangeError{size}
	case !hasFrom:
		from = max(0, size-to)
		return span{from, size - from}, true, nil
	case !hasTo || to >= size:
		to = size - 1
	}
	return span{from, to - from + 1}, true, nil
}

// position reads a number of digits; one that is too large is as large as can
// be.
func position(text string) (n int64, ok bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, _ = strconv.ParseInt(text, 10, 64)
	return n, true
}

func cutPrefixFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}
