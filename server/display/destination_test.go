package display

import (
	"testing"

	"pushbox/internal/testkit/env"
)

func TestADestinationIsShownAsItIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Destination{
		"https://example.com/path":             {Host: "example.com"},
		"https://EXAMPLE.com:8443":             {Host: "example.com:8443"},
		"http://[2001:DB8::1]:80/":             {Host: "[2001:db8::1]:80"},
		"https://192.0.2.1/":                   {Host: "192.0.2.1"},
		"https://_dmarc.example.com":           {Host: "_dmarc.example.com"},
		"https://r3---sn.example.com":          {Host: "r3---sn.example.com"},
		"https://bücher.example/":              {Host: "bücher.example", ASCII: "xn--bcher-kva.example"},
		"https://BÜCHER.example/":              {Host: "bücher.example", ASCII: "xn--bcher-kva.example"},
		"https://xn--bcher-kva.example/":       {Host: "bücher.example", ASCII: "xn--bcher-kva.example"},
		"https://XN--BCHER-KVA.example/":       {Host: "bücher.example", ASCII: "xn--bcher-kva.example"},
		"https://bücher.example:8443/":         {Host: "bücher.example:8443", ASCII: "xn--bcher-kva.example"},
		"https://straße.de/":                   {Host: "straße.de", ASCII: "xn--strae-oqa.de"}, // as browsers do, not strasse.de
		"https://日本語。jp/":                      {Host: "日本語.jp", ASCII: "xn--wgv71a119e.jp"},
		"https://東京タワーとabc.jp/":                {Host: "東京タワーとabc.jp", ASCII: "xn--abc-vb4b8qjj7cr351asu6b.jp"},
		"https://аpple.com/":                   {Host: "аpple.com", ASCII: "xn--pple-43d.com", Mixed: true}, // the first letter is Cyrillic
		"https://xn--80ak6aa92e.com/":          {Host: "аррӏе.com", ASCII: "xn--80ak6aa92e.com"},            // all of them are
		"https://exαmple.com/":                 {Host: "exαmple.com", ASCII: "xn--exmple-qxe.com", Mixed: true},
		"https://пример.com/":                  {Host: "пример.com", ASCII: "xn--e1afmkfd.com"}, // parts may differ
		"https://ｅvil.example/":                {Host: "evil.example"},                          // what browsers make of it
		"https://אבג.example/":                 {Host: "אבג.example", ASCII: "xn--4dbcd.example"},
		"https://xn--a.example/":               {Host: "xn--a.example", Bad: true},
		"https://a\u202egnp.example/":          {Host: "a%E2%80%AEgnp.example", Bad: true},
		"https://example.com\uff0f.a.example/": {Host: "example.com\uff0f.a.example", Bad: true}, // which reads as a slash
		"https://example.com\uff20a.example/":  {Host: "example.com\uff20a.example", Bad: true},
		"https://example.com\u3000.a.example/": {Host: "example.com%E3%80%80.a.example", Bad: true},
		"https://a\u2215b.example/":            {Host: "a\u2215b.example", ASCII: "xn--ab-6bv.example"}, // no slash, but much like one
	} {
		got := NewDestination(text)
		if got.Host != want.Host || got.ASCII != want.ASCII || got.Mixed != want.Mixed || got.Bad != want.Bad {
			t.Errorf("%s: %+v", text, got)
		}
		if (got.Link == "") != got.Bad {
			t.Errorf("%s: a link to %q", text, got.Link)
		}
	}
}

func TestALinkLeadsWhereThePageSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://example.com/a%2Fb?x=1&y= 2#z":          "https://example.com/a%2Fb?x=1&y= 2#z",
		"https://user.example:1/":                       "https://user.example:1/",
		"https://ｅvil.example:81/a%2Fb?q=%2f#f":         "https://evil.example:81/a%2Fb?q=%2f#f",
		"https://xn--bcher-kva.example":                 "https://xn--bcher-kva.example",
		"https://b%C3%BCcher.example/%7e?b%C3%BC=ü#%zz": "https://xn--bcher-kva.example/%7e?b%C3%BC=ü#%zz",
	} {
		if got := NewDestination(text).Link; got != want {
			t.Errorf("%s leads to %s", text, got)
		}
	}
}

func TestInvisibleCharactersAreEscaped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://example.com/ä?q=日本": "https://example.com/ä?q=日本",
		"https://e/a b\u00a0c":       "https://e/a%20b%C2%A0c",
		"https://e/\u202egnp\u200b":  "https://e/%E2%80%AEgnp%E2%80%8B",
		"https://e/\u2028\ufeff":     "https://e/%E2%80%A8%EF%BB%BF",
	} {
		if got := visible(text); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

func TestWordsOfSeveralScripts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"example.com": false, "a-1.example": false, "пример.com": false, "東京タワーとabc.jp": false, "한국漢abc.kr": false, "ㄅ漢a.tw": false,
		"аpple.com": true, "exαmple.com": true, "paypаl.com": true, "ひ한.jp": true, "аα.example": true, "": false, "..": false, "١٢٣.example": false,
	} {
		env.Equal(t, name, mixesScripts(name), want)
	}
}
