package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"pushbox/server/web"
	"pushbox/store"
)

// A reply is the answer of an action: a status, a value that becomes the JSON
// body, or a page, a text, an asset or a part of a file instead; and headers and
// cookies beyond those that every answer has.
type reply struct {
	status   int
	body     any
	template string // where set, body is what this page shows
	sheet    *sheet // the page as it was rendered
	paid     bool   // the page's memory is held already: it may not fail for that
	text     *text
	asset    *web.Asset
	to       string // where set, the path that the browser is sent on to
	header   [][2]string
	cookies  []*http.Cookie

	file *store.Download
	part span
	done func() // called when the file was sent
}

func ok(body any) reply { return reply{status: http.StatusOK, body: body} }

func created(body any) reply { return reply{status: http.StatusCreated, body: body} }

// buffers holds bodies while they are encoded. A body may be a secret, but is
// no longer one than the reply that was just sent.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled keeps a large reply from staying in memory.
const maxPooled = 64 << 10

// send writes a reply and returns how many bytes of body went out.
func (s *Server) send(w http.ResponseWriter, r *request, rep reply) (int64, error) {
	for _, kv := range rep.header {
		w.Header().Set(kv[0], kv[1])
	}
	if rep.to != "" {
		w.Header()["Location"] = []string{s.cfg.BasePath + rep.to}
	}
	for _, c := range rep.cookies {
		http.SetCookie(w, c)
	}
	switch {
	case rep.file != nil:
		return sendFile(w, r, rep)
	case rep.template != "":
		return s.sendPage(w, r, rep)
	case rep.asset != nil:
		return sendAsset(w, r, *rep.asset)
	case rep.text != nil:
		w.Header()["Content-Type"] = []string{rep.text.media}
		return sendBytes(w, r, rep.status, rep.text.body)
	case rep.body == nil: // the headers say it all
		return sendBytes(w, r, rep.status, nil)
	default:
		return sendJSON(w, r, rep)
	}
}

// recycle gives a buffer back, and nothing of what was in it.
func recycle(buf *bytes.Buffer) {
	if buf.Cap() <= maxPooled {
		clear(buf.Bytes())
		buffers.Put(buf)
	}
}

// sendJSON writes a reply, whole or not at all as far as the server can tell. What is
// in the reply is no longer than the text, and waits with it until that is sent.
func sendJSON(w http.ResponseWriter, r *request, rep reply) (int64, error) {
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	defer recycle(buf)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(rep.body); err != nil {
		return 0, err
	}
	r.memory.keep(2 * int64(buf.Cap()))
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(buf.Len())}
	w.WriteHeader(rep.status)
	n, err := w.Write(buf.Bytes())
	return int64(n), err
}

// Values of headers that are the same in every answer; nobody writes to them.
var (
	jsonType = []string{"application/json; charset=utf-8"}
	noStore  = []string{"no-store"}
	noRobots = []string{"noindex, nofollow"}
	noSniff  = []string{"nosniff"}
	noRefer  = []string{"no-referrer"}
	noPage   = []string{"default-src 'none'; frame-ancestors 'none'"}
	noScript = []string{"default-src 'none'; frame-ancestors 'none'; sandbox"}

	fileType   = []string{"application/octet-stream"}
	byteRanges = []string{"bytes"}
)

// secure sets the headers that every answer has, whatever becomes of it.
func secure(h http.Header) {
	h["Cache-Control"] = noStore
	h["X-Robots-Tag"] = noRobots
	h["X-Content-Type-Options"] = noSniff
	h["Referrer-Policy"] = noRefer
	h["Content-Security-Policy"] = noPage
}
