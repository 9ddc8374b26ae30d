package api

import (
	"net/http"
	"strconv"
	"strings"

	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// downloadFile answers with a file, or with the requested part.
func (s *Service) downloadFile(r *action.Request) (action.Reply, error) {
	n, err := strconv.Atoi(r.File)
	if err != nil || strconv.Itoa(n) != r.File {
		return action.Reply{}, record.ErrNotFound
	}
	d, done, err := s.beginDownload(r, n-1)
	if err != nil {
		return action.Reply{}, err
	}
	rep, err := fileReply(r, d)
	if rep.Done = done; err != nil {
		done()
	}
	return rep, err
}

// beginDownload begins to read a file, by its number from 0. The caller must call done.
func (s *Service) beginDownload(r *action.Request, file int) (d *store.Download, done func(), err error) {
	by := r.Holder()
	if !s.Downloads.Take(by) {
		return nil, nil, action.ErrDownloads
	}
	if d, err = s.Store.Download(r.Context(), r.Grant, file); err != nil {
		s.Downloads.Free(by)
		return nil, nil, err
	}
	return d, func() {
		d.Close()
		s.Downloads.Free(by)
	}, nil
}

// fileReply returns a reply with the file, or with the part that the request asks for.
func fileReply(r *action.Request, d *store.Download) (action.Reply, error) {
	h := r.Header
	tag := `"` + d.Tag + `"`
	rep := action.Reply{Status: http.StatusOK, File: d, Part: action.Span{Length: d.Size}, Header: [][2]string{
		{"ETag", tag},
		{"Content-Disposition", disposition(d.Name.Reveal())},
	}}
	if v := h.Get("If-Range"); r.Method != http.MethodGet || v != "" && v != tag { // the client's part belongs to another file
		return rep, nil
	}
	part, partial, err := parseRange(h.Get("Range"), d.Size)
	if err != nil || !partial {
		return rep, err
	}
	last := part.From + part.Length - 1
	rep.Status, rep.Part = http.StatusPartialContent, part
	rep.Header = append(rep.Header, [2]string{"Content-Range", "bytes " +
		strconv.FormatInt(part.From, 10) + "-" + strconv.FormatInt(last, 10) + "/" + strconv.FormatInt(d.Size, 10)})
	return rep, nil
}

// disposition returns a Content-Disposition with which browsers save a file under its name (RFC
// 6266): in UTF-8, and for old programs in ASCII.
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

// parseRange reads a Range header (RFC 9110 section 14.2) for a file of size bytes. It
// reports false if the whole file is to be sent: the header is absent or malformed, or
// asks for several parts, which a server may ignore. It returns a *rangeError if the
// file has no such part.
func parseRange(header string, size int64) (part action.Span, partial bool, err error) {
	set, ok := cutPrefixFold(header, "bytes=")
	first, last, dash := strings.Cut(strings.Trim(set, " \t"), "-")
	if !ok || !dash || strings.Contains(set, ",") {
		return action.Span{}, false, nil
	}
	from, hasFrom := position(first)
	to, hasTo := position(last)
	switch {
	case first != "" && !hasFrom || last != "" && !hasTo || !hasFrom && !hasTo || hasFrom && hasTo && to < from:
		return action.Span{}, false, nil
	case !hasFrom && size == 0 && to > 0: // the whole empty file, which a 206 cannot describe
		return action.Span{}, false, nil
	case !hasFrom && to == 0 || hasFrom && from >= size:
		return action.Span{}, false, &action.RangeError{Size: size}
	case !hasFrom:
		from = max(0, size-to)
		return action.Span{From: from, Length: size - from}, true, nil
	case !hasTo || to >= size:
		to = size - 1
	}
	return action.Span{From: from, Length: to - from + 1}, true, nil
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

// downloadAll answers with all files of a push as a ZIP archive. It counts as one
// download.
func (s *Service) downloadAll(r *action.Request) (action.Reply, error) {
	first, done, err := s.beginDownload(r, 0)
	if err != nil {
		return action.Reply{}, err
	}
	return action.Reply{
		Status: http.StatusOK, File: first, Done: done,
		Rest:   func(file int) (*store.Download, error) { return s.Store.Download(r.Context(), r.Grant, file) },
		Header: [][2]string{{"Content-Disposition", disposition("files.zip")}},
	}, nil
}
