package server

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

// The parameters of the pattern for downloads: the grant, which is a secret, and
// the number of the file, from 1.
const (
	grantParam = "grant"
	fileParam  = "file"
)

// downloadPath is the path of a file, whose number counts from 0 here.
func downloadPath(grant secret.Text, file int) string {
	return "/d/" + grant.Reveal() + "/" + strconv.Itoa(file+1)
}

// downloadFile answers with a file, or with the part of it that is asked for.
func (s *Server) downloadFile(r *request) (reply, error) {
	n, err := strconv.Atoi(r.file)
	if err != nil || strconv.Itoa(n) != r.file {
		return reply{}, record.ErrNotFound
	}
	d, done, err := s.beginDownload(r, n-1)
	if err != nil {
		return reply{}, err
	}
	rep, err := fileReply(r, d)
	if rep.done = done; err != nil {
		done()
	}
	return rep, err
}

// beginDownload begins to read a file, by its number from 0. The caller must call done.
func (s *Server) beginDownload(r *request, file int) (d *store.Download, done func(), err error) {
	by := r.holder()
	if !s.limits.downloads.Take(by) {
		return nil, nil, errDownloads
	}
	if d, err = s.store.Download(r.Context(), r.grant, file); err != nil {
		s.limits.downloads.Free(by)
		return nil, nil, err
	}
	return d, func() {
		d.Close()
		s.limits.downloads.Free(by)
	}, nil
}

// fileReply returns a reply with the file, or with the part that the request asks for.
func fileReply(r *request, d *store.Download) (reply, error) {
	h := r.Header
	tag := `"` + d.Tag + `"`
	rep := reply{status: http.StatusOK, file: d, part: span{0, d.Size}, header: [][2]string{
		{"ETag", tag},
		{"Content-Disposition", disposition(d.Name.Reveal())},
	}}
	if v := h.Get("If-Range"); r.Method != http.MethodGet || v != "" && v != tag { // the client has a part of another file
		return rep, nil
	}
	part, partial, err := parseRange(h.Get("Range"), d.Size)
	if err != nil || !partial {
		return rep, err
	}
	last := part.from + part.length - 1
	rep.status, rep.part = http.StatusPartialContent, part
	rep.header = append(rep.header, [2]string{"Content-Range", "bytes " +
		strconv.FormatInt(part.from, 10) + "-" + strconv.FormatInt(last, 10) + "/" + strconv.FormatInt(d.Size, 10)})
	return rep, nil
}

// disposition returns a Content-Disposition that has browsers save a file under its
// name (RFC 6266): in UTF-8, and for old programs in ASCII.
func disposition(name string) string {
	var ascii, extended strings.Builder
	for _, c := range []byte(name) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', strings.IndexByte("!#$&+-.^_`|~", c) >= 0:
			ascii.WriteByte(c)
			extended.WriteByte(c)
			continue
		case c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '%':
			ascii.WriteByte(c)
		case c < 0x80 || c >= 0xc0: // one _ for each character
			ascii.WriteByte('_')
		}
		extended.WriteByte('%')
		extended.WriteByte(hexDigits[c>>4])
		extended.WriteByte(hexDigits[c&15])
	}
	return `attachment; filename="` + ascii.String() + `"; filename*=UTF-8''` + extended.String()
}

const hexDigits = "0123456789ABCDEF"

// sendFile sends the file of a reply. If it stops in the middle, fewer bytes than
// announced have gone out, and net/http closes the connection. It returns an error
// only for a fault of the server: not if the client left or stalled, nor if the push
// ended meanwhile.
func sendFile(w http.ResponseWriter, r *request, rep reply) (n int64, err error) {
	defer rep.done()
	downloadHeaders(w.Header())
	w.Header()["Accept-Ranges"] = byteRanges
	w.Header()["Content-Length"] = []string{strconv.FormatInt(rep.part.length, 10)}
	if r.Method == http.MethodHead {
		w.WriteHeader(rep.status)
		return 0, nil
	}
	if _, err := rep.file.Seek(rep.part.from, io.SeekStart); err != nil {
		return 0, err
	}
	stop := rep.file.AfterEnd(r.deadlines.cut)
	defer stop()
	w.WriteHeader(rep.status)
	from := newSlowReader(rep.file, &r.deadlines)
	n, _ = io.CopyN(w, from, rep.part.length)
	if errors.Is(from.err, record.ErrNotFound) || r.Context().Err() != nil {
		return n, nil
	}
	return n, from.err
}

// A span is a part of a file.
type span struct{ from, length int64 }

// A rangeError refuses a request for a part that the file does not have.
type rangeError struct{ size int64 }

func (*rangeError) Error() string { return "range not satisfiable" }

// parseRange reads a Range header (RFC 9110 section 14.2) for a file of size bytes. It
// reports false if the whole file is to be sent: the header is absent or malformed, or
// asks for several parts, which a server may ignore. It returns a *rangeError if the
// file has no such part.
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
	case !hasFrom && size == 0 && to > 0: // the whole of an empty file, which a 206 cannot describe
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

// position reads digits. A number that is too large becomes the largest int64.
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
