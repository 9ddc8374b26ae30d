package strictjson

import (
	"encoding/json"
	"io"
	"slices"
)

// String reads a string of at most limit bytes, and returns it unescaped. A longer one
// is read to its end but not kept, and the error is ErrTooLong.
func (d *Decoder) String(limit int) (string, error) {
	if err := d.begin(String); err != nil {
		return "", err
	}
	return d.text(limit)
}

// Number reads a number and returns its text.
func (d *Decoder) Number() (string, error) { return d.literal(Number) }

// Bool reads true or false.
func (d *Decoder) Bool() (bool, error) {
	literal, err := d.literal(Bool)
	return literal == "true", err
}

// Null reads null.
func (d *Decoder) Null() error {
	_, err := d.literal(Null)
	return err
}

// literal reads a number or word of a kind, which its first byte shows.
func (d *Decoder) literal(k Kind) (string, error) {
	if err := d.begin(k); err != nil {
		return "", err
	}
	run, err := d.run()
	if err != nil {
		return "", err
	}
	if !json.Valid([]byte(run)) {
		return "", d.syntax(reasonLiteral)
	}
	return run, nil
}

// run reads a run of the bytes that numbers and words are made of.
func (d *Decoder) run() (string, error) {
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
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '-' || c == '+' || c == '.'
}

// fewKeys is how many keys are compared one by one; most objects have fewer.
const fewKeys = 16

// keys are the keys of one object that were read so far.
type keys struct {
	few  []string        // the first ones
	many map[string]bool // the others; nil: there are none
}

func (k *keys) add(key string) (reason string) {
	switch {
	case k.many[key] || slices.Contains(k.few, key):
		return reasonDuplicate
	case len(k.few)+len(k.many) == MaxMembers:
		return reasonMembers
	case len(k.few) < fewKeys:
		k.few = append(k.few, key)
		return ""
	case k.many == nil:
		k.many = make(map[string]bool, 4*fewKeys)
	}
	k.many[key] = true
	return ""
}

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
