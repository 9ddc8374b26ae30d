// Package deadline moves the deadlines of a connection while a request or its answer makes progress.
package deadline

import (
	"errors"
	"io"
	"net/http"
	"time"

	"pushbox/config"
	"pushbox/store"
)

// Deadlines moves the deadlines of a connection. net/http sets those of a request
// and its answer; a file may take longer, as long as it makes progress. Long texts and answers
// must make progress within their time.
//
// It ignores all errors: a connection without deadlines cannot be cut, and a closed one need not
// be.
type Deadlines struct {
	control http.ResponseController
	stall   time.Duration // without progress of a file
	request time.Duration // for the rest of a request
	end     time.Time     // of the request
	inFile  bool          // a file is being read
	files   Pace          // progress of all files of the request so far
	rested  time.Time     // when the last file ended; zero: there was none
	between time.Duration // time that passed between files
}

// textStall is the part of the stall timeout for which a text may make no progress: 16 KiB of a
// body above 64 KiB, or 32 KiB of an answer. Meanwhile it holds memory that other requests wait
// for.
const textStall = 6

// New begins with the deadlines of a request.
func New(w http.ResponseWriter, l *config.Limits) Deadlines {
	return Deadlines{control: *http.NewResponseController(w), stall: l.StallTimeout, request: l.RequestTimeout, end: time.Now().Add(l.RequestTimeout)}
}

// Step gives an incoming text more time, but no more than its request has.
func (d *Deadlines) Step() {
	now := time.Now()
	_ = d.control.SetReadDeadline(now.Add(min(d.stall/textStall, d.end.Sub(now))))
}

// Rest gives the rest of a request after a text the time of the request.
func (d *Deadlines) Rest() { _ = d.control.SetReadDeadline(d.end) }

// Answering gives an outgoing text more time, but little more than its request has.
func (d *Deadlines) Answering() {
	now := time.Now()
	_ = d.control.SetWriteDeadline(now.Add(d.stall/textStall + min(0, d.end.Sub(now))))
}

// Sending gives data that is sent at a pace more time.
func (d *Deadlines) Sending(p Pace) { _ = d.control.SetWriteDeadline(p.deadline(time.Now(), d.stall)) }

// FileDone gives the rest of a request after a file the time of a request without files, less the
// time that passed between earlier files.
func (d *Deadlines) FileDone() {
	now := time.Now()
	d.inFile = false
	d.files.Took, d.rested, d.end = now.Sub(d.files.Begin), now, now.Add(d.request-d.between)
	_ = d.control.SetReadDeadline(d.end)
	_ = d.control.SetWriteDeadline(now.Add(d.request))
}

// Arrived records that another file begins.
func (d *Deadlines) Arrived() {
	if !d.rested.IsZero() {
		d.between += time.Since(d.rested)
	}
}

// Continue moves the deadlines of another connection from now on: there the request continues, after it has waited for
// that long.
func (d *Deadlines) Continue(on *Deadlines, waited time.Duration) {
	d.control = on.control
	d.end, d.files.Begin = d.end.Add(waited), d.files.Begin.Add(waited)
	if !d.rested.IsZero() {
		d.rested = d.rested.Add(waited)
	}
	until := d.end
	if d.inFile {
		until = d.files.deadline(time.Now(), d.stall)
	}
	_ = d.control.SetReadDeadline(until)
}

// End is when the request must have ended, if it is not in a file.
func (d *Deadlines) End() time.Time { return d.end }

// StopReading ends a read that waits for the client.
func (d *Deadlines) StopReading() { _ = d.control.SetReadDeadline(time.Unix(1, 0)) }

// Cut stops the sending of the answer.
func (d *Deadlines) Cut() { _ = d.control.SetWriteDeadline(time.Unix(1, 0)) }

// leastRate is how many bytes of a file must move in a second, on average, once the stall
// timeout is over: a client that moves just enough not to stall would hold a slot for days.
const leastRate = 4 << 10

// A Pace is the progress of one file that is sent, of the lines of an answer, or of all files of a
// request.
type Pace struct {
	Begin time.Time
	Took  time.Duration // of the files, or lines, before this one
	Moved int64         // bytes
}

// Next begins another file. The time of earlier files counts, but not the time between files:
// otherwise a request with many slow files would hold its slot for as many stall timeouts.
func (p *Pace) Next() { p.Begin = time.Now().Add(-p.Took) }

// deadline returns the time by which more of the file must move.
func (p *Pace) deadline(now time.Time, stall time.Duration) time.Time {
	earned := time.Duration(p.Moved/leastRate) * time.Second
	return p.Begin.Add(stall + min(earned, now.Sub(p.Begin)))
}

// progressStep is how many bytes of a file must arrive before its sender gets more
// time.
const progressStep = 64 << 10

// A progressReader reads a file and moves the deadline of its connection as the
// file comes in.
type progressReader struct {
	r         io.Reader
	deadlines *Deadlines
	fresh     int64 // bytes read since the deadline was moved
}

// NewProgressReader begins to read a file.
func NewProgressReader(r io.Reader, d *Deadlines) *progressReader {
	p := &progressReader{r: r, deadlines: d}
	d.inFile = true
	d.files.Next()
	p.progress()
	return p
}

func (p *progressReader) progress() {
	_ = p.deadlines.control.SetReadDeadline(p.deadlines.files.deadline(time.Now(), p.deadlines.stall))
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.deadlines.files.Moved += int64(n)
	if p.fresh += int64(n); p.fresh >= progressStep {
		p.fresh %= progressStep
		p.progress()
	}
	return n, err
}

// roomStep is how many bytes of files arrive between two checks for room.
const roomStep = 256 << 10

// A roomReader reads a file, and checks now and then whether there is room for the arrived bytes.
type roomReader struct {
	r     io.Reader
	Done  int64 // bytes of the request's files so far
	asked int64 // bytes of this file since the last check
	ask   func(files int64) error
}

// NewRoomReader begins to read a file, after that many bytes of files before it.
func NewRoomReader(r io.Reader, done int64, ask func(files int64) error) *roomReader {
	return &roomReader{r: r, Done: done, ask: ask}
}

func (r *roomReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.Done += int64(n)
	if r.asked += int64(n); r.asked >= roomStep {
		r.asked = 0
		if err := r.ask(r.Done); err != nil {
			return 0, err
		}
	}
	return n, err
}

// A slowReader reads a file for a client that may be slow. It keeps errors of the
// file apart from those of the connection.
type slowReader struct {
	file      *store.Download
	deadlines *Deadlines
	pace      Pace
	Err       error // of the file; never io.EOF
}

// NewSlowReader begins to send a file.
func NewSlowReader(file *store.Download, d *Deadlines) *slowReader {
	return &slowReader{file: file, deadlines: d, pace: Pace{Begin: time.Now()}}
}

// Read reads more of the file. The client must receive the data within the stall timeout: then the
// next call comes.
func (r *slowReader) Read(b []byte) (int, error) {
	r.deadlines.Sending(r.pace)
	n, err := r.file.Read(b)
	r.pace.Moved += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		r.Err = err
	}
	return n, err
}
