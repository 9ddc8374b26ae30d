package body

import (
	"cmp"
	"math"
	"strings"

	"pushbox/internal/secret"
	"pushbox/internal/strictjson"
)

// readJSON reads an object. It skips members that are not fields.
func (r *Reader) readJSON(into Sink) error {
	d := strictjson.NewDecoder(r)
	if d.Kind() != strictjson.Object {
		if err := d.End(); err != nil {
			return err
		}
		return ErrNoObject
	}
	err := d.Object(func(key string) error {
		switch {
		case key == r.options.Object && d.Kind() == strictjson.Object:
			return d.Object(func(key string) error { return r.member(d, key, into) })
		case r.options.Flat:
			return r.member(d, key, into)
		default:
			return nil
		}
	})
	if err != nil {
		return err
	}
	return d.End()
}

func (r *Reader) member(d *strictjson.Decoder, key string, into Sink) error {
	if r.options.Files != nil && key == r.options.FilesField {
		return r.readFiles(d, key, into)
	}
	v, err := readValue(d)
	if err != nil {
		return err
	}
	return into.Field(key, v)
}

// readValue reads a field. It does not bound its length: the text of the whole body has a bound,
// and the store has one for each field.
func readValue(d *strictjson.Decoder) (Value, error) {
	switch d.Kind() {
	case strictjson.String:
		text, err := d.String(math.MaxInt)
		return Value{Shape: String, Text: secret.New(text)}, err
	case strictjson.Number:
		text, err := d.Number()
		return Value{Shape: Number, Text: secret.New(text)}, err
	case strictjson.Bool:
		yes, err := d.Bool()
		return Value{Shape: Bool, Text: boolText(yes)}, err
	case strictjson.Array:
		return readList(d)
	case strictjson.Object:
		return Value{Shape: Object}, d.Skip()
	default:
		return Value{Shape: Null}, d.Null()
	}
}

func readList(d *strictjson.Decoder) (Value, error) {
	var items strings.Builder
	err := d.Array(func() error {
		text, err := "?", error(nil)
		if d.Kind() == strictjson.String {
			text, err = d.String(math.MaxInt)
		} else {
			err = d.Skip()
		}
		items.WriteString(text + ",")
		return err
	})
	return Value{Shape: List, Items: secret.New(items.String())}, err
}

func boolText(b bool) secret.Text {
	if b {
		return secret.New("true")
	}
	return secret.New("false")
}

// howFiles says how files are sent.
const howFiles BadFile = "must be sent as multipart/form-data, each with a filename, or in JSON as a list of objects with filename and content in base64"

// readFiles reads the value of the files' field: a list of files. Null, a blank text and
// an empty list mean that there are none.
func (r *Reader) readFiles(d *strictjson.Decoder, key string, into Sink) error {
	shape := Null
	some := func() error {
		shape = List
		return into.Field(key, Value{Shape: List})
	}
	var err error
	switch d.Kind() {
	case strictjson.Array:
		err = d.Array(func() error {
			if shape == Null {
				if err := some(); err != nil {
					return err
				}
			}
			return r.readFile(d)
		})
	case strictjson.Null, strictjson.Invalid:
		err = d.Skip()
	case strictjson.String:
		var text string
		if text, err = d.String(math.MaxInt); err == nil && strings.TrimSpace(text) != "" {
			err = cmp.Or(some(), error(howFiles))
		}
	default:
		err = cmp.Or(some(), error(howFiles))
	}
	if err != nil || shape == List {
		return err
	}
	return into.Field(key, Value{Shape: Null})
}

// readFile reads {"filename":..., "content_type":..., "content":...}, in any
// order; other members are skipped.
func (r *Reader) readFile(d *strictjson.Decoder) error {
	var name, media string
	has := false
	err := d.Object(func(key string) (err error) {
		switch key {
		case "filename":
			name, err = readLabel(d, key)
		case "content_type":
			media, err = readLabel(d, key)
		case "content":
			has = true
			err = r.readContent(d)
		}
		return err
	})
	switch {
	case err == strictjson.ErrKind:
		return howFiles
	case err != nil:
		return err
	case !has:
		return BadFile("content is missing")
	}
	r.options.Files.Describe(name, media)
	return nil
}

// maxLabel is the longest text that describes a file, in bytes. A file name may
// become shorter when it is made harmless.
const maxLabel = maxPartHead

// readLabel reads a text that describes a file.
func readLabel(d *strictjson.Decoder, key string) (string, error) {
	if d.Kind() == strictjson.Null {
		return "", d.Null()
	}
	text, err := d.String(maxLabel)
	switch err {
	case strictjson.ErrKind:
		return "", BadFile(key + " must be a text")
	case strictjson.ErrTooLong:
		return "", BadFile(key + " is too long")
	default:
		return text, err
	}
}

// readContent reads a file in base64.
func (r *Reader) readContent(d *strictjson.Decoder) error {
	text, err := d.Text()
	if err == strictjson.ErrKind {
		return BadFile("content must be a text in base64")
	}
	if err != nil {
		return err
	}
	err = r.file(newBase64Reader(text), 0, d.Offset)
	if err == errBase64 {
		return BadFile("content is not valid base64")
	}
	return err
}
