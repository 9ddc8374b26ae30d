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

func TestLineBreaksInBase64AreFewerThanTheRest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want error
	}{
		"none":                {strings.Repeat("QUJD", 1000), nil},
		"each 76 characters":  {strings.Repeat(strings.Repeat("QUJD", 19)+"\r\n", 100), nil},
		"each 4 characters":   {strings.Repeat("QUJD\r\n", 10_000), nil},
		"just free":           {strings.Repeat("\n", freeBreaks) + "QUJD", nil},
		"too many":            {strings.Repeat("\n", freeBreaks+3) + "QUJD", errBase64},
		"nothing but breaks":  {strings.Repeat("\r\n", 1<<20), errBase64},
		"more than the rest":  {strings.Repeat("QUJD\n\n\n\n\n", 1000), errBase64},
		"after the padding":   {"QQ==" + strings.Repeat("\n", freeBreaks+3), errBase64},
		"a few after padding": {"QQ==\n", nil},
	} {
		if _, err := io.Copy(io.Discard, newBase64Reader(strings.NewReader(test.text))); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
