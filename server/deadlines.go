package server

import (
	"errors"
	"io"
	"net/http"
	"time"

	"pushbox/config"
	"pushbox/store"
)

// deadlines moves the deadlines of a connection. net/http sets those of a request
// and its answer; a file may take longer, as long as it makes progress. Long texts and answers
// must make progress within their time.
//
// All errors here are ignored: a connection without deadlines cannot be cut, and a closed
// one need not be.
type deadlines struct {
	control http.ResponseController
	stall   time.Duration // without progress of a file
	request time.Duration // for the rest of a request
	end     time.Time     // of the request
	files   pace          // of all files that the request has brought so far
	rested  time.Time     // when the last file ended; zero: there was none
	between time.Duration // that passed between files
}

// textStall is the part of the stall timeout for which a text may make no progress: 16 KiB of
// a body above 64 KiB, or 32 KiB of an answer. Meanwhile it holds memory that others wait for.
const textStall = 6

func newDeadlines(w http.ResponseWriter, l *config.Limits) deadlines {
	return deadlines{control: *http.NewResponseController(w), stall: l.StallTimeout, request: l.RequestTimeout, end: time.Now().Add(l.RequestTimeout)}
}

// Step gives an incoming text more time, but no more than its request has.
func (d *deadlines) Step() {
	now := time.Now()
	_ = d.control.SetReadDeadline(now.Add(min(d.stall/textStall, d.end.Sub(now))))
}

// Rest gives what follows an incoming text the time that its request has.
func (d *deadlines) Rest() { _ = d.control.SetReadDeadline(d.end) }

// answering gives an outgoing text more time, but little more than its request has.
func (d *deadlines) answering() {
	now := time.Now()
	_ = d.control.SetWriteDeadline(now.Add(d.stall/textStall + min(0, d.end.Sub(now))))
}

// sending gives what is sent at a pace more time.
func (d *deadlines) sending(p pace) { _ = d.control.SetWriteDeadline(p.deadline(time.Now(), d.stall)) }

// rest gives what follows a file the time of a request without files, less what has passed between
// files before.
func (d *deadlines) rest() {
	now := time.Now()
	d.files.took, d.rested, d.end = now.Sub(d.files.begin), now, now.Add(d.request-d.between)
	_ = d.control.SetReadDeadline(d.end)
	_ = d.control.SetWriteDeadline(now.Add(d.request))
}

// arrived notes that another file begins.
func (d *deadlines) arrived() {
	if !d.rested.IsZero() {
		d.between += time.Since(d.rested)
	}
}

// cut stops the sending of the answer.
func (d *deadlines) cut() { _ = d.control.SetWriteDeadline(time.Unix(1, 0)) }

// leastRate is how many bytes of a file must move in a second, on average, once the stall
// timeout is over: a client that moves just enough not to stall would hold a slot for days.
const leastRate = 4 << 10

// A pace is the progress of one file that is sent, of the lines of an answer, or of all files of a
// request.
type pace struct {
	begin time.Time
	took  time.Duration // of the files, or lines, before this one
	moved int64         // bytes
}

// next begins another file. What the files before took counts, but no time between them: a
// request with many files that move hardly at all would hold its slot for as many stall timeouts.
func (p *pace) next() { p.begin = time.Now().Add(-p.took) }

// deadline returns until when more of the file must move.
func (p *pace) deadline(now time.Time, stall time.Duration) time.Time {
	earned := time.Duration(p.moved/leastRate) * time.Second
	return p.begin.Add(stall + min(earned, now.Sub(p.begin)))
}

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

// newProgressReader begins to read a file.
func newProgressReader(r io.Reader, d *deadlines) *progressReader {
	p := &progressReader{r: r, deadlines: d}
	d.files.next()
	p.progress()
	return p
}

func (p *progressReader) progress() {
	_ = p.deadlines.control.SetReadDeadline(p.deadlines.files.deadline(time.Now(), p.deadlines.stall))
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.deadlines.files.moved += int64(n)
	if p.fresh += int64(n); p.fresh >= progressStep {
		p.fresh %= progressStep
		p.progress()
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
	pace      pace
	err       error // of the file; never io.EOF
}

// newSlowReader begins to send a file.
func newSlowReader(file *store.Download, d *deadlines) *slowReader {
	return &slowReader{file: file, deadlines: d, pace: pace{begin: time.Now()}}
}

// Read reads more of the file. The client must take it, so that the next call comes,
// within the stall timeout.
func (r *slowReader) Read(b []byte) (int, error) {
	r.deadlines.sending(r.pace)
	n, err := r.file.Read(b)
	r.pace.moved += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
