package body

import (
	"errors"
	"io"
	"strings"
	"testing"
)

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
