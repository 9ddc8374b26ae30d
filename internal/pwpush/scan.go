package pwpush

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxRow is how many bytes of a row, or of a definition of a table, are kept. A payload has
// at most 16 MiB, since its column in MySQL has.
const maxRow = 32 << 20

// A dialect is the SQL of a dump program.
type dialect uint8

const (
	unknown dialect = iota
	sqlite
	postgres
	mysql
)

type tokenKind uint8

const (
	word tokenKind = iota // a keyword, a name or a number
	name                  // a name in quotes
	text                  // a text in quotes
	mark                  // one other character
)

type token struct {
	kind tokenKind
	text string
	over bool // it is too long to be kept, and its text is empty
}

// is reports whether the token is a mark or a keyword; keywords are in upper case.
func (t token) is(what string) bool {
	return t.kind == mark && t.text == what || t.kind == word && strings.EqualFold(t.text, what)
}

// A scanner reads SQL token by token. Its errors have no text of the dump.
type scanner struct {
	r       *bufio.Reader
	line    int
	dialect dialect
	charset string // that the dump says its texts have; empty: it says none
	begun   bool   // a statement was seen
	ended   bool   // the dump program said that the dump is complete
	left    int    // how much more may be kept of the row
	skip    bool   // nothing is kept
}

func (s *scanner) readByte() (byte, error) {
	c, err := s.r.ReadByte()
	if c == '\n' && err == nil {
		s.line++
	}
	return c, err
}

// peek returns the next byte without reading it; 0 at the end.
func (s *scanner) peek() byte {
	b, err := s.r.Peek(1)
	if err != nil {
		return 0
	}
	return b[0]
}

// row begins a row, of which maxRow bytes may be kept.
func (s *scanner) row() { s.left = maxRow }

// A kept text is what is kept of a token or a field.
type kept struct {
	strings.Builder
	over bool // it was too long, and nothing of it is kept
}

// keep appends to a text, unless nothing is kept. A text that the row has no room for is given
// up, and leaves its room to the rest of the row.
func (s *scanner) keep(b *kept, more ...byte) {
	switch {
	case s.skip || b.over:
	case len(more) > s.left:
		s.left += b.Len()
		b.Reset()
		b.over = true
	default:
		s.left -= len(more)
		_, _ = b.Write(more) // it never fails
	}
}

// next reads a token. io.EOF at the end, io.ErrUnexpectedEOF within a token.
func (s *scanner) next() (token, error) {
	for {
		c, err := s.readByte()
		if err != nil {
			return token{}, err
		}
		switch {
		case c <= ' ':
		case c == '-' && s.peek() == '-', c == '/' && s.peek() == '*':
			if err := s.comment(c == '/'); err != nil {
				return token{}, within(err)
			}
		case c == '\'':
			return s.quoted(text, c, s.dialect == mysql)
		case c == '"', c == '`':
			return s.quoted(name, c, false)
		case isWord(c) && c != '.':
			return s.word(c)
		default:
			return token{kind: mark, text: string(rune(c))}, nil
		}
	}
}

// within returns the error of a token: its end is not the end of the dump.
func within(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '.' || c == '-' || c == '+' || c >= 0x80
}

// word reads the rest of a keyword, a name or a number, or a text that a letter precedes:
// E'...' with escapes.
func (s *scanner) word(first byte) (token, error) {
	var b kept
	n := 1
	for c := first; ; n++ {
		s.keep(&b, c)
		if _, err := s.r.Peek(1); err != nil {
			return token{}, within(err) // the end may be within the word
		}
		if !isWord(s.peek()) || s.peek() == '.' && !isNumber(first) {
			break
		}
		c, _ = s.readByte() // it was there
	}
	if s.peek() == '\'' && s.dialect == postgres && (first == 'E' || first == 'e') && n == 1 {
		_, _ = s.readByte()
		return s.quoted(text, '\'', true)
	}
	return token{word, b.String(), b.over}, nil
}

func isNumber(c byte) bool { return c >= '0' && c <= '9' || c == '-' || c == '+' }

// quoted reads the rest of a text or name up to its closing quote. A doubled quote means
// one; with escapes a backslash changes the next character.
func (s *scanner) quoted(kind tokenKind, quote byte, escapes bool) (token, error) {
	var b kept
	for {
		if err := s.plain(&b, quote, escapes); err != nil {
			return token{}, within(err)
		}
		c, err := s.readByte()
		switch {
		case err != nil:
		case c == quote && s.peek() != quote:
			return token{kind, b.String(), b.over}, nil
		case c == quote:
			_, err = s.readByte()
		case c == '\\' && escapes:
			c, err = s.escaped()
		}
		if err != nil {
			return token{}, within(err)
		}
		s.keep(&b, c)
	}
}

// plain reads the buffer up to a quote or a backslash. It is much faster than reading byte by byte.
func (s *scanner) plain(b *kept, quote byte, escapes bool) error {
	buffered, err := s.r.Peek(s.r.Buffered())
	if err != nil {
		return err
	}
	n := bytes.IndexByte(buffered, quote)
	if n < 0 {
		n = len(buffered)
	}
	if i := bytes.IndexByte(buffered[:n], '\\'); i >= 0 && escapes {
		n = i
	}
	s.keep(b, buffered[:n]...)
	s.line += bytes.Count(buffered[:n], []byte{'\n'})
	_, err = s.r.Discard(n)
	return err
}

func (s *scanner) escaped() (byte, error) {
	c, err := s.readByte()
	if i := strings.IndexByte("0bfnrtvZ", c); i >= 0 && err == nil {
		return "\x00\b\f\n\r\t\v\x1a"[i], nil
	}
	return c, err
}

// comment reads the rest of a comment, and finds in it which program wrote the dump, and
// whether it came to its end.
func (s *scanner) comment(block bool) error {
	const most = 200
	var b strings.Builder
	for last := byte(0); ; {
		c, err := s.readByte()
		if errors.Is(err, io.EOF) && !block {
			c = '\n'
		} else if err != nil {
			return err
		}
		if !block && c == '\n' || block && last == '*' && c == '/' && b.Len() > 1 {
			break
		}
		if last = c; b.Len() < most {
			b.WriteByte(c)
		}
	}
	said := b.String()
	if statement, ok := strings.CutPrefix(strings.TrimLeft(said, "*!0123456789"), " SET NAMES "); ok {
		s.charset, _, _ = strings.Cut(statement, " ")
	}
	switch {
	case strings.Contains(said, "PostgreSQL database dump complete"), strings.HasPrefix(said, "- Dump completed"):
		s.ended = true
	case s.begun:
	case strings.Contains(said, "PostgreSQL database dump"):
		s.dialect = postgres
	case strings.HasPrefix(said, "- MariaDB dump"), strings.HasPrefix(said, "- MySQL dump"):
		s.dialect = mysql
	}
	return nil
}

func (s *scanner) skipLine() error {
	for {
		if c, err := s.readByte(); err != nil || c == '\n' {
			return err
		}
	}
}
