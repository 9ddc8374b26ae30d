package server

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"pushbox/internal/strictjson"
)

// A body is bounded in its fields as well as in its size.
const maxFormFields = 100 // of a form, or parts of a multipart body

// A shape says as what a member of a push object was sent.
type shape uint8

const (
	asNothing shape = iota // it was not sent
	asNull
	asText
	asNumber
	asBool
	asList
	asObject
)

// A value is a member of a push object, from whichever kind of body. A form
// knows texts and lists only.
type value struct {
	shape shape
	text  string // of a text; of a number or boolean as it was written
	items int    // of a list
}

// fields are the members of a request's push object.
type fields map[string]value

// Bad bodies, in words that may be shown.
const (
	errBody     = badRequest("The request body is not valid.")
	errCut      = badRequest("The request body could not be read to its end.")
	errNoPush   = badRequest("The request body must have a push object with at least one field, such as {\"push\":{\"payload\":\"...\"}}.")
	errManyBits = badRequest("The request body has too many fields.")
)

// readPush reads the push object of a request.
func readPush(r *request) (fields, error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, errEncoding
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return nil, errMediaType
	}
	var f fields
	switch media {
	case "application/json":
		f, err = readJSON(r.Body)
	case "application/x-www-form-urlencoded":
		f, err = readForm(r.Body)
	case "multipart/form-data":
		f, err = readMultipart(r.Body, params["boundary"])
	default:
		return nil, errMediaType
	}
	if err != nil {
		return nil, bodyError(err)
	}
	if len(f) == 0 {
		return nil, errNoPush
	}
	return f, nil
}

// bodyError tells what went wrong while a body was read: it was too large, it
// did not arrive, or it is not what it says.
func bodyError(err error) error {
	var (
		large  *http.MaxBytesError
		bad    badRequest
		syntax *strictjson.SyntaxError
	)
	switch {
	case errors.As(err, &large):
		return errTooLarge
	case errors.As(err, &bad):
		return err
	case errors.As(err, &syntax):
		return badRequest("The request body is not valid JSON as this API reads it: " + syntax.Error() + ".")
	default:
		return errCut
	}
}

// readForm reads an application/x-www-form-urlencoded body.
func readForm(body io.Reader) (fields, error) {
	b, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if strings.Count(string(b), "&") >= maxFormFields {
		return nil, errManyBits
	}
	values, err := url.ParseQuery(string(b))
	if err != nil {
		return nil, errBody
	}
	f := make(fields)
	for name, texts := range values {
		for _, t := range texts {
			if err := f.add(name, t); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// readMultipart reads a multipart/form-data body.
func readMultipart(body io.Reader, boundary string) (fields, error) {
	if boundary == "" {
		return nil, errBody
	}
	f := make(fields)
	parts := multipart.NewReader(body, boundary)
	for range maxFormFields {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return nil, formError(err)
		}
		if part.FileName() != "" {
			f.count(part.FormName())
			return f, nil // what to do with files is known without reading them
		}
		b, err := io.ReadAll(part)
		if err != nil {
			return nil, formError(err)
		}
		if err := f.add(part.FormName(), string(b)); err != nil {
			return nil, err
		}
	}
	return nil, errManyBits
}

// formError keeps apart a multipart body that is broken and one that is too
// large or did not arrive: the reader wraps neither.
func formError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return errBody
}

// add notes a field of a form, whose name is push[NAME], or push[NAME][] for an
// item of a list. Other names are not for us.
func (f fields) add(name, content string) error {
	if !utf8.ValidString(name) || !utf8.ValidString(content) {
		return errBody
	}
	key, isList, ok := bracketName(name)
	if !ok {
		return nil
	}
	if isList {
		f.count(name)
		return nil
	}
	if _, twice := f[key]; twice {
		return errBody
	}
	f[key] = value{shape: asText, text: content}
	return nil
}

// count notes an item of a list, of which only the number matters.
func (f fields) count(name string) {
	if key, _, ok := bracketName(name); ok {
		f[key] = value{shape: asList, items: f[key].items + 1}
	}
}

// bracketName takes push[NAME] and push[NAME][] apart.
func bracketName(name string) (key string, isList, ok bool) {
	name, isList = strings.CutSuffix(name, "[]")
	key, ok = strings.CutPrefix(name, "push[")
	if !ok {
		return "", false, false
	}
	key, ok = strings.CutSuffix(key, "]")
	return key, isList, ok && key != "" && !strings.ContainsAny(key, "[]")
}

// formPassphrase reads the field passphrase of a request whose body is a form.
// Other bodies have no passphrase.
func formPassphrase(r *request) (string, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return "", nil
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return "", bodyError(err)
	}
	values, err := url.ParseQuery(string(b))
	if err != nil {
		return "", errBody
	}
	return values.Get("passphrase"), nil
}
