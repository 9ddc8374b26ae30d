// Package body reads the bodies of requests into fields and files: JSON, forms and
// multipart forms. It uses bounded memory, and changes nothing: it returns a text or a
// file exactly as it was sent, or refuses the body.
//
// A caller says in Options what it expects, and gives a Sink, which takes each
// field and file as it arrives. All texts of a body are secret.Text from the
// parser on, since any of them may be a payload, a passphrase or a password.
package body

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"strings"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/internal/strictjson"
)

// Errors of a body that is refused before it is read to its end.
var (
	ErrMediaType = errors.New("unsupported media type")
	ErrEncoding  = errors.New("unsupported content encoding")
	ErrTooLarge  = errors.New("the request body is too large")
)

// A Bad says why a body or query is not valid. Clients may see its text.
type Bad string

func (e Bad) Error() string { return string(e) }

// Reasons why a body or query is not valid. Errors in JSON have more.
const (
	ErrCut         Bad = "The request body could not be read to its end."
	ErrNoObject    Bad = "The request body must be a JSON object."
	ErrPercent     Bad = "The form or query is not valid: a % must be followed by two hexadecimal digits. With curl, use --data-urlencode."
	ErrUTF8        Bad = "The form or query is not valid UTF-8."
	ErrTwice       Bad = "The form or query has a field twice."
	ErrBoth        Bad = "The body and the query both have fields: send all of them in the body."
	ErrFields      Bad = "The form or query has too many fields."
	ErrMultipart   Bad = "The multipart body is not valid."
	ErrPartHead    Bad = "A part of the multipart body has a header that is too long."
	ErrDisposition Bad = "A part of the multipart body has no valid header Content-Disposition: form-data with a name."
)

// A BadFile says why a file is refused. Clients may see its text, which continues a
// sentence that begins with the name of the files' field.
type BadFile string

func (e BadFile) Error() string { return string(e) }

// A Shape is the type of a value in JSON. A form has only strings and lists.
type Shape uint8

// The shapes. None is the shape of a field that was not sent.
const (
	None Shape = iota
	Null
	String
	Number
	Bool
	List
	Object
)

// A Value is the value of a field.
type Value struct {
	Shape Shape
	Text  secret.Text // of a string; of a number or bool, as it was written
	Items secret.Text // of a list: its strings, each with a comma behind it; ? for what is no string
}

// A Sink takes the fields of a body. If it returns an error, Read stops and returns
// that error.
type Sink interface {
	// Field takes a field. A name may come more than once.
	Field(name string, v Value) error
}

// A FileSink is a Sink that also takes files. Before each file, Read calls Field with
// the files' field and a List; or with Null if the field is there but no file in it.
type FileSink interface {
	Sink
	// File reads a file to its end.
	File(f *File) error
	// Read calls Expect before it reads the body, with the least number of bytes that its files
	// must have for the declared length, unless that is zero.
	Expect(files int64) error
	// Describe gives the last file its name and media type, as they were sent. It
	// follows File, since JSON may have them after the content.
	Describe(filename, mediaType string)
}

// Options say what a body may contain, and how much of it.
type Options struct {
	// Object is the object whose members are fields, such as push in
	// {"push":{"payload":"x"}} and in push[payload]=x. Empty: there is none.
	Object string
	// Flat says that fields may also be outside the object.
	Flat bool
	// JSON says that the body may be JSON, not only a form.
	JSON bool
	// Query says that the fields may be in the query instead, if the body is empty.
	Query bool

	MaxText int64              // bytes of the body that are not the content of files
	Memory  *limit.Reservation // Read resizes it to fit the text; nil: the text is short, and there are no files

	Files       FileSink // takes the files; nil: none are expected
	FilesField  string   // the member of Object with the files
	MaxFiles    int
	MaxFileSize int64 // bytes
}

// The media types of bodies that are read.
const (
	TypeJSON      = "application/json"
	typeJSONAPI   = "application/vnd.api+json" // some frameworks send it, with JSON of any form
	TypeForm      = "application/x-www-form-urlencoded"
	TypeMultipart = "multipart/form-data"
)

// mediaType returns the media type of a body that can be read, and the boundary of
// its parts. A body without a type is a form.
func mediaType(h http.Header, jsonToo bool) (media, boundary string, err error) {
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return "", "", ErrEncoding
	}
	media = h.Get("Content-Type")
	switch {
	case media == TypeJSON && jsonToo: // nearly always
		return media, "", nil
	case media == "":
		return TypeForm, "", nil
	}
	media, params, err := mime.ParseMediaType(media)
	if err != nil || !isUTF8(params["charset"]) {
		return "", "", ErrMediaType
	}
	if media == typeJSONAPI {
		media = TypeJSON
	}
	if media != TypeForm && media != TypeMultipart && (media != TypeJSON || !jsonToo) {
		return "", "", ErrMediaType
	}
	return media, params["boundary"], nil
}

// isUTF8 reports whether a charset is UTF-8, by one of its names in use, or a part of it.
// No charset means UTF-8.
func isUTF8(charset string) bool {
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii":
		return true
	default:
		return false
	}
}

// Read reads a body into a Sink. Afterwards the options' memory holds only the text. Errors are
// those above, those of the Sink, and limit.ErrBusy if there is no memory.
func Read(ctx context.Context, r *Reader, o Options, into Sink) error {
	media, boundary, err := mediaType(r.http.Header, o.JSON)
	if err != nil {
		return err
	}
	if r.http.ContentLength > o.longest(media) {
		return ErrTooLarge
	}
	if least := o.leastFiles(media, r.http.ContentLength); least > 0 {
		if err := o.Files.Expect(least); err != nil {
			return err
		}
	}
	r.begin(ctx, o)
	switch {
	case o.Query && r.http.ContentLength == 0:
		err = r.readQuery(into)
	case o.Query && r.queryHasFields():
		err = ErrBoth
	case media == TypeJSON:
		err = r.readJSON(into)
	case media == TypeForm:
		err = r.readForm(into)
	default:
		err = r.readMultipart(boundary, into)
	}
	return r.end(err)
}

// longest returns the length in bytes of the longest body that can be read. In base64
// a file is longer by a third, and by a little more for line breaks and escapes.
func (o *Options) longest(media string) int64 {
	files := int64(o.MaxFiles) * o.MaxFileSize
	switch media {
	case TypeForm:
		return o.MaxText
	case TypeJSON:
		return o.MaxText + files/2*3
	default:
		return o.MaxText + files
	}
}

// leastFiles returns how many bytes the files in a body of that length have at least.
func (o *Options) leastFiles(media string, length int64) int64 {
	beyond := length - o.MaxText
	switch {
	case o.Files == nil || media == TypeForm || beyond <= 0:
		return 0
	case media == TypeJSON:
		return beyond / 3 * 2
	default:
		return beyond
	}
}

// badSyntax turns a syntax error in JSON into a Bad.
func badSyntax(err error) error {
	var syntax *strictjson.SyntaxError
	if errors.As(err, &syntax) {
		return Bad("The request body is not valid JSON as this API reads it: " + syntax.Error() + ".")
	}
	return err
}
