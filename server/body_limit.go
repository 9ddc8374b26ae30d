package server

import (
	"io"
	"math"
	"net/http"
)

const (
	readAhead   = 32 << 10 // bytes that the readers of a body may hold
	maxPartHead = 16 << 10 // bytes of the header of a part
)

// A body is a request's body as it arrives. What is not the content of files is
// its text, and that is bounded.
type body struct {
	src   io.Reader // as net/http made it, which closes it
	w     http.ResponseWriter
	limit int64 // bytes of text

	got     int64 // bytes that have come
	content int64 // of them: content of files
	inFile  bool  // what comes is content, for all that is known
	files   bool  // there was a file
	err     error // why nothing more comes; io.EOF at the end

	memory *share // of a body whose push or form is read
	room   int64  // bytes of text that there is memory for
	head   int64  // where, in the text, the header of the part must be over; 0: it is
}

// limitBody bounds what is read of a request's body.
func (s *Server) limitBody(w http.ResponseWriter, hr *http.Request) body {
	return body{src: hr.Body, w: w, limit: int64(s.cfg.Limits.MaxBody), room: math.MaxInt64}
}

// Read reads on. Its errors can be shown.
func (b *body) Read(p []byte) (n int, err error) {
	if b.err == nil {
		b.err = b.check()
	}
	if b.err != nil {
		return 0, b.err
	}
	n, err = b.src.Read(p)
	b.got += int64(n)
	if err != nil && err != io.EOF {
		err = errCut
	}
	b.err = err
	return n, err
}

// text is how many bytes have come that are not content of files. Behind a file
// it counts what was read ahead, of which some may be content, too.
func (b *body) text() int64 { return b.got - b.content }

// check refuses to read on where a bound is reached.
func (b *body) check() error {
	if b.inFile {
		return nil
	}
	text := b.text()
	if text > b.room {
		if err := b.makeRoom(min(roomGrows*text, b.limit+readAhead)); err != nil {
			return err
		}
	}
	if b.files {
		text -= readAhead // what it is will be known at the end
	}
	switch {
	case text > b.limit:
		return errTooLarge
	case b.head > 0 && text > b.head:
		return errPartHead
	default:
		return nil
	}
}

// end refuses a body that has too much text, now that all of it is known.
func (b *body) end() error {
	if b.text() > b.limit {
		return errTooLarge
	}
	return nil
}

// beginFile is called before the content of a file is read. It makes sure that
// there is memory for an upload, and gives back what is not needed any more.
func (b *body) beginFile() error {
	b.files = true
	if err := b.makeRoom(b.text() + smallBody); err != nil {
		return err
	}
	b.inFile = true
	return nil
}

// roomGrows is how many times as much text there is memory for as has come.
const roomGrows = 4

// share has the body read within the memory of all bodies. A little is free.
func (b *body) share(s *share) { b.memory, b.room = s, smallBody }

// makeRoom makes sure that there is memory for n bytes of text, and for an upload
// if there was a file.
func (b *body) makeRoom(n int64) error {
	need := n
	if b.files {
		need += uploadMemory - smallBody
	}
	if err := b.memory.hold(need); err != nil {
		return err
	}
	b.room = n
	return nil
}

// endFile is called when a file ends that took so many bytes of the body.
func (b *body) endFile(size int64) {
	b.content += size
	b.inFile = false
}

// beginHead bounds the header of a part that is read next, and endHead ends it.
func (b *body) beginHead() { b.head = b.text() + maxPartHead }

func (b *body) endHead() { b.head = 0 }

// fault is what went wrong with the body, if anything did, or else what was made
// of it.
func (b *body) fault(other error) error {
	if b.err != nil && b.err != io.EOF {
		return b.err
	}
	return other
}

// leave answers without waiting for the rest of the body: the connection is
// closed after the answer.
func (b *body) leave() {
	if b.err != io.EOF {
		b.w.Header().Set("Connection", "close")
	}
}
