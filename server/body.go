package server

import (
	"errors"
	"mime"
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
}

// fields are the members of a request's push object.
type fields map[string]value

// Bad bodies, in words that may be shown.
const (
	errCut    = badRequest("The request body could not be read to its end.")
	errNoPush = badRequest("The request body must have a push object with at least one field, such as {\"push\":{\"payload\":\"...\"}}, or push[payload]=... in a form.")
)

// bodyType returns the media type of a body that can be read.
func bodyType(r *request) (media string, params map[string]string, err error) {
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
	return media, params, nil
}

// longest is the longest body of a create request that may come to anything, in
// bytes. In base64 a file takes a third more, and again a little for line breaks
// and escapes. Who may push no files is told so when there is one.
func (s *Server) longest(media string) int64 {
	text := int64(s.cfg.Limits.MaxBody)
	files := int64(s.cfg.Files.MaxFileUploads) * int64(s.cfg.Files.MaxFileSize)
	switch {
	case media == typeForm:
		return text
	case media == typeJSON:
		return text + files/2*3
	default:
		return text + files
	}
}

// readPush reads what a create request asks for. in.close gives back what its
// files took, unless the push is created.
func (in *intake) readPush() error {
	media, params, err := bodyType(in.r)
	if err != nil {
		return err
	}
	if in.page && media == typeJSON {
		return errMediaType
	}
	if in.r.ContentLength > in.server.longest(media) {
		return errTooLarge
	}
	in.body.share(&in.r.memory)
	defer in.release()
	switch media {
	case typeJSON:
		err = in.readJSON()
	case typeMultipart:
		err = in.readMultipart(params["boundary"])
	default:
		err = in.readForm()
	}
	if err == nil {
		err = in.body.end()
	}
	if err != nil {
		in.body.leave()
		return bodyError(err)
	}
	in.whole = true
	if len(in.fields) == 0 {
		return errNoPush
	}
	return nil
}

// release gives back memory that reading took. What a page's form has may come
// back: the rest is held until it did.
func (in *intake) release() {
	if in.page {
		in.body.memory.keep(in.body.text())
	} else {
		in.body.memory.done()
	}
}

// bodyError puts it into words why a body is not the JSON that it says.
func bodyError(err error) error {
	var syntax *strictjson.SyntaxError
	if errors.As(err, &syntax) {
		return badRequest("The request body is not valid JSON as this API reads it: " + syntax.Error() + ".")
	}
	return err
}
