package server

import (
	"net/http"
	"strconv"
	"time"

	"pushbox/server/action"
	"pushbox/server/deadline"
	"pushbox/server/web"
)

// An answer is a reply that is ready to be sent.
type answer struct {
	action.Reply
	out *answerBuffer // the page, the JSON or the long text, rendered
}

// send writes a reply and returns how many bytes of body went out.
func (s *Server) send(w http.ResponseWriter, r *action.Request, rep answer) (int64, error) {
	if r.Body.Abandoned() {
		w.Header()["Connection"] = closed
	}
	for _, kv := range rep.Header {
		w.Header().Set(kv[0], kv[1])
	}
	if s.sharesAnswer(r) {
		crossOriginHeaders(w.Header())
	}
	if r.Route != nil && r.Route.Has(action.IsV1) && s.cfg.EnableAPIv1 {
		deprecatedHeaders(w.Header(), s.cfg.BasePath)
	}
	if rep.To != "" {
		w.Header()["Location"] = []string{s.cfg.BasePath + rep.To}
	}
	for _, c := range rep.Cookies {
		http.SetCookie(w, c)
	}
	switch {
	case rep.Rest != nil:
		return sendArchive(w, r, rep)
	case rep.Lines != nil:
		return sendLines(w, r, rep)
	case rep.File != nil:
		return sendFile(w, r, rep)
	case rep.Template != "":
		return s.sendPage(w, r, rep)
	case rep.Asset != nil:
		return sendAsset(w, r, *rep.Asset)
	case rep.Text != nil && rep.out == nil:
		w.Header()["Content-Type"] = []string{rep.Text.Media}
		return sendBytes(w, r, rep.Status, rep.Text.Body)
	case rep.out != nil:
		return sendBuffer(w, r, rep)
	default: // the headers are the whole answer
		return sendBytes(w, r, rep.Status, nil)
	}
}

// linesType is the media type of JSON lines.
const linesType = "application/jsonl"

// sendLines sends the lines of a reply. The client must receive them at the pace of a file. If
// sending stops in the middle, the connection is cut, so that the client knows that the end is
// missing. The error is why a line could not be read; it is no error if the client leaves.
func sendLines(w http.ResponseWriter, r *action.Request, rep answer) (int64, error) {
	if rep.Done != nil {
		defer rep.Done()
	}
	w.Header()["Content-Type"] = []string{linesType}
	w.WriteHeader(rep.Status)
	if r.Method == http.MethodHead {
		return 0, nil
	}
	out := countingWriter{to: w}
	enc := newEncoder(&out)
	var broken error // error of the connection
	var sent deadline.Pace
	err := rep.Lines(func(line any) error {
		sent.Next() // the time to read a line does not count
		r.Deadlines.Sending(sent)
		broken = enc.Encode(line)
		sent.Took, sent.Moved = time.Since(sent.Begin), out.n
		return broken
	})
	if err != nil {
		r.Deadlines.Cut()
	}
	if broken != nil {
		err = nil
	}
	return out.n, err
}

// sendBuffer writes JSON, or a long text.
func sendBuffer(w http.ResponseWriter, r *action.Request, rep answer) (int64, error) {
	h := w.Header()
	h["Content-Type"] = jsonType
	if rep.Text != nil {
		h["Content-Type"] = []string{rep.Text.Media}
	}
	h["Content-Length"] = []string{strconv.FormatInt(rep.out.size, 10)}
	w.WriteHeader(rep.Status)
	return rep.out.send(w, r.Deadlines.Answering)
}

// sendBytes writes a body. For a HEAD request it sends only the body's length.
func sendBytes(w http.ResponseWriter, r *action.Request, status int, body []byte) (int64, error) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return 0, nil
	}
	n, err := w.Write(body)
	return int64(n), err
}

// sendAsset writes an asset, which browsers may keep forever: compressed, if the client takes that.
// It compresses only pages without secrets: the size of a compressed page could reveal something
// about a secret in it.
func sendAsset(w http.ResponseWriter, r *action.Request, a web.Asset) (int64, error) {
	assetHeaders(w.Header(), a)
	if a.Gzip == nil {
		return sendBytes(w, r, http.StatusOK, a.Content)
	}
	w.Header()["Vary"] = byEncoding
	if !takesGzip(r.Header["Accept-Encoding"]) {
		return sendBytes(w, r, http.StatusOK, a.Content)
	}
	w.Header()["Content-Encoding"] = gzipped
	return sendBytes(w, r, http.StatusOK, a.Gzip)
}
