package server

import (
	"bufio"
	"io"
	"mime/multipart"
	"strings"
	"unicode/utf8"

	"pushbox/store"
)

// readForm reads the push object of a form: fields named push[NAME], or
// push[NAME][...] for what is no single text. Other names are not for us.
func (in *intake) readForm() error {
	pairs, err := readPairs(in.body)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		if err := in.field(p); err != nil {
			return err
		}
	}
	return nil
}

// readMultipart reads the same from multipart/form-data, which has files, too.
func (in *intake) readMultipart(boundary string) error {
	most := maxFormFields + in.server.cfg.Files.MaxFileUploads
	return eachPart(in.body, boundary, most, func(part *multipart.Part, h partHead) error {
		if key, _, ok := bracketName(h.name); ok && key == filesField {
			return in.filePart(part, h)
		}
		text, err := partText(in.body, part)
		if err != nil {
			return err
		}
		return in.field(pair{name: h.name, text: text})
	})
}

// field notes a field of a form, if it is one of a push.
func (in *intake) field(p pair) error {
	key, single, ok := bracketName(p.name)
	if !ok {
		return nil
	}
	_, twice := in.fields[key]
	switch {
	case key == filesField:
		return in.textForFile(p.text)
	case !single:
		return in.set(key, value{shape: asList})
	case twice:
		return errTwice
	default:
		return in.set(key, value{shape: asText, text: p.text})
	}
}

// textForFile refuses a text where a file should be. An empty one is what
// programs send for no file.
func (in *intake) textForFile(text string) error {
	if in.page && text == "" {
		return nil
	}
	if err := in.wantFiles(); err != nil || text == "" {
		return err
	}
	return in.refuse(howFiles)
}

// wantFiles notes that the field for files is there. A page has it where no file
// was chosen, too, so that it counts there only with one.
func (in *intake) wantFiles() error { return in.set(filesField, value{shape: asList}) }

// filePart reads a file, or what browsers send for a field for files that was
// left empty: an empty part without a file name.
func (in *intake) filePart(part *multipart.Part, h partHead) error {
	if !in.page {
		if err := in.wantFiles(); err != nil {
			return err
		}
	}
	content := bufio.NewReaderSize(&partReader{in.body, part}, minBuffer)
	if h.filename == "" {
		if _, err := content.Peek(1); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	if err := in.wantFiles(); err != nil {
		return err
	}
	if !h.file {
		return in.refuse(howFiles)
	}
	if h.size > int64(in.server.cfg.Files.MaxFileSize) {
		return store.ErrFileSize
	}
	size, err := in.add(content)
	if err != nil {
		return err
	}
	in.body.endFile(size)
	in.files.Describe(h.filename, h.media)
	return nil
}

// minBuffer is the least that a bufio.Reader has; larger reads go past it.
const minBuffer = 16

// bracketName takes push[NAME] apart, and push[NAME][...], which is not single.
func bracketName(name string) (key string, single, ok bool) {
	rest, ok := strings.CutPrefix(name, "push[")
	key, rest, closed := strings.Cut(rest, "]")
	return key, rest == "", ok && closed && key != "" && (rest == "" || rest[0] == '[')
}

// multipartPairs reads multipart/form-data of which every part is a text.
func multipartPairs(b *body, boundary string) (pairs []pair, err error) {
	err = eachPart(b, boundary, maxFormFields, func(part *multipart.Part, h partHead) error {
		text, err := partText(b, part)
		pairs = append(pairs, pair{name: h.name, text: text})
		return err
	})
	return pairs, err
}

// eachPart reads multipart/form-data and gives each part to take, which reads
// it. There may be so many.
func eachPart(b *body, boundary string, most int, take func(*multipart.Part, partHead) error) error {
	if boundary == "" {
		return errMultipart
	}
	// The reader takes the end of the text behind any boundary for the end of the
	// parts. With an empty line behind it there is one more part, and it is refused.
	parts := multipart.NewReader(io.MultiReader(b, strings.NewReader("\r\n\r\n")), boundary)
	for n := 0; ; n++ {
		part, h, err := nextPart(b, parts)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n == most {
			return errFields
		}
		if err := take(part, h); err != nil {
			return err
		}
	}
}

// nextPart reads the header of the next part. io.EOF if there is none.
func nextPart(b *body, parts *multipart.Reader) (*multipart.Part, partHead, error) {
	b.beginHead()
	defer b.endHead()
	part, err := parts.NextRawPart()
	if err == io.EOF {
		return nil, partHead{}, err
	}
	if err != nil {
		return nil, partHead{}, b.fault(errMultipart)
	}
	h, err := readHead(part)
	return part, h, err
}

// partText reads a part that is a text.
func partText(b *body, part *multipart.Part) (string, error) {
	text, err := readText(part)
	if err != nil {
		return "", b.fault(errMultipart)
	}
	if !utf8.ValidString(text) {
		return "", errUTF8
	}
	return text, nil
}

// A partReader reads the content of a part. Its errors can be shown.
type partReader struct {
	body *body
	part *multipart.Part
}

func (r *partReader) Read(p []byte) (int, error) {
	n, err := r.part.Read(p)
	if err != nil && err != io.EOF {
		err = r.body.fault(errMultipart)
	}
	return n, err
}
