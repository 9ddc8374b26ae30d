package server

import (
	"net/http"
	"strconv"
	"time"

	"pushbox/server/web"
	"pushbox/store"
)

// A reply is the answer of an action: a status; a value that becomes the JSON body, or
// in its place a page, a text, an asset or a part of a file; and headers and cookies in
// addition to those of every answer.
type reply struct {
	status   int
	body     any
	template string        // if set, body is what this page shows
	out      *answerBuffer // the page, the JSON or the long text, rendered
	reserved bool          // the page's memory is reserved: a view was counted, so the page must not fail
	text     *text
	asset    *web.Asset
	to       string // if set, the path that the browser is redirected to
	header   [][2]string
	cookies  []*http.Cookie

	lines func(write func(line any) error) error // if set, the body is what it writes, as JSON lines, on the way

	file *store.Download
	part span
	done func()                                  // called after the file was sent
	rest func(file int) (*store.Download, error) // if set, all files are sent as an archive: file is the first, and this begins another
}

func ok(body any) reply { return reply{status: http.StatusOK, body: body} }

func created(body any) reply { return reply{status: http.StatusCreated, body: body} }

// send writes a reply and returns how many bytes of body went out.
func (s *Server) send(w http.ResponseWriter, r *request, rep reply) (int64, error) {
	if r.Body.Abandoned() {
		w.Header()["Connection"] = closed
	}
	for _, kv := range rep.header {
		w.Header().Set(kv[0], kv[1])
	}
	if s.sharesAnswer(r) {
		crossOriginHeaders(w.Header())
	}
	if rep.to != "" {
		w.Header()["Location"] = []string{s.cfg.BasePath + rep.to}
	}
	for _, c := range rep.cookies {
		http.SetCookie(w, c)
	}
	switch {
	case rep.rest != nil:
		return sendArchive(w, r, rep)
	case rep.lines != nil:
		return sendLines(w, r, rep)
	case rep.file != nil:
		return sendFile(w, r, rep)
	case rep.template != "":
		return s.sendPage(w, r, rep)
	case rep.asset != nil:
		return sendAsset(w, r, *rep.asset)
	case rep.text != nil && rep.out == nil:
		w.Header()["Content-Type"] = []string{rep.text.media}
		return sendBytes(w, r, rep.status, rep.text.body)
	case rep.out != nil:
		return sendBuffer(w, r, rep)
	default: // the headers say it all
		return sendBytes(w, r, rep.status, nil)
	}
}

// linesType is the media type of JSON lines.
const linesType = "application/jsonl"

// sendLines sends the lines of a reply. The client must take them at the pace of a file. If it
// stops in the middle, the connection is cut, and the client knows that the end is missing. The
// error is why a line could not be read: a client may leave when it likes.
func sendLines(w http.ResponseWriter, r *request, rep reply) (int64, error) {
	if rep.done != nil {
		defer rep.done()
	}
	w.Header()["Content-Type"] = []string{linesType}
	w.WriteHeader(rep.status)
	if r.Method == http.MethodHead {
		return 0, nil
	}
	out := countingWriter{to: w}
	enc := newEncoder(&out)
	var broken error // of the connection
	var sent pace
	err := rep.lines(func(line any) error {
		sent.next() // what it takes to read a line does not count
		r.deadlines.sending(sent)
		broken = enc.Encode(line)
		sent.took, sent.moved = time.Since(sent.begin), out.n
		return broken
	})
	if err != nil {
		r.deadlines.cut()
	}
	if broken != nil {
		err = nil
	}
	return out.n, err
}

// sendBuffer writes JSON, or a long text.
func sendBuffer(w http.ResponseWriter, r *request, rep reply) (int64, error) {
	h := w.Header()
	h["Content-Type"] = jsonType
	if rep.text != nil {
		h["Content-Type"] = []string{rep.text.media}
	}
	h["Content-Length"] = []string{strconv.FormatInt(rep.out.size, 10)}
	w.WriteHeader(rep.status)
	return rep.out.send(w, r.deadlines.answering)
}
