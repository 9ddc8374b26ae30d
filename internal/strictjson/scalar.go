package strictjson

import (
	"io"
	"strings"
)

// String reads a string of at most limit bytes, and returns it unescaped. A longer one
// is read to its end but not kept, and the error is ErrTooLong.
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

// fewKeys is how many keys are compared one by one; most objects have fewer.
const fewKeys = 16

// keys are the keys of one object that were read so far.
type keys struct {
	few  []string            // while they are few
	many map[string]struct{} // all of them, once they are more
}

// add records a key and returns the reason to refuse it, if there is one.
func (k *keys) add(key string) (reason string) {
	if k.many == nil {
		for _, other := range k.few {
			if other == key {
				return reasonDuplicate
			}
		}
		if len(k.few) < fewKeys {
			k.few = append(k.few, key)
			return ""
		}
		k.many = make(map[string]struct{}, 4*fewKeys)
		for _, other := range k.few {
			k.many[other] = struct{}{}
		}
	}
	if _, ok := k.many[key]; ok {
		return reasonDuplicate
	}
	if len(k.many) == MaxMembers {
		return reasonMembers
	}
	k.many[key] = struct{}{}
	return ""
}

// key reads the key of a member and the colon after it.
func (d *Decoder) key() (string, error) {
	c, err := d.next()
	if err != nil {
		return "", err
	}
	if c != '"' {
		return "", d.syntax(reasonKey)
	}
	key, err := d.text(MaxKey)
	if err == ErrTooLong || d.held+len(key) > MaxKeys {
		return "", d.syntax(reasonKeyLength)
	}
	if err != nil {
		return "", err
	}
	d.held += len(key)
	c, err = d.next()
	if err != nil {
		return "", err
	}
	if c != ':' {
		return "", d.syntax(reasonColon)
	}
	d.pos++
	return key, nil
}
