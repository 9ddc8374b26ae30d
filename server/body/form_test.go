package body

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// A countedReader counts what is read of it.
type countedReader struct {
	io.Reader
	read int
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

func TestAFormWithTooManyFieldsIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	for pairs, want := range map[int]error{maxFields: nil, maxFields + 1: ErrFields, 400_000: ErrFields} {
		var text strings.Builder
		for range pairs {
			text.WriteString("&&other=x&")
		}
		content := &countedReader{Reader: strings.NewReader(text.String())}
		hr := httptest.NewRequest("POST", "/", content)
		hr.Header.Set("Content-Type", TypeForm)
		r := NewReader(hr, nil)
		err := Read(t.Context(), &r, Options{Object: "push", MaxText: 8 << 20}, make(Form))
		if !errors.Is(err, want) {
			t.Errorf("%d pairs: %v", pairs, err)
		}
		if most := 11*maxFields + textStep; content.read > most && want != nil {
			t.Errorf("of %d pairs %d bytes were read, not %d at most", pairs, content.read, most)
		}
	}
}
