package server

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"pushbox/server/action"
)

// buffers are for compressed pages.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// compressors are free compressors.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// sendCompressed writes a page compressed with gzip.
func sendCompressed(w http.ResponseWriter, r *action.Request, rep answer) (int64, error) {
	buf, z := buffers.Get().(*bytes.Buffer), compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	defer buffers.Put(buf)
	buf.Reset()
	z.Reset(buf)
	if _, err := rep.out.send(z, func() {}); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	w.Header()["Content-Encoding"] = gzipped
	return sendBytes(w, r, rep.Status, buf.Bytes())
}

// takesGzip reports whether a client with these Accept-Encoding headers accepts gzip (RFC 9110,
// 12.5.3). A weight of 0 refuses, and an entry for gzip overrides one for all codings.
func takesGzip(accept []string) bool {
	all := false
	for _, line := range accept {
		for coding := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(coding, ";")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				return weighs(parameters)
			case "*":
				all = weighs(parameters)
			}
		}
	}
	return all
}

// weighs reports whether the weight in the parameters of a coding is more than 0; without a weight
// it is.
func weighs(parameters string) bool {
	q, given := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameters)), "q=")
	if !given {
		return parameters == ""
	}
	weight, err := strconv.ParseFloat(q, 64)
	return err == nil && weight > 0 && weight <= 1
}
