package server

import (
	"errors"
	"mime"
	"net/http"
	"strings"

	"pushbox/internal/strictjson"
)

// The media types of bodies that are read.
const (
	typeJSON      = "application/json"
	typeForm      = "application/x-www-form-urlencoded"
	typeMultipart = "multipart/form-data"
)

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
	errCut    = badRequest("The request body could not be read to its end.")
	errNoPush = badRequest("The request body must have a push object with at least one field, such as {\"push\":{\"payload\":\"...\"}}, or push[payload]=... in a form.")
)

// readPush reads the push object of a request.
func (s *Server) readPush(r *request) (f fields, err error) {
	media, params, err := s.bodyType(r)
	if err != nil {
		return nil, err
	}
	done, err := s.bodies.enter(r)
	if err != nil {
		return nil, err
	}
	defer done()
	if media == typeJSON {
		f, err = readJSON(r.Body)
	} else {
		f, err = readFields(r, media, params["boundary"])
	}
	if err != nil {
		return nil, bodyError(err)
	}
	if len(f) == 0 {
		return nil, errNoPush
	}
	return f, nil
}

// bodyType returns the media type of a body that is worth reading.
func (s *Server) bodyType(r *request) (media string, params map[string]string, err error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return "", nil, errEncoding
	}
	media, params, err = mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return "", nil, errMediaType
	}
	if media != typeJSON && media != typeForm && media != typeMultipart {
		return "", nil, errMediaType
	}
	if r.ContentLength > int64(s.cfg.Limits.MaxBody) {
		return "", nil, errTooLarge
	}
	return media, params, nil
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

// readFields reads the push object of a form: fields named push[NAME], or
// push[NAME][...] for what is no single text. Other names are not for us.
func readFields(r *request, media, boundary string) (fields, error) {
	pairs, err := readForm(r.Body, media, boundary)
	if err != nil {
		return nil, err
	}
	f := make(fields)
	for _, p := range pairs {
		key, single, ok := bracketName(p.name)
		if !ok {
			continue
		}
		v, twice := f[key]
		switch {
		case !single:
			v.shape = asList
			if p.text != "" || p.file {
				v.items++
			}
		case twice:
			return nil, errTwice
		default:
			v = value{shape: asText, text: p.text}
		}
		f[key] = v
	}
	return f, nil
}

// bracketName takes push[NAME] apart, and push[NAME][...], which is not single.
func bracketName(name string) (key string, single, ok bool) {
	rest, ok := strings.CutPrefix(name, "push[")
	key, rest, closed := strings.Cut(rest, "]")
	return key, rest == "", ok && closed && key != "" && (rest == "" || rest[0] == '[')
}
