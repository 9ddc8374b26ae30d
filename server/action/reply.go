package action

import (
	"io"
	"net/http"

	"pushbox/server/web"
	"pushbox/store"
)

// A Reply is the answer of an action: a status; a value that becomes the JSON body, or
// in its place a page, a text, an asset or a part of a file; and headers and cookies in
// addition to those of every answer.
type Reply struct {
	Status   int
	Body     any
	Template string // if set, body is what this page shows
	Reserved bool   // the page's memory is reserved: a view was counted, so the page must not fail
	Text     *Text
	Asset    *web.Asset
	To       string // if set, the path that the browser is redirected to
	Header   [][2]string
	Cookies  []*http.Cookie

	Lines func(write func(line any) error) error // if set, it writes the body as JSON lines during the answer

	File *store.Download
	Part Span
	Done func()                                  // called after the file was sent
	Rest func(file int) (*store.Download, error) // if set, all files are sent as an archive: file is the first, and this begins another
}

// JSONType is the media type of JSON.
const JSONType = "application/json; charset=utf-8"

// A Text is a reply that is neither JSON nor a page.
type Text struct {
	Media string
	Body  []byte
	Write func(io.Writer) error // replaces body for a text that may be long; nil: none
}

// A Span is a part of a file.
type Span struct{ From, Length int64 }

// OK is a reply of a success, with its JSON.
func OK(body any) Reply { return Reply{Status: http.StatusOK, Body: body} }

// Created is a reply with the JSON of what was made.
func Created(body any) Reply { return Reply{Status: http.StatusCreated, Body: body} }

// TextType is the media type of plain text.
const TextType = "text/plain; charset=utf-8"

// Made is the reply to a request that created something with a link: the JSON, or the link alone on
// a line for a client that wants text.
func (r *Request) Made(link string, body any) Reply {
	if r.WantsText() {
		return Reply{Status: http.StatusCreated, Text: &Text{Media: TextType, Body: []byte(link + "\n")}}
	}
	return Created(body)
}

// Show returns a reply with a page: the name of a template, and its data.
func Show(status int, template string, page any) Reply {
	return Reply{Status: status, Template: template, Body: page}
}

// GoTo redirects the browser (RFC 9110 section 15.4.4), to a path that the server
// chose and never the client.
func GoTo(path string) Reply { return Reply{Status: http.StatusSeeOther, To: path} }

// With returns the reply with more cookies. It ignores nil.
func (r Reply) With(cookies ...*http.Cookie) Reply {
	for _, c := range cookies {
		if c != nil {
			r.Cookies = append(r.Cookies, c)
		}
	}
	return r
}
