package body

import (
	"bufio"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"
	"unicode/utf8"

	"pushbox/internal/secret"
)

// readMultipart reads multipart/form-data.
func (r *Reader) readMultipart(boundary string, into Sink) error {
	if boundary == "" {
		return ErrMultipart
	}
	// multipart.Reader accepts a body that ends after any boundary, not only after the last one.
	// With an added empty line such a body has one more part, which is refused.
	parts := multipart.NewReader(io.MultiReader(r, strings.NewReader("\r\n\r\n")), boundary)
	most := maxFields
	if r.options.Files != nil {
		most += r.options.MaxFiles
	}
	for n := 0; ; n++ {
		part, h, err := r.nextPart(parts)
		if err == io.EOF {
			return nil
		}
		if err == nil && n == most {
			err = ErrFields
		}
		if err == nil {
			err = r.readPart(part, h, into)
		}
		if err != nil {
			return err
		}
	}
}

// nextPart reads the header of the next part. It returns io.EOF if there is none.
func (r *Reader) nextPart(parts *multipart.Reader) (part *multipart.Part, h partHead, err error) {
	err = r.header(func() error {
		if part, err = parts.NextRawPart(); err == io.EOF {
			return err
		} else if err != nil {
			return r.fault(ErrMultipart)
		}
		h, err = readHead(part)
		return err
	})
	return part, h, err
}

// readPart reads a part: a file, or a text.
func (r *Reader) readPart(part *multipart.Part, h partHead, into Sink) error {
	if key, _, ok := r.cutName(h.name); ok && r.options.Files != nil && key == r.options.FilesField {
		return r.filePart(part, h, into)
	}
	text, err := readText(part)
	if err != nil {
		return r.fault(ErrMultipart)
	}
	if !utf8.ValidString(text) {
		return ErrUTF8
	}
	return r.field(h.name, secret.New(text), into)
}

// filePart reads a file. Browsers send an empty part without a file name for a
// field in which no file was chosen.
func (r *Reader) filePart(part *multipart.Part, h partHead, into Sink) error {
	source := &partReader{body: r, part: part}
	content := bufio.NewReaderSize(source, minBuffer)
	if h.filename == "" { // perhaps no file was chosen
		if _, err := content.Peek(1); err == io.EOF {
			return into.Field(r.options.FilesField, Value{Shape: Null})
		} else if err != nil {
			return err
		}
	}
	if err := into.Field(r.options.FilesField, Value{Shape: List}); err != nil {
		return err
	}
	if !h.file {
		return howFiles
	}
	offset := func() int64 { return source.read - int64(content.Buffered()) }
	if err := r.file(content, h.size, offset); err != nil {
		return err
	}
	r.options.Files.Describe(h.filename, h.media)
	return nil
}

// minBuffer is the smallest buffer of a bufio.Reader; larger reads bypass it.
const minBuffer = 16

// A partReader reads the content of a part. Clients may see its errors.
type partReader struct {
	body *Reader
	part *multipart.Part
	read int64 // bytes
}

func (p *partReader) Read(b []byte) (int, error) {
	n, err := p.part.Read(b)
	p.read += int64(n)
	if err != nil && err != io.EOF {
		err = p.body.fault(ErrMultipart)
	}
	return n, err
}

// A partHead is the header of a part of multipart/form-data.
type partHead struct {
	name     string // of the field
	file     bool   // it has a file name, which may be empty
	filename string // as it was sent: a path, or anything else
	media    string // the Content-Type of a file
	size     int64  // its declared length; 0: it has none
}

// readHead reads the header of a part. It refuses a part without a field's name, since
// the part's content would be lost.
func readHead(p *multipart.Part) (partHead, error) {
	if headSize(p.Header) > maxPartHead {
		return partHead{}, ErrPartHead
	}
	disposition := p.Header.Get("Content-Disposition")
	kind, params, err := mime.ParseMediaType(disposition)
	name, named := params["name"]
	if err != nil || kind != "form-data" || !named {
		return partHead{}, ErrDisposition
	}
	h := partHead{name: name, media: p.Header.Get("Content-Type")}
	h.size, _ = strconv.ParseInt(p.Header.Get("Content-Length"), 10, 64)
	h.filename, h.file = params["filename"]
	if strings.Contains(strings.ToLower(disposition), "filename*") { // RFC 5987; it takes precedence over filename
		h.file = true
	} else {
		h.filename = browserEscapes.Replace(h.filename)
	}
	if !utf8.ValidString(name) || !utf8.ValidString(h.filename) {
		return partHead{}, ErrUTF8
	}
	return h, nil
}

// browserEscapes undoes the escapes of browsers in file names (HTML Standard,
// multipart form data). Browsers do not escape a percent sign.
var browserEscapes = strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n")

// headSize returns the length of the lines of a header, in bytes.
func headSize(h textproto.MIMEHeader) (size int) {
	for key, values := range h {
		for _, v := range values {
			size += len(key) + len(": ") + len(v) + len("\r\n")
		}
	}
	return size
}
