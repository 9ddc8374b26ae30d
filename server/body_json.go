package server

import (
	"math"

	"pushbox/internal/strictjson"
)

// readJSON reads {"push":{...}}; what else the body has is skipped. A push that
// is no object counts as one without fields.
func (in *intake) readJSON() (err error) {
	d := strictjson.NewDecoder(in.body)
	if d.Kind() == strictjson.Object {
		err = d.Object(func(key string) error {
			if key == "push" && d.Kind() == strictjson.Object {
				return d.Object(func(key string) error { return in.readMember(d, key) })
			}
			return nil
		})
	} else {
		err = d.Skip()
	}
	if err != nil {
		return err
	}
	return d.End()
}

func (in *intake) readMember(d *strictjson.Decoder, key string) error {
	if key == filesField {
		return in.readFiles(d)
	}
	v, err := readValue(d)
	if err != nil {
		return err
	}
	return in.set(key, v)
}

// readValue reads a member of the push object. How long a text may be is the
// store's business; the text of a body is bounded as a whole.
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
		err = d.Skip()
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

// readFiles reads the list of files, if it is one.
func (in *intake) readFiles(d *strictjson.Decoder) error {
	if err := in.set(filesField, value{shape: asList}); err != nil {
		return err
	}
	switch d.Kind() {
	case strictjson.Array:
		return d.Array(func() error { return in.readFile(d) })
	case strictjson.Null, strictjson.Invalid:
		return d.Skip()
	default:
		return in.refuse(howFiles)
	}
}

// readFile reads {"filename":..., "content_type":..., "content":...}, in any
// order; other members are skipped.
func (in *intake) readFile(d *strictjson.Decoder) error {
	var name, media string
	has := false
	err := d.Object(func(key string) (err error) {
		switch key {
		case "filename":
			name, err = in.readLabel(d, key)
		case "content_type":
			media, err = in.readLabel(d, key)
		case "content":
			has = true
			err = in.readContent(d)
		}
		return err
	})
	switch {
	case err == strictjson.ErrKind:
		return in.refuse(howFiles)
	case err != nil:
		return err
	case !has:
		return in.refuse("content is missing")
	}
	in.files.Describe(name, media)
	return nil
}

// maxLabel is how long a name of a file may be before it is made harmless, in
// bytes.
const maxLabel = maxPartHead

// readLabel reads a text that is said of a file.
func (in *intake) readLabel(d *strictjson.Decoder, key string) (string, error) {
	if d.Kind() == strictjson.Null {
		return "", d.Null()
	}
	text, err := d.String(maxLabel)
	switch err {
	case strictjson.ErrKind:
		return "", in.refuse(key + " must be a text")
	case strictjson.ErrTooLong:
		return "", in.refuse(key + " is too long")
	default:
		return text, err
	}
}

// readContent reads a file in base64.
func (in *intake) readContent(d *strictjson.Decoder) error {
	text, err := d.Text()
	if err == strictjson.ErrKind {
		return in.refuse("content must be a text in base64")
	}
	if err != nil {
		return err
	}
	begin := d.Offset()
	if _, err := in.add(newBase64Reader(text)); err == errBase64 {
		return in.refuse("content is not valid base64")
	} else if err != nil {
		return err
	}
	in.body.endFile(d.Offset() - begin)
	return nil
}
