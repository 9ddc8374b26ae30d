package body

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
)

// errBase64 says that a text is not valid base64.
var errBase64 = errors.New("not valid base64")

// A base64Reader decodes standard base64 with padding and optional line breaks. Errors
// are errBase64, and those of the reader of the text.
type base64Reader struct {
	text    base64Text
	decoder io.Reader
}

func newBase64Reader(text io.Reader) *base64Reader {
	r := &base64Reader{text: base64Text{r: text}}
	r.decoder = base64.NewDecoder(base64.StdEncoding, &r.text)
	return r
}

func (r *base64Reader) Read(p []byte) (int, error) {
	n, err := r.decoder.Read(p)
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case r.text.err != nil:
		return n, r.text.err
	default:
		return n, errBase64
	}
}

// base64Text is base64 that ends with its padding. The decoder of the standard library is not
// consistent about text after the padding.
type base64Text struct {
	r      io.Reader
	err    error // error of r
	padded bool  // the padding has begun
	breaks int64 // bytes of line breaks
	others int64 // bytes of anything else
}

func (t *base64Text) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if err != nil && err != io.EOF {
		t.err = err
	}
	if !t.count(p[:n]) {
		return 0, errBase64
	}
	rest := p[:n]
	if !t.padded {
		i := bytes.IndexByte(rest, '=')
		if i < 0 {
			return n, err
		}
		t.padded, rest = true, rest[i:]
	}
	if len(bytes.Trim(rest, "=\r\n")) > 0 {
		return 0, errBase64
	}
	return n, err
}

// freeBreaks is how many bytes of line breaks are allowed in addition to one for every
// two bytes of base64. No encoder writes more.
const freeBreaks = 1 << 10

// count counts the bytes of a piece, and reports whether there are not too many line
// breaks so far.
func (t *base64Text) count(text []byte) bool {
	breaks := int64(bytes.Count(text, []byte{'\r'}) + bytes.Count(text, []byte{'\n'}))
	t.breaks += breaks
	t.others += int64(len(text)) - breaks
	return t.breaks <= freeBreaks+t.others/2
}
