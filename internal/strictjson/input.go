package strictjson

import "io"

const (
	smallBuffer = 1 << 10  // enough for most request bodies
	largeBuffer = 32 << 10 // taken once a body turns out to be longer
	maxNoReads  = 100      // reads in a row that may yield nothing
)

// input is a reader with a buffer. The buffer is small at first: to allocate the large
// one for each small body would cost more than to read the body.
type input struct {
	reader io.Reader
	broken error  // the reader's error, or io.EOF; met when the buffer is used up
	buf    []byte // buf[pos:end] is still to be read
	pos    int
	end    int
	base   int64 // offset in the text of buf[0]
	small  [smallBuffer]byte
}

// more reads at least one more byte behind those in the buffer, which it may
// move. Callers leave only a few bytes unread, so that there is always room.
func (in *input) more() error {
	if in.broken != nil {
		return in.broken
	}
	in.compact()
	for range maxNoReads {
		n, err := in.reader.Read(in.buf[in.end:])
		in.end += n
		in.broken = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	in.broken = io.ErrNoProgress
	return in.broken
}

func (in *input) compact() {
	to := in.buf
	if in.end == smallBuffer && len(in.buf) == smallBuffer {
		to = make([]byte, largeBuffer)
	}
	in.base += int64(in.pos)
	in.end = copy(to, in.buf[in.pos:in.end])
	in.pos, in.buf = 0, to
}

// space moves to the next byte that is not white space. It returns io.EOF if
// there is none, or the reader's error.
func (in *input) space() error {
	for {
		for ; in.pos < in.end; in.pos++ {
			switch in.buf[in.pos] {
			case ' ', '\t', '\n', '\r':
			default:
				return nil
			}
		}
		if err := in.more(); err != nil {
			return err
		}
	}
}

// next moves to the next byte that is not white space and returns it.
func (d *Decoder) next() (byte, error) {
	if err := d.space(); err != nil {
		return 0, d.fail(err)
	}
	return d.buf[d.pos], nil
}

// need makes sure that n bytes are in the buffer; n is small.
func (d *Decoder) need(n int) error {
	for d.end-d.pos < n {
		if err := d.more(); err != nil {
			return d.fail(err)
		}
	}
	return nil
}

// fail records why nothing more can be read. An end of the text that is reported here
// comes too early: an error of syntax.
func (d *Decoder) fail(err error) error {
	if err == io.EOF {
		return d.syntax(reasonEnd)
	}
	d.err = err
	return err
}

func (d *Decoder) syntax(reason string) error {
	d.err = &SyntaxError{Offset: d.base + int64(d.pos), Reason: reason}
	return d.err
}
