package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"sync"

	"pushbox/internal/limit"
	"pushbox/server/action"
	"pushbox/store"
)

// chunkSize is the size of a chunk of an answerBuffer in bytes.
const chunkSize = 32 << 10

// chunks are free chunks of answer buffers. They are cleared first, because an answer may hold a
// secret.
var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// An answerBuffer holds a rendered page, or JSON, until it is sent. Its bytes are part of its
// request's reservation, except those of a small one.
type answerBuffer struct {
	ctx    context.Context // ends waits for memory
	memory *limit.Reservation
	other  int64 // bytes of the reservation that are in use beside the answer
	room   int64 // bytes that the answer may have before the reservation must grow
	size   int64
	chunks []*[chunkSize]byte
}

// renderFactor is how much memory rendering takes, in lengths of the page: an escaped
// text is in memory twice.
const renderFactor = 2

// newAnswerBuffer returns an empty buffer. If the answer's memory is reserved already, the
// buffer asks for no more.
func newAnswerBuffer(ctx context.Context, memory *limit.Reservation, reserved bool) *answerBuffer {
	b := &answerBuffer{ctx: ctx, memory: memory, other: memory.Held(), room: action.SmallBody}
	if reserved {
		b.room = math.MaxInt64
	}
	return b
}

// Write appends to the answer. It returns limit.ErrBusy if there is no memory for it.
func (b *answerBuffer) Write(text []byte) (int, error) {
	if need := b.size + int64(len(text)); need > b.room {
		if err := b.memory.Resize(b.ctx, b.other+renderFactor*need); err != nil {
			return 0, err
		}
		b.room = renderFactor * need
	}
	for rest := text; len(rest) > 0; {
		at := b.size % chunkSize
		if at == 0 {
			b.chunks = append(b.chunks, chunks.Get().(*[chunkSize]byte))
		}
		n := copy(b.chunks[len(b.chunks)-1][at:], rest)
		rest = rest[n:]
		b.size += int64(n)
	}
	return len(text), nil
}

// shrink reduces the reservation to the rest of the answer.
func (b *answerBuffer) shrink() {
	if b.size <= action.SmallBody {
		b.memory.Release()
	} else {
		b.memory.Shrink(b.size)
	}
}

// send writes the answer and frees each chunk as soon as it is written. For a long answer it calls
// step before each chunk.
func (b *answerBuffer) send(w io.Writer, step func()) (sent int64, err error) {
	defer b.free()
	long := b.size > chunkSize
	for len(b.chunks) > 0 {
		if long {
			step()
		}
		n, err := w.Write(b.chunks[0][:min(b.size, chunkSize)])
		sent += int64(n)
		if err != nil {
			return sent, err
		}
		b.drop()
	}
	return sent, nil
}

// drop frees the first chunk.
func (b *answerBuffer) drop() {
	n := min(b.size, chunkSize)
	clear(b.chunks[0][:n])
	chunks.Put(b.chunks[0])
	b.chunks, b.size = b.chunks[1:], b.size-n
	b.shrink()
}

// free frees all chunks.
func (b *answerBuffer) free() {
	for len(b.chunks) > 0 {
		b.drop()
	}
}

// mayLeave reports whether the reader may switch the language of a page: its address must have a
// page to read, and an answer to a form must not show anything that is shown only once. An opened
// push is such an answer: to open it again would use another view, so the reader must choose the
// language on the page before.
func (s *Server) mayLeave(r *action.Request, rep *answer) bool {
	if r.Method != http.MethodPost {
		return true
	}
	page, _ := s.door(r.Entry.Recipients).router.find(http.MethodGet, r.URL.Path)
	return page != nil && rep.Status >= http.StatusBadRequest
}

// render renders the page or the JSON of a reply that has one. render writes nothing to the
// connection, so that an error can still become the answer. Sending may take long: meanwhile the
// value of the reply can be collected.
func (s *Server) render(r *action.Request, rep *answer) error {
	switch {
	case rep.Template != "":
		return s.renderPage(r, rep)
	case rep.Body != nil:
		return encode(r, rep)
	case rep.Text != nil && rep.Text.Write != nil:
		return fill(r, rep, func(b *answerBuffer) error { return rep.Text.Write(b) })
	case rep.Text != nil && len(rep.Text.Body) > action.SmallBody:
		return hold(r, rep)
	default:
		return nil
	}
}

// mayFail reports whether an answer can still be refused for lack of memory: the request changed
// nothing. One that counts a view has reserved the memory before.
func mayFail(r *action.Request) bool {
	return r.Route != nil && !r.Route.Has(action.CountsViews) && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// listMemory bounds the memory of the names and notes of a page of a list, sealed and opened. It is
// reserved before the list is read, since many clients may read lists at once.
const listMemory = 2 * store.PageSize * (store.MaxName + store.MaxNote)

// newEncoder returns an encoder of JSON without escapes for HTML, which programs do not need.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// encode renders JSON.
func encode(r *action.Request, rep *answer) error {
	return fill(r, rep, func(b *answerBuffer) error { return encodeTo(b, reflect.ValueOf(rep.Body)) })
}

// encodeTo writes JSON, and a list element by element: the encoder holds a whole value in memory
// before it writes.
func encodeTo(b *answerBuffer, body reflect.Value) error {
	if body.Kind() != reflect.Slice || body.Len() == 0 {
		return newEncoder(b).Encode(body.Interface())
	}
	var text bytes.Buffer
	enc, before := newEncoder(&text), "["
	for i := range body.Len() {
		text.Reset()
		text.WriteString(before)
		if err := enc.Encode(body.Index(i).Interface()); err != nil {
			return err
		}
		if _, err := b.Write(bytes.TrimSuffix(text.Bytes(), []byte("\n"))); err != nil {
			return err
		}
		before = ","
	}
	_, err := io.WriteString(b, "]\n")
	return err
}

// hold counts a long text in the memory for answers until it is sent.
func hold(r *action.Request, rep *answer) error {
	return fill(r, rep, func(b *answerBuffer) error {
		_, err := b.Write(rep.Text.Body)
		rep.Text.Body = nil
		return err
	})
}

// fill writes an answer into a buffer, which replaces its body.
func fill(r *action.Request, rep *answer, write func(*answerBuffer) error) error {
	ctx, reserved := r.Ctx, !mayFail(r)
	if !reserved {
		limited, cancel := context.WithTimeout(ctx, action.MemoryWait)
		defer cancel()
		ctx = limited
	}
	b := newAnswerBuffer(ctx, &r.Memory, reserved)
	if err := write(b); err != nil {
		b.free()
		return err
	}
	rep.out, rep.Body = b, nil
	b.shrink()
	return nil
}

// renderPage renders a page. A panic becomes an error.
func (s *Server) renderPage(r *action.Request, rep *answer) (err error) {
	defer caught(&err)
	ctx, cancel := context.WithTimeout(r.Context(), action.MemoryWait) // the time for all waits of the page
	defer cancel()
	b := newAnswerBuffer(ctx, &r.Memory, rep.Reserved)
	used, err := s.pages.Render(b, r, rep.Reply, s.mayLeave(r, rep))
	if rep.Reply = rep.With(used); err != nil {
		b.free()
		return err
	}
	rep.out, rep.Body = b, nil
	b.shrink()
	return nil
}

// sendPage writes a page.
func (s *Server) sendPage(w http.ResponseWriter, r *action.Request, rep answer) (int64, error) {
	if c := s.languageCookie(r); c != nil {
		http.SetCookie(w, c)
	}
	h := w.Header()
	pageHeaders(h, r.Locale.Tag, r.IsSecure())
	if r.Route != nil && r.Route.Has(action.Compressed) {
		h["Vary"] = append(h["Vary"], byEncoding...)
		if takesGzip(r.Header["Accept-Encoding"]) {
			return sendCompressed(w, r, rep)
		}
	}
	h["Content-Length"] = []string{strconv.FormatInt(rep.out.size, 10)}
	w.WriteHeader(rep.Status)
	if r.Method == http.MethodHead {
		rep.out.free()
		return 0, nil
	}
	return rep.out.send(w, r.Deadlines.Answering)
}
