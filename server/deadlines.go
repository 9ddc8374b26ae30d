package server

import (
	"errors"
	"io"
	"net/http"
	"time"

	"pushbox/store"
)

// deadlines moves the deadlines of a connection. net/http sets those of a request
// and its answer; a file may take longer, as long as it makes progress.
type deadlines struct {
	control http.ResponseController
	stall   time.Duration // without progress
	request time.Duration // for the rest of a request
}

// progress gives an incoming file more time. All errors here are ignored: a
// connection without deadlines cannot be cut, and a closed one need not be.
func (d *deadlines) progress() { _ = d.control.SetReadDeadline(time.Now().Add(d.stall)) }

// sending gives an outgoing file more time.
func (d *deadlines) sending() { _ = d.control.SetWriteDeadline(time.Now().Add(d.stall)) }

// rest gives the rest of a request, after a file, the time of a request without files.
func (d *deadlines) rest() {
	t := time.Now().Add(d.request)
	_ = d.control.SetReadDeadline(t)
	_ = d.control.SetWriteDeadline(t)
}

// cut stops the sending of the answer.
func (d *deadlines) cut() { _ = d.control.SetWriteDeadline(time.Unix(1, 0)) }

// progressStep is how many bytes of a file must arrive before its sender gets more
// time.
const progressStep = 64 << 10

// A progressReader reads a file and moves the deadline of its connection as the
// file comes in.
type progressReader struct {
	r         io.Reader
	deadlines *deadlines
	fresh     int64 // bytes read since the deadline was moved
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.fresh += int64(n); p.fresh >= progressStep {
		p.fresh %= progressStep
		p.deadlines.progress()
	}
	return n, err
}

// roomStep is how many bytes of files arrive between two questions for room.
const roomStep = 256 << 10

// A roomReader reads a file, and asks now and then whether there is room for what has
// arrived.
type roomReader struct {
	r     io.Reader
	done  int64 // bytes of the request's files so far
	asked int64 // of this file, bytes since the last question
	ask   func(files int64) error
}

func (r *roomReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.done += int64(n)
	if r.asked += int64(n); r.asked >= roomStep {
		r.asked = 0
		if err := r.ask(r.done); err != nil {
			return 0, err
		}
	}
	return n, err
}

// A slowReader reads a file for a client that may be slow. It keeps errors of the
// file apart from those of the connection.
type slowReader struct {
	file      *store.Download
	deadlines *deadlines
	err       error // of the file; never io.EOF
}

// Read reads more of the file. The client must take it, so that the next call comes,
// within the stall timeout.
func (r *slowReader) Read(b []byte) (int, error) {
	r.deadlines.sending()
	n, err := r.file.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
