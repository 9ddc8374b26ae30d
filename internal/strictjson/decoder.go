// Package strictjson reads JSON (RFC 8259) for a server that stores secrets: exactly
// as it was sent, or not at all.
//
// encoding/json takes the last of duplicate keys, puts replacement characters where
// the text is not valid UTF-8 or has half a surrogate pair, and needs the whole text
// in memory. A Decoder refuses such text, also in values that the caller skips, and
// needs memory only for the values that it returns: none for a string that is read
// with Text. A NUL (\u0000) in a string is a character like any other.
//
// The caller pulls a Decoder along, value by value; see its example.
package strictjson

import (
	"io"
	"unicode/utf8"
)

// Limits of a text. A text beyond one of them is a SyntaxError.
const (
	MaxDepth   = 16       // nesting depth of objects and arrays
	MaxMembers = 1000     // of one object
	MaxKey     = 1024     // bytes of one key, unescaped
	MaxKeys    = 64 << 10 // bytes of all keys read so far of the objects that are open
	MaxLiteral = 256      // bytes of a number
)

// A Kind is the kind of a JSON value.
type Kind uint8

// The kinds of value. Invalid means that there is none.
const (
	Invalid Kind = iota
	Object
	Array
	String
	Number
	Bool
	Null
)

// kindOf returns a value's kind by its first byte.
var kindOf = [256]Kind{
	'{': Object, '[': Array, '"': String, 't': Bool, 'f': Bool, 'n': Null,
	'-': Number, '0': Number, '1': Number, '2': Number, '3': Number, '4': Number,
	'5': Number, '6': Number, '7': Number, '8': Number, '9': Number,
}

// A Decoder reads one JSON text. After an error of syntax, of the reader or of a
// callback, every later call returns that error again. It is not safe for concurrent
// use.
type Decoder struct {
	input
	err   error             // why nothing more can be read
	ready bool              // a value comes next
	depth int               // objects and arrays that are open
	held  int               // bytes of the keys of the objects that are open
	char  [utf8.UTFMax]byte // an escape's character, for as long as a piece is good
	open  *textReader       // of a string that was begun and may not be at its end
}

// NewDecoder returns a Decoder that reads from r, and may read ahead. It returns errors
// of r other than io.EOF as they are.
func NewDecoder(r io.Reader) *Decoder {
	d := &Decoder{ready: true}
	d.reader = r
	d.buf = d.small[:]
	return d
}

// Kind returns the kind of the next value without consuming it: Invalid if there is
// none, and then the next call returns why.
func (d *Decoder) Kind() Kind {
	if d.err != nil {
		return Invalid
	}
	if !d.ready {
		_ = d.syntax(reasonSecond)
		return Invalid
	}
	c, err := d.next()
	if err != nil {
		return Invalid
	}
	k := kindOf[c]
	if k == Invalid {
		_ = d.syntax(reasonValue)
	}
	return k
}

func (d *Decoder) begin(k Kind) error {
	if d.Kind() != k {
		if d.err != nil {
			return d.err
		}
		return ErrKind
	}
	d.ready = false
	return nil
}

// Object reads an object and calls member for each key, in order. member reads the
// value; if it does not, the value is skipped. An error of member ends the reading and
// is returned as it is.
func (d *Decoder) Object(member func(key string) error) error {
	var room [fewKeys]string
	seen := keys{few: room[:0]}
	held := d.held
	err := d.elements(Object, '}', func() error {
		key, err := d.key()
		if err != nil {
			return err
		}
		if reason := seen.add(key); reason != "" {
			return d.syntax(reason)
		}
		d.ready = true
		return d.finish(member(key))
	})
	d.held = held
	return err
}

// Array reads an array and calls element for each element. element reads it; if it does
// not, it is skipped. An error of element ends the reading and is returned as it is.
func (d *Decoder) Array(element func() error) error {
	return d.elements(Array, ']', func() error {
		d.ready = true
		return d.finish(element())
	})
}

func (d *Decoder) elements(k Kind, end byte, each func() error) error {
	if err := d.begin(k); err != nil {
		return err
	}
	if d.depth == MaxDepth {
		return d.syntax(reasonDepth)
	}
	d.depth++
	d.pos++ // the opening bracket
	c, err := d.next()
	for first := true; err == nil && c != end; first = false {
		if !first {
			if c != ',' {
				return d.syntax(reasonSeparator)
			}
			d.pos++
		}
		if err = each(); err == nil {
			c, err = d.next()
		}
	}
	if err != nil {
		return err
	}
	d.depth--
	d.pos++ // the closing bracket
	return nil
}

// finish ends the reading of a value by a callback that returned err.
func (d *Decoder) finish(err error) error {
	if d.err == nil {
		d.err = err
	}
	if d.err == nil && d.ready {
		return d.Skip()
	}
	if d.err == nil {
		return d.pass()
	}
	return d.err
}

// Skip consumes the next value of any kind, and checks it as reading does.
func (d *Decoder) Skip() error {
	var err error
	switch k := d.Kind(); k {
	case Object:
		err = d.Object(func(string) error { return nil })
	case Array:
		err = d.Array(func() error { return nil })
	case String:
		err = d.skipString()
	case Number, Bool, Null:
		_, err = d.literal(k)
	case Invalid:
		err = d.err
	}
	return err
}

// End returns nil if the text is one value with only white space after it. It skips the
// value if it was not read.
func (d *Decoder) End() error {
	if d.err == nil && d.ready {
		_ = d.Skip() // an error stays
	}
	if d.err == nil {
		_ = d.pass()
	}
	if d.err != nil {
		return d.err
	}
	err := d.space()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return d.fail(err)
	}
	return d.syntax(reasonSecond)
}
