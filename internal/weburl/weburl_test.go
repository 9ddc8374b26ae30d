package weburl

import (
	"errors"
	"net/url"
	"testing"

	"pushbox/internal/testkit/env"
)

func TestAddressesOnTheWeb(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"https://example.com":                 nil,
		"HTTP://example.com/a?b#c":            nil,
		"https://example.com/100%":            nil,
		"https://example.com/100%/%zz?5%&%#%": nil,
		"https://example.com/%41%":            nil,
		"https://[::1]:8080/":                 nil,
		"https://exa%mple.com/":               ErrForm,
		"https://example.com:x/":              ErrForm,
		"ftp://example.com/":                  ErrForm,
		"example.com":                         ErrForm,
		"//example.com/":                      ErrForm,
		"https:///x":                          ErrForm,
		"https://:80/":                        ErrForm,
		"":                                    ErrForm,
		"https://u@example.com/":              ErrUser,
		"https://u:p@example.com/100%":        ErrUser,
		"https://example.com/\n":              ErrControl,
		"https://example.com/\x7f":            ErrControl,
	} {
		_, err := Parse(text)
		env.ErrorIs(t, text, err, want)
	}
}

// What net/url reads as such an address is read in the same way here.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"https://example.com/%41?%#%42", "https://example.com/100%", "http://a://b%", "https://a%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := Parse(text)
		plain, plainErr := url.Parse(text)
		switch {
		case err == nil && plainErr == nil && (u.Host != plain.Host || u.Path != plain.Path || u.Scheme != plain.Scheme):
			t.Fatalf("%q is %+v, not %+v", text, u, plain)
		case err != nil && plainErr == nil && (plain.Scheme == "http" || plain.Scheme == "https") && plain.Hostname() != "" && errors.Is(err, ErrForm):
			t.Fatalf("%q is refused: %v", text, err)
		}
	})
}
