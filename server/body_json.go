package server

import (
	"io"
	"math"

	"pushbox/internal/strictjson"
)

// readJSON reads {"push":{...}}; what else the body has is skipped. A push that
// is no object counts as one without fields.
func readJSON(body io.Reader) (f fields, err error) {
	d := strictjson.NewDecoder(body)
	if d.Kind() == strictjson.Object {
		err = d.Object(func(key string) error {
			if key == "push" && d.Kind() == strictjson.Object {
				f, err = readMembers(d)
				return err
			}
			return nil
		})
	} else {
		err = d.Skip()
	}
	if err != nil {
		return nil, err
	}
	return f, d.End()
}

func readMembers(d *strictjson.Decoder) (fields, error) {
	f := make(fields)
	return f, d.Object(func(key string) error {
		v, err := readValue(d)
		f[key] = v
		return err
	})
}

// readValue reads a member of the push object. How long a text may be is the
// store's business; the body as a whole is bounded.
func readValue(d *strictjson.Decoder) (v value, err error) {
	switch d.Kind() {
	case strictjson.String:
		v.shape = asText
		v.text, err = d.String(math.MaxInt)
	case strictjson.Number:
		v.shape = asNumber
		v.text, err = d.Number()
	case strictjson.Bool:
		var b bool
		b, err = d.Bool()
		v = value{shape: asBool, text: boolWord(b)}
	case strictjson.Array:
		v.shape = asList
		err = d.Array(func() error { v.items++; return nil })
	case strictjson.Object:
		v.shape = asObject
		err = d.Skip()
	default:
		v.shape = asNull
		err = d.Null()
	}
	return v, err
}

func boolWord(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
