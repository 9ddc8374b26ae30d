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

func (r *Reader) tuple() []value {
	values := make([]value, 0, len(r.names))
	for r.broken == nil {
		v, t := r.value(0), r.next()
		for t.is("|") { // 'a'||char(0)
			r.expect("|")
			r.value(0)
			v, t = value{err: errExpression}, r.next()
		}
		values = append(values, v)
		switch {
		case t.is(")"):
			values, r.broken = r.whole(values)
			return values
		case !t.is(",") || len(values) == len(r.names):
			r.wrong()
		}
	}
	return nil
}

func (r *Reader) whole(values []value) ([]value, error) {
	if len(values) != len(r.names) {
		return nil, errors.New("a row has " + strconv.Itoa(len(values)) + " values for " + strconv.Itoa(len(r.names)) + " columns")
	}
	return values, nil
}

// value reads a value. SQLite writes a text with line ends as a call of functions. A value that
// Password Pusher cannot have written, or that is too long, spoils its row, and not the dump.
func (r *Reader) value(depth int) value {
	const deepest = 4
	t := r.next()
	switch {
	case r.broken != nil:
		return value{}
	case t.over:
		return value{err: errTooLong}
	case t.kind == text:
		return value{text: t.text}
	case t.is("NULL"):
		return value{null: true}
	case t.is("REPLACE") && r.s.dialect == sqlite && depth < deepest:
		return r.replace(depth)
	case t.is("UNISTR") && r.s.dialect == sqlite:
		return r.unistr()
	case t.is("X") && r.s.peek() == '\'':
		r.next()
		return value{err: errBlob}
	case t.kind == word && r.s.peek() == '(' && r.s.dialect == sqlite:
		r.call()
		return value{err: errExpression}
	case t.kind == word:
		return value{text: t.text}
	}
	r.wrong()
	return value{}
}

func (r *Reader) call() {
	for depth := 0; r.broken == nil; {
		switch t := r.next(); {
		case t.is(";"):
			r.wrong()
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				return
			}
		}
	}
}

// replace reads the rest of replace(VALUE,'MARK',char(N)) and returns its result.
func (r *Reader) replace(depth int) value {
	r.expect("(")
	v := r.value(depth + 1)
	r.expect(",")
	old := r.value(depth + 1)
	r.expect(",", "CHAR", "(")
	n, err := strconv.ParseUint(r.next().text, 10, 7) // a character of one byte
	if r.expect(")", ")"); err != nil || old.text == "" {
		r.wrong()
		return value{}
	}
	v.text = strings.ReplaceAll(v.text, old.text, string(rune(n)))
	return v
}

// unistr reads the rest of unistr('TEXT'), in which \uXXXX is a character.
func (r *Reader) unistr() value {
	r.expect("(")
	t := r.next()
	if r.expect(")"); t.kind != text {
		r.wrong()
	}
	if t.over {
		return value{err: errTooLong}
	}
	var b strings.Builder
	for rest := t.text; r.broken == nil; {
		before, after, escaped := strings.Cut(rest, `\`)
		b.WriteString(before)
		if !escaped {
			return value{text: b.String()}
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
		n, err := strconv.ParseUint(after[:min(digits, len(after))], 16, 31)
		if err != nil || len(after) < digits {
			r.wrong()
			break
		}
		b.WriteRune(rune(n))
		rest = after[digits:]
	}
	return value{}
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
