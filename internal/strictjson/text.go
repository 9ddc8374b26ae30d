package strictjson

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string. The decoder is at its opening quote.
func (d *Decoder) text(limit int) (string, error) {
	d.pos++ // the quote
	piece, last, err := d.piece()
	if err == nil && last && len(piece) <= limit { // nearly always
		return string(piece), nil
	}
	var kept strings.Builder
	tooLong := false
	for err == nil {
		if len(piece) > limit-kept.Len() {
			tooLong = true
			kept.Reset()
		}
		if !tooLong {
			kept.Write(piece)
		}
		if last {
			break
		}
		piece, last, err = d.piece()
	}
	if err == nil && tooLong {
		err = ErrTooLong
	}
	if err != nil {
		return "", err
	}
	return kept.String(), nil
}

func (d *Decoder) skipString() error {
	if err := d.begin(String); err != nil {
		return err
	}
	d.pos++ // the quote
	for {
		_, last, err := d.piece()
		if err != nil || last {
			return err
		}
	}
}

// piece reads the next part of a string, and returns it unescaped and checked. last says
// that the string ended after it. A piece may be empty, is never larger than the buffer,
// and is valid until the decoder moves on.
func (d *Decoder) piece() (b []byte, last bool, err error) {
	if d.pos == d.end {
		if err := d.need(1); err != nil {
			return nil, false, err
		}
	}
	n := plain(d.buf[d.pos:d.end])
	b = d.buf[d.pos : d.pos+n]
	d.pos += n
	if d.pos == d.end {
		return b, false, nil
	}
	switch c := d.buf[d.pos]; {
	case c == '"':
		d.pos++
		return b, true, nil
	case n > 0:
		return b, false, nil
	case c == '\\':
		b, err = d.escape()
		return b, false, err
	case c < ' ':
		return nil, false, d.syntax(reasonControl)
	default:
		if utf8.FullRune(d.buf[d.pos:d.end]) {
			return nil, false, d.syntax(reasonUTF8)
		}
		return nil, false, d.need(d.end - d.pos + 1) // the rest of the rune
	}
}

// plain counts the bytes at the start of b that stand for themselves in a string: whole
// runes of valid UTF-8, except quotes, backslashes and control characters.
func plain(b []byte) int {
	i := 0
	for i < len(b) {
		c := b[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size == 1 {
				return i
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			return i
		}
		i++
	}
	return i
}

const unitLength = len(`\u0000`)

var escaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape reads an escape. The decoder is at its backslash.
func (d *Decoder) escape() ([]byte, error) {
	if err := d.need(2); err != nil {
		return nil, err
	}
	c := d.buf[d.pos+1]
	if c == 'u' {
		r, err := d.unicode()
		return utf8.AppendRune(d.char[:0], r), err
	}
	if escaped[c] == 0 {
		return nil, d.syntax(reasonEscape)
	}
	d.pos += 2
	return append(d.char[:0], escaped[c]), nil
}

// unicode reads \uXXXX, or two of those that are a surrogate pair.
func (d *Decoder) unicode() (rune, error) {
	r, err := d.unit(0)
	if err != nil {
		return 0, err
	}
	if utf16.IsSurrogate(r) {
		low, err := d.unit(unitLength)
		if err != nil {
			return 0, err
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return 0, d.syntax(reasonSurrogate)
		}
		d.pos += unitLength
	}
	d.pos += unitLength
	return r, nil
}

// unit returns the number in \uXXXX, which begins skip bytes ahead. If the second half
// of a pair is not such an escape, the error is that the first half is alone.
func (d *Decoder) unit(skip int) (r rune, err error) {
	for i := range unitLength {
		if err := d.need(skip + i + 1); err != nil {
			return 0, err
		}
		c := d.buf[d.pos+skip+i]
		if i < len(`\u`) {
			if c != `\u`[i] {
				return 0, d.syntax(reasonSurrogate)
			}
			continue
		}
		h := strings.IndexByte("0123456789abcdefABCDEF", c)
		if h < 0 {
			return 0, d.syntax(reasonEscape)
		}
		if h > 0xf { // in upper case
			h -= 6
		}
		r = r<<4 | rune(h)
	}
	return r, nil
}
