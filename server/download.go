package server

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
)

// The parameters of the pattern for downloads: the grant, which is a secret, and
// the number of the file, from 1.
const (
	grantParam = "grant"
	fileParam  = "file"
)

// downloadPath is where the file of that number, from 0, is downloaded.
func downloadPath(grant secret.Text, file int) string {
	return "/d/" + grant.Reveal() + "/" + strconv.Itoa(file+1)
}

// downloadFile answers with a file, or with the part of it that is asked for.
func (s *Server) downloadFile(r *request) (reply, error) {
	n, err := strconv.Atoi(r.file)
	if err != nil || strconv.Itoa(n) != r.file {
		return reply{}, store.ErrNotFound
	}
	client := r.actor.Client
	if r.client.Direct {
		client = ""
	}
	if !s.downloads.enter(client) {
		return reply{}, errDownloads
	}
	d, err := s.store.Download(r.Context(), r.grant, n-1)
	if err != nil {
		s.downloads.leave(client)
		return reply{}, err
	}
	done := func() {
		d.Close()
		s.downloads.leave(client)
	}
	rep, err := fileReply(r, d)
	if rep.done = done; err != nil {
		done()
	}
	return rep, err
}

// fileReply chooses what of a file is sent.
func fileReply(r *request, d *store.Download) (reply, error) {
	h := r.Header
	tag := `"` + d.Tag + `"`
	rep := reply{status: http.StatusOK, file: d, part: span{0, d.Size}, header: [][2]string{
		{"ETag", tag},
		{"Content-Disposition", disposition(d.Name.Reveal())},
	}}
	if v := h.Get("If-Range"); r.Method != http.MethodGet || v != "" && v != tag { // it has a part of something else
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

// disposition has a browser save a file under its name (RFC 6266): as it is, and
// for old programs in ASCII.
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
		case c < 0x80 || c >= 0xc0: // one for each character
			ascii.WriteByte('_')
		}
		extended.WriteByte('%')
		extended.WriteByte(hexDigits[c>>4])
		extended.WriteByte(hexDigits[c&15])
	}
	return `attachment; filename="` + ascii.String() + `"; filename*=UTF-8''` + extended.String()
}

const hexDigits = "0123456789ABCDEF"

// sendFile sends the file of a reply, or ends in the middle: with less than the
// length that was announced, for which net/http closes the connection. The error
// is one of the server, not of a client that left or stalled, nor of a file that
// came to its end.
func sendFile(w http.ResponseWriter, r *request, rep reply) (n int64, err error) {
	defer rep.done()
	h := w.Header()
	h["Content-Type"] = fileType
	h["Content-Security-Policy"] = noScript
	h["Accept-Ranges"] = byteRanges
	h["Content-Length"] = []string{strconv.FormatInt(rep.part.length, 10)}
	if r.Method == http.MethodHead {
		w.WriteHeader(rep.status)
		return 0, nil
	}
	if _, err := rep.file.Seek(rep.part.from, io.SeekStart); err != nil {
		return 0, err
	}
	stop := rep.file.AfterEnd(r.pace.cut)
	defer stop()
	w.WriteHeader(rep.status)
	from := pacedReader{file: rep.file, pace: &r.pace}
	n, _ = io.CopyN(w, &from, rep.part.length)
	if errors.Is(from.err, store.ErrNotFound) || r.Context().Err() != nil {
		return n, nil
	}
	return n, from.err
}

// A pacedReader reads a file that is sent, and keeps its error apart from those
// of the connection.
type pacedReader struct {
	file *store.Download
	pace *pacer
	err  error // but io.EOF
}

// Read reads on. Between two calls the client has a while to take what the first
// one read.
func (p *pacedReader) Read(b []byte) (int, error) {
	p.pace.sending()
	n, err := p.file.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}
