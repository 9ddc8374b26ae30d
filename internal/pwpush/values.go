package pwpush

import (
	"errors"
	"io"
	"strconv"
	"strings"
)

type value struct {
	text string
	null bool
	err  error // why it cannot be used
}

// Errors of values.
var (
	errTooLong    = errors.New("is longer than 32 MiB")
	errBlob       = errors.New("is not a text, but a BLOB")
	errExpression = errors.New("is an expression, and not a text or a number")
)

func (r *Reader) tuple() ([]value, error) {
	values := make([]value, 0, len(r.names))
	for {
		v, err := r.value(0)
		if err != nil {
			return nil, err
		}
		t, err := r.s.next()
		for err == nil && t.is("|") { // 'a'||char(0)
			v = value{err: errExpression}
			t, err = r.joined()
		}
		values = append(values, v)
		switch {
		case err != nil:
			return nil, within(err)
		case t.is(")"):
			return r.whole(values)
		case !t.is(",") || len(values) == len(r.names):
			return nil, errSyntax
		}
	}
}

// joined reads the rest of || and what it joins, and returns the token behind that.
func (r *Reader) joined() (token, error) {
	err := r.expect("|")
	if err == nil {
		_, err = r.value(0)
	}
	if err != nil {
		return token{}, err
	}
	return r.s.next()
}

func (r *Reader) whole(values []value) ([]value, error) {
	if len(values) != len(r.names) {
		return nil, errors.New("a row has " + strconv.Itoa(len(values)) + " values for " + strconv.Itoa(len(r.names)) + " columns")
	}
	return values, nil
}

// value reads a value. SQLite writes a text with line ends as a call of functions. A value that
// Password Pusher cannot have written, or that is too long, spoils its row, and not the dump.
func (r *Reader) value(depth int) (value, error) {
	const deepest = 4
	t, err := r.s.next()
	switch {
	case err != nil:
		return value{}, within(err)
	case t.over:
		return value{err: errTooLong}, nil
	case t.kind == text:
		return value{text: t.text}, nil
	case t.is("NULL"):
		return value{null: true}, nil
	case t.is("REPLACE") && r.s.dialect == sqlite && depth < deepest:
		return r.replace(depth)
	case t.is("UNISTR") && r.s.dialect == sqlite:
		return r.unistr()
	case t.is("X") && r.s.peek() == '\'':
		_, err := r.s.next()
		return value{err: errBlob}, within(err)
	case t.kind == word && r.s.peek() == '(' && r.s.dialect == sqlite:
		return value{err: errExpression}, r.call()
	case t.kind == word:
		return value{text: t.text}, nil
	}
	return value{}, errSyntax
}

func (r *Reader) call() error {
	for depth := 0; ; {
		t, err := r.s.next()
		switch {
		case err != nil || t.is(";"):
			return wrong(err)
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				return nil
			}
		}
	}
}

func (r *Reader) expect(all ...string) error {
	for _, want := range all {
		if t, err := r.s.next(); err != nil || !t.is(want) {
			return wrong(err)
		}
	}
	return nil
}

// replace reads the rest of replace(VALUE,'MARK',char(N)) and returns its result.
func (r *Reader) replace(depth int) (value, error) {
	if err := r.expect("("); err != nil {
		return value{}, err
	}
	v, err := r.value(depth + 1)
	if err == nil {
		err = r.expect(",")
	}
	if err != nil {
		return value{}, err
	}
	old, err := r.value(depth + 1)
	if err == nil {
		err = r.expect(",", "CHAR", "(")
	}
	if err != nil {
		return value{}, err
	}
	code, err := r.s.next()
	if err == nil {
		err = r.expect(")", ")")
	}
	n, numErr := strconv.ParseUint(code.text, 10, 7) // a character of one byte
	if err != nil || numErr != nil || old.text == "" {
		return value{}, wrong(err)
	}
	v.text = strings.ReplaceAll(v.text, old.text, string(rune(n)))
	return v, nil
}

// unistr reads the rest of unistr('TEXT'), in which \uXXXX is a character.
func (r *Reader) unistr() (value, error) {
	if err := r.expect("("); err != nil {
		return value{}, err
	}
	t, err := r.s.next()
	if err == nil {
		err = r.expect(")")
	}
	if err != nil || t.kind != text {
		return value{}, wrong(err)
	}
	if t.over {
		return value{err: errTooLong}, nil
	}
	var b strings.Builder
	for rest := t.text; ; {
		before, after, escaped := strings.Cut(rest, `\`)
		b.WriteString(before)
		if !escaped {
			return value{text: b.String()}, nil
		}
		digits := 4
		switch {
		case strings.HasPrefix(after, `\`):
			b.WriteByte('\\')
			rest = after[1:]
			continue
		case strings.HasPrefix(after, "u"):
			after = after[1:]
		case strings.HasPrefix(after, "U"):
			after, digits = after[1:], 8
		case strings.HasPrefix(after, "+"):
			after, digits = after[1:], 6
		}
		if len(after) < digits {
			return value{}, errSyntax
		}
		n, err := strconv.ParseUint(after[:digits], 16, 31)
		if err != nil {
			return value{}, errSyntax
		}
		b.WriteRune(rune(n))
		rest = after[digits:]
	}
}

// copied reads a line of COPY. It returns nil at the end of the lines, and for tables that do
// not matter.
func (r *Reader) copied() ([]value, error) {
	r.s.skip = !matters(r.table)
	defer func() { r.s.skip = false }()
	values := make([]value, 0, len(r.names))
	for {
		v, end, err := r.field()
		switch {
		case err != nil:
			return nil, within(err)
		case end == copyEnds && len(values) == 0:
			r.table, r.copies = "", false
			return nil, nil
		case end == copyEnds:
			return nil, errSyntax
		case !r.s.skip:
			values = append(values, v)
		}
		switch {
		case end == lineEnds && r.s.skip:
			return nil, nil
		case end == lineEnds:
			return r.whole(values)
		case !r.s.skip && len(values) == len(r.names):
			return nil, errSyntax
		}
	}
}

type fieldEnd uint8

const (
	fieldEnds fieldEnd = iota
	lineEnds
	copyEnds // the line is \.
)

func (r *Reader) field() (v value, end fieldEnd, err error) {
	var b kept
	special := byte(0)
	for n := 0; ; n++ {
		c, err := r.s.readByte()
		switch {
		case err != nil:
			return v, 0, err
		case c == '\t', c == '\n':
			if special != 0 && n > 1 { // \N and \. are whole fields
				return v, 0, errSyntax
			}
			if c == '\n' {
				end = lineEnds
			}
			if special == '.' {
				end = copyEnds
			}
			v = value{text: b.String(), null: special == 'N'}
			if b.over {
				v.err = errTooLong
			}
			return v, end, nil
		case c == '\r' && r.s.peek() == '\n': // the file went through Windows
			n--
			continue
		case c == '\\':
			if c, err = r.s.readByte(); err != nil {
				return v, 0, err
			}
			if c == 'N' || c == '.' {
				special = c
				continue
			}
			c, err = r.s.copyEscape(c)
		}
		if err != nil {
			return v, 0, err
		}
		r.s.keep(&b, c)
	}
}

// copyEscape returns the character that a backslash and c mean. pg_dump writes no number.
func (s *scanner) copyEscape(c byte) (byte, error) {
	switch i := strings.IndexByte(`bfnrtv\`, c); {
	case i >= 0:
		return "\b\f\n\r\t\v\\"[i], nil
	case c == '\n':
		return 0, io.ErrUnexpectedEOF
	}
	return 0, errSyntax
}
