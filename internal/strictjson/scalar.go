package strictjson

import (
	"io"
	"strings"
)

// String reads a string of at most limit bytes, unescaped. A longer one is read
// to its end without being kept, and is ErrTooLong.
func (d *Decoder) String(limit int) (string, error) {
	if err := d.begin(String); err != nil {
		return "", err
	}
	return d.text(limit)
}

// Number reads a number and returns it as it is written.
func (d *Decoder) Number() (string, error) {
	if err := d.begin(Number); err != nil {
		return "", err
	}
	literal, err := d.literal()
	if err != nil {
		return "", err
	}
	if !validNumber(literal) {
		return "", d.syntax(reasonLiteral)
	}
	return literal, nil
}

// Bool reads true or false.
func (d *Decoder) Bool() (bool, error) {
	if err := d.begin(Bool); err != nil {
		return false, err
	}
	literal, err := d.literal()
	if err != nil {
		return false, err
	}
	if literal != "true" && literal != "false" {
		return false, d.syntax(reasonLiteral)
	}
	return literal == "true", nil
}

// Null reads null.
func (d *Decoder) Null() error {
	if err := d.begin(Null); err != nil {
		return err
	}
	literal, err := d.literal()
	if err != nil {
		return err
	}
	if literal != "null" {
		return d.syntax(reasonLiteral)
	}
	return nil
}

// literal reads a number or word: a run of the bytes that those are made of.
// The caller judges it.
func (d *Decoder) literal() (string, error) {
	var room [MaxLiteral]byte
	run := room[:0]
	for {
		for ; d.pos < d.end; d.pos++ {
			c := d.buf[d.pos]
			if !literalByte(c) {
				return string(run), nil
			}
			if len(run) == MaxLiteral {
				return "", d.syntax(reasonLiteral)
			}
			run = append(run, c)
		}
		if err := d.more(); err == io.EOF {
			return string(run), nil // the end of the text ends a literal
		} else if err != nil {
			return "", d.fail(err)
		}
	}
}

func literalByte(c byte) bool {
	return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '-' || c == '+' || c == '.'
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// validNumber reports whether s is a number by RFC 8259, section 6.
func validNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	rest := afterDigits(s)
	if rest == s || s[0] == '0' && len(s)-len(rest) > 1 {
		return false
	}
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		if rest = afterDigits(fraction); rest == fraction {
			return false
		}
	}
	if rest == "" {
		return true
	}
	if rest[0]|0x20 != 'e' {
		return false
	}
	exponent := rest[1:]
	if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
		exponent = exponent[1:]
	}
	return exponent != "" && afterDigits(exponent) == ""
}

// afterDigits returns s without the digits at its start.
func afterDigits(s string) string {
	for s != "" && digit(s[0]) {
		s = s[1:]
	}
	return s
}
