package strictjson

import (
	"errors"
	"io"
)

// ErrPassed is returned by a reader of a string after the Decoder was used before the
// string was read to its end.
var ErrPassed = errors.New("the decoder is past this string")

// Text begins to read a string that may be too long for memory. The reader yields the
// text that String would return, and then io.EOF; it returns errors of the Decoder as
// they are. The rest of the string is skipped when the Decoder is used again.
func (d *Decoder) Text() (io.Reader, error) {
	if err := d.begin(String); err != nil {
		return nil, err
	}
	d.pos++ // the quote
	d.open = &textReader{d: d}
	return d.open, nil
}

// Offset returns how many bytes of the text the Decoder has consumed. It may have read
// more.
func (d *Decoder) Offset() int64 { return d.base + int64(d.pos) }

type textReader struct {
	d     *Decoder
	piece []byte // the unread rest of it; valid until the decoder moves on
	last  bool   // the string ends behind it
}

// Read reads on. It waits for more of the text only while it has nothing.
func (t *textReader) Read(p []byte) (n int, err error) {
	for n < len(p) && (n == 0 || len(t.piece) > 0 || !t.last && t.d.pos < t.d.end) {
		if len(t.piece) == 0 {
			if err := t.next(); err != nil {
				return n, err
			}
		}
		k := copy(p[n:], t.piece)
		t.piece = t.piece[k:]
		n += k
	}
	return n, nil
}

// next gets the next piece, which may be empty.
func (t *textReader) next() error {
	switch {
	case t.d.err != nil:
		return t.d.err
	case t.d.open != t:
		return ErrPassed
	case t.last:
		return io.EOF
	}
	piece, last, err := t.d.piece()
	if err != nil {
		return err
	}
	t.piece, t.last = piece, last
	return nil
}

// pass skips the rest of a string that was begun with Text.
func (d *Decoder) pass() error {
	t := d.open
	if t == nil {
		return nil
	}
	d.open, t.piece = nil, nil
	for last := t.last; !last; {
		var err error
		if _, last, err = d.piece(); err != nil {
			return err
		}
	}
	return nil
}
