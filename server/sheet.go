package server

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"

	"pushbox/server/web"
)

// sheetChunk is the bytes of a chunk of a sheet.
const sheetChunk = 32 << 10

// chunks holds what sheets are made of. A page may have a secret, but none stays
// in a chunk that is here.
var chunks = sync.Pool{New: func() any { return new([sheetChunk]byte) }}

// A sheet is a page as it was rendered, before any of it is sent. What it takes
// counts as the memory of its request, but for a little that is free.
type sheet struct {
	memory *share
	beside int64 // bytes of memory that something else has while the page is rendered
	room   int64 // bytes that there is memory for
	size   int64
	chunks []*[sheetChunk]byte
}

// sheetGrows is how many times as much memory a page has as it is long while it
// is rendered: what is escaped is there twice.
const sheetGrows = 2

// newSheet is an empty sheet. Where the memory was paid before, it asks for none.
func newSheet(memory *share, paid bool) *sheet {
	if paid {
		return &sheet{memory: memory, room: math.MaxInt64}
	}
	return &sheet{memory: memory, beside: memory.held, room: smallBody}
}

// Write adds to the page. errCrowded where there is no memory for it.
func (p *sheet) Write(b []byte) (int, error) {
	if need := p.size + int64(len(b)); need > p.room {
		if err := p.memory.hold(p.beside + sheetGrows*need); err != nil {
			return 0, err
		}
		p.room = sheetGrows * need
	}
	for rest := b; len(rest) > 0; {
		at := p.size % sheetChunk
		if at == 0 {
			p.chunks = append(p.chunks, chunks.Get().(*[sheetChunk]byte))
		}
		n := copy(p.chunks[len(p.chunks)-1][at:], rest)
		rest = rest[n:]
		p.size += int64(n)
	}
	return len(b), nil
}

// finish gives back the memory that only rendering needed.
func (p *sheet) finish() { p.memory.keep(counted(p.size)) }

// counted is what of so many bytes counts: a little is free.
func counted(size int64) int64 {
	if size <= smallBody {
		return 0
	}
	return size
}

// send writes the page and gives back its memory on the way.
func (p *sheet) send(w http.ResponseWriter) (sent int64, err error) {
	defer p.free()
	for len(p.chunks) > 0 {
		n, err := w.Write(p.chunks[0][:min(p.size, sheetChunk)])
		sent += int64(n)
		if err != nil {
			return sent, err
		}
		p.drop()
	}
	return sent, nil
}

// drop gives back the first chunk.
func (p *sheet) drop() {
	n := min(p.size, sheetChunk)
	clear(p.chunks[0][:n])
	chunks.Put(p.chunks[0])
	p.chunks, p.size = p.chunks[1:], p.size-n
	p.memory.keep(counted(p.size))
}

// free gives back all that is left of it.
func (p *sheet) free() {
	for len(p.chunks) > 0 {
		p.drop()
	}
}

// render makes of a reply that is a page what is sent. Nothing was written yet,
// so that an error can still be told. A panic becomes one.
func (s *Server) render(r *request, rep *reply) (err error) {
	if rep.template == "" {
		return nil
	}
	defer caught(&err)
	ctx, cancel := context.WithTimeout(r.Context(), bodyWait) // all waits of the page together
	defer cancel()
	r.memory.ctx = ctx
	p := newSheet(&r.memory, rep.paid)
	v := &web.View{
		Template: rep.template, Locale: r.locale, Site: s.siteFor(r), Account: r.session.Email,
		Where: r.where(), Switch: r.Method != http.MethodPost && rep.status == http.StatusOK, Page: rep.body,
	}
	if err := s.pages.Render(p, v); err != nil {
		p.free()
		return err
	}
	rep.sheet, rep.body = p, nil // what the page was made of need not wait until it was sent
	p.finish()
	return nil
}

// sendPage writes a page.
func (s *Server) sendPage(w http.ResponseWriter, r *request, rep reply) (int64, error) {
	if c := s.languageCookie(r); c != nil {
		http.SetCookie(w, c)
	}
	h := w.Header()
	h["Content-Type"] = htmlType
	h["Content-Security-Policy"] = pagePolicy
	h["Referrer-Policy"] = pageReferrer
	if s.isSecure(r) { // else browsers only complain of it
		h["Cross-Origin-Opener-Policy"] = sameOrigin
	}
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	h["Content-Language"] = []string{r.locale.Tag}
	h["Content-Length"] = []string{strconv.FormatInt(rep.sheet.size, 10)}
	w.WriteHeader(rep.status)
	if r.Method == http.MethodHead {
		rep.sheet.free()
		return 0, nil
	}
	return rep.sheet.send(w)
}
