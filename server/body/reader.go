package body

import (
	"context"
	"io"
	"math"
	"net/http"
)

const (
	readAhead   = 32 << 10 // bytes that the readers of a body may hold
	maxPartHead = 16 << 10 // bytes of the header of a part
	freeText    = 64 << 10 // bytes of text that need no reservation
	textFactor  = 4        // the memory that is reserved, in lengths of the text so far
	paceStep    = 16 << 10 // bytes of a long text between two calls of Pace.Step
)

// A Pace requires progress of a long text, so that a sender that sends nothing cannot hold its
// memory. When it ends the wait for more, reading fails.
type Pace interface {
	Step() // the next 16 KiB must arrive soon
	Rest() // no further text must arrive
}

// UploadMemory is how many bytes of memory an upload takes, to read a file and store
// it, while many others run.
const UploadMemory = 640 << 10

// A Reader reads a request's body as it arrives. Everything in the body that is not the
// content of a file is its text, whose length is bounded.
type Reader struct {
	http    *http.Request
	options Options
	ctx     context.Context // ends waits for memory

	pace  Pace
	paced int64 // bytes of text at the last Step; 0: none

	read    int64 // bytes that have arrived
	content int64 // bytes of the content of files
	inFile  bool  // arriving bytes may be content
	files   bool  // there was a file
	room    int64 // bytes of text that memory is reserved for
	head    int64 // where in the text the header of the part must end; 0: no header is being read
	err     error // why nothing more is read; io.EOF at the end

	abandoned bool
}

// NewReader returns a Reader of a request's body. A Pace applies to a long text.
func NewReader(hr *http.Request, p Pace) Reader {
	return Reader{http: hr, pace: p, room: math.MaxInt64}
}

// Abandoned reports whether reading ended before the body did. If so, the connection
// cannot be used for another request.
func (r *Reader) Abandoned() bool { return r.abandoned }

// Abandon has the connection not used for another request.
func (r *Reader) Abandon() { r.abandoned = true }

// begin sets the bounds of what is read.
func (r *Reader) begin(ctx context.Context, o Options) {
	r.ctx, r.options = ctx, o
	if o.Memory != nil {
		r.room = freeText
	}
}

// end finishes the reading, which returned err. It returns what is wrong with the body.
func (r *Reader) end(err error) error {
	if err == nil && r.text() > r.options.MaxText { // bytes that were read ahead after a file are counted by now
		err = ErrTooLarge
	}
	if r.options.Memory != nil {
		r.options.Memory.Shrink(r.text())
	}
	if r.paced > 0 {
		r.pace.Rest()
	}
	if err == nil {
		return nil
	}
	r.abandoned = r.err != io.EOF
	return badSyntax(err)
}

// Read reads more of the body. Clients may see its errors.
func (r *Reader) Read(p []byte) (n int, err error) {
	if r.err == nil {
		r.err = r.check()
	}
	if r.err != nil {
		return 0, r.err
	}
	n, err = r.http.Body.Read(p)
	r.read += int64(n)
	if err != nil && err != io.EOF {
		err = ErrCut
	}
	r.err = err
	return n, err
}

// text returns how many bytes have arrived that are not content of files. After a file it includes
// bytes that were read ahead.
func (r *Reader) text() int64 { return r.read - r.content }

// check returns an error if a bound is reached, and reserves memory for more text.
func (r *Reader) check() error {
	if r.inFile {
		return nil
	}
	text := r.text()
	if text > r.room {
		if err := r.reserve(min(textFactor*text, r.options.MaxText+readAhead)); err != nil {
			return err
		}
	}
	if r.pace != nil && text > freeText && text >= r.paced+paceStep {
		r.paced = text
		r.pace.Step()
	}
	if r.files {
		text -= readAhead // which may be content; end counts it
	}
	switch {
	case text > r.options.MaxText:
		return ErrTooLarge
	case r.head > 0 && text > r.head:
		return ErrPartHead
	default:
		return nil
	}
}

// reserve reserves memory for n bytes of text, and for an upload if there was a
// file.
func (r *Reader) reserve(n int64) error {
	need := n
	if r.files {
		need += UploadMemory - freeText
	}
	if err := r.options.Memory.Resize(r.ctx, need); err != nil {
		return err
	}
	r.room = n
	return nil
}

// file passes the content of a file to the sink. While the sink reads it, all arriving bytes may be
// content. Afterwards offset, which returns how many bytes of the body were consumed, shows how
// many were content.
func (r *Reader) file(content io.Reader, declared int64, offset func() int64) error {
	begin := offset()
	if err := r.options.Files.File(&File{Declared: declared, body: r, content: content}); err != nil {
		return err
	}
	r.content += offset() - begin
	r.inFile = false
	return nil
}

// A File is the content of a file as it arrives.
type File struct {
	Declared int64 // the length in bytes that the sender declared; 0: none

	body    *Reader
	content io.Reader
}

// Reserve reserves memory for an upload, and gives back memory that was reserved for
// more text. It may wait, and returns limit.ErrBusy if there is no memory. The first
// Read calls it if the sink does not.
func (f *File) Reserve() error {
	r := f.body
	if r.inFile {
		return nil
	}
	r.files = true
	if err := r.reserve(r.text() + freeText); err != nil {
		return err
	}
	r.inFile = true
	return nil
}

// Read reads the content.
func (f *File) Read(p []byte) (int, error) {
	if err := f.Reserve(); err != nil {
		return 0, err
	}
	return f.content.Read(p)
}

// header calls read to read the header of a part, and bounds its length.
func (r *Reader) header(read func() error) error {
	r.head = r.text() + maxPartHead
	defer func() { r.head = 0 }()
	return read()
}

// fault returns why the body could not be read, or other if it could.
func (r *Reader) fault(other error) error {
	if r.err != nil && r.err != io.EOF {
		return r.err
	}
	return other
}
