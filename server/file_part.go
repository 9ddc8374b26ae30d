package server

import (
	"mime"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A partHead is what the header of a part of multipart/form-data says.
type partHead struct {
	name     string // of the field
	file     bool   // it has a file name, though maybe an empty one
	filename string // as it was sent: a path, or anything else
	media    string // the Content-Type of a file
	size     int64  // its declared length; 0: it has none
}

// readHead reads the header of a part. One that does not say of which field it
// is would be a part that is lost, and is refused instead.
func readHead(p *multipart.Part) (partHead, error) {
	if headSize(p.Header) > maxPartHead {
		return partHead{}, errPartHead
	}
	disposition := p.Header.Get("Content-Disposition")
	kind, params, err := mime.ParseMediaType(disposition)
	name, named := params["name"]
	if err != nil || kind != "form-data" || !named {
		return partHead{}, errDisposition
	}
	h := partHead{name: name, media: p.Header.Get("Content-Type")}
	h.size, _ = strconv.ParseInt(p.Header.Get("Content-Length"), 10, 64)
	h.filename, h.file = params["filename"]
	if strings.Contains(strings.ToLower(disposition), "filename*") { // RFC 5987; it goes before filename
		h.file = true
	} else {
		h.filename = browserEscapes.Replace(h.filename)
	}
	if !utf8.ValidString(name) || !utf8.ValidString(h.filename) {
		return partHead{}, errUTF8
	}
	return h, nil
}

// browserEscapes undoes what browsers do to file names, as the HTML Standard
// tells them to under "multipart form data". A percent sign they leave alone.
var browserEscapes = strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n")

// headSize is how many bytes the lines of a header take.
func headSize(h textproto.MIMEHeader) (size int) {
	for key, values := range h {
		for _, v := range values {
			size += len(key) + len(": ") + len(v) + len("\r\n")
		}
	}
	return size
}
