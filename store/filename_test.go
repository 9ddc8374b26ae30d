package store

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestAFileNameIsMadeHarmless(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"report.pdf": "report.pdf",

		// path parts
		"/etc/passwd":               "passwd",
		"../../../etc/passwd":       "passwd",
		`C:\Users\me\secret.txt`:    "secret.txt",
		`..\..\windows\win.ini`:     "win.ini",
		`mixed/and\back.txt`:        "back.txt",
		`back\and/mixed.txt`:        "mixed.txt",
		"a/":                        "file",
		`a\`:                        "file",
		"/":                         "file",
		"a/.\u202e.":                "file",
		"full\uff0fwidth.txt":       "full\uff0fwidth.txt",
		"%2e%2e%2fetc%2fpasswd.txt": "%2e%2e%2fetc%2fpasswd.txt",

		// names of directories, and of nothing
		"":                     "file",
		".":                    "file",
		"..":                   "file",
		"...":                  "file",
		". .":                  "file",
		" ":                    "file",
		" \t\r\n":              "file",
		"\u00a0\u2003\u3000":   "file",
		"\x00":                 "file",
		"\u200b\ufeff\u2060":   "file",
		"\u200d":               "file",
		".\u200c.\u200d":       "file",
		"\u3164":               "file", // a letter that is not seen
		"..a":                  "..a",
		".bashrc":              ".bashrc",
		" spaces  inside .txt": "spaces  inside .txt",
		"\u3000wide\u3000":     "wide",

		// quotes and what a shell or a header would read
		`say "hi".txt`:       `say "hi".txt`,
		`it's.txt`:           `it's.txt`,
		"`id`; rm -rf *.txt": "`id`; rm -rf *.txt",
		"-rf":                "-rf",
		"a%00b":              "a%00b",
		"<b>bold</b>.html":   "b>.html",

		// line breaks and other controls
		"a\r\nSet-Cookie: b=c":   "aSet-Cookie: b=c",
		"a\nb.txt":               "ab.txt",
		"a\vb\fc.txt":            "abc.txt",
		"a\u0085b.txt":           "ab.txt",
		"a\u2028b\u2029c.txt":    "abc.txt",
		"a\x00b\x1b[2J\x7fc.txt": "ab[2Jc.txt",
		"a\u009bb.txt":           "ab.txt",

		// not seen
		"\ufeffbom.txt":                    "bom.txt",
		"in\u200bvi\u2060si\u00adble.txt":  "invisible.txt",
		"tag\U000e0041\U000e007f.txt":      "tag.txt",
		"fill\u115f\u1160\uffa0.txt":       "fill.txt",
		"note\ufff9a\ufffab\ufffb.txt":     "noteab.txt",
		"vowel\u180e separator\u034f.txt":  "vowel separator.txt",
		"\u0600\u06dd\u0661.txt":           "\u0600\u06dd\u0661.txt", // format characters that are seen
		"deprecated\u206a\u206f\u2065.txt": "deprecated.txt",

		// invalid UTF-8
		"bad\xffname.txt":     "bad\ufffdname.txt",
		"\xff\xfe\xfd":        "\ufffd",
		"cut\xe2\x82":         "cut\ufffd",
		"over\xc0\xaflong":    "over\ufffdlong",
		"half\xed\xa0\x80.md": "half\ufffd.md",
	} {
		if got := fileName(given).Reveal(); got != want {
			t.Errorf("%+q became %+q, want %+q", given, got, want)
		}
	}
}

func TestAFileNameKeepsEveryScript(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Größe café naïve Łódź.txt",
		"отчёт за год.docx",
		"αναφορά.pdf",
		"דו״ח שנתי.pdf",
		"تقرير سنوي.pdf",
		"نامه\u200cها.txt", // Persian, with a zero width non-joiner
		"क्\u200dष और क्\u200cष.txt",
		"රිපෝර්ට්\u200dටුව.txt",
		"รายงานประจำปี.pdf",
		"報告書.xlsx",
		"报告.txt",
		"보고서.hwp",
		"ᄒ\u1161ᆫ.txt", // decomposed Hangul
		"ሪፖርት.txt",
		"ანგარიში.txt",
		"հաշվետվություն.txt",
		"e\u0301.txt", // decomposed
		"𐎠𐏁.txt",
		"📎.pdf",
		"👩\u200d👩\u200d👧\u200d👦 family.jpg",
		"❤\ufe0f\u200d🔥.png",
		"🏳\ufe0f\u200d🌈.svg",
		"葛\U000e0100.txt", // with the form of the character that is meant
		"1\ufe0f\u20e3.txt",
	} {
		if got := fileName(name).Reveal(); got != name {
			t.Errorf("%+q became %+q", name, got)
		}
	}
}

func TestNoCharacterThatTurnsTextStaysInAFileName(t *testing.T) {
	t.Parallel()
	n := 0
	for r := range rune(unicode.MaxRune) {
		if !unicode.Is(unicode.Bidi_Control, r) {
			continue
		}
		n++
		if got := fileName("invoice" + string(r) + "fdp.exe").Reveal(); got != "invoicefdp.exe" {
			t.Errorf("%U: %+q", r, got)
		}
	}
	if n < 12 {
		t.Errorf("only %d such characters are known", n)
	}
}

func TestALongFileNameIsCutBetweenCharactersInFrontOfItsExtension(t *testing.T) {
	t.Parallel()
	a := func(n int) string { return strings.Repeat("a", n) }
	for name, test := range map[string]struct{ given, want string }{
		"200 bytes":                        {a(196) + ".txt", a(196) + ".txt"},
		"201 bytes":                        {a(197) + ".txt", a(196) + ".txt"},
		"200 bytes, no extension":          {a(200), a(200)},
		"201 bytes, no extension":          {a(201), a(200)},
		"far too long":                     {a(1e6) + ".tar.gz", a(197) + ".gz"},
		"characters of 2 bytes":            {strings.Repeat("é", 101), strings.Repeat("é", 100)},
		"characters of 3 bytes":            {strings.Repeat("字", 67), strings.Repeat("字", 66)},
		"characters of 3, with extension":  {strings.Repeat("字", 67) + ".txt", strings.Repeat("字", 65) + ".txt"},
		"characters of 4 bytes":            {strings.Repeat("📎", 51), strings.Repeat("📎", 50)},
		"extension of 16 bytes":            {a(200) + ".123456789012345", a(184) + ".123456789012345"},
		"extension of 17 bytes":            {a(200) + ".1234567890123456", a(200)},
		"extension of another script":      {a(200) + ".данные", a(187) + ".данные"},
		"nothing but an extension":         {"." + a(300), "." + a(199)},
		"a dot at the end":                 {a(250) + ".", a(199) + "."},
		"a space where it is cut":          {a(199) + " " + a(50), a(199)},
		"spaces where it is cut":           {a(150) + strings.Repeat(" ", 100) + "b", a(150)},
		"a space in front of an extension": {a(195) + " " + a(50) + ".txt", a(195) + " .txt"},
		"dots and spaces where it is cut":  {strings.Repeat(".", 150) + strings.Repeat(" ", 60) + strings.Repeat("b", 20), "file"},
		"long by what is dropped":          {strings.Repeat("\u202e", 100) + a(200), a(200)},
		"long by invalid bytes":            {strings.Repeat("\xff.", 100), strings.Repeat("\ufffd.", 49) + "\ufffd."},
	} {
		if got := fileName(test.given).Reveal(); got != test.want {
			t.Errorf("%s: %d bytes %+q, want %+q", name, len(got), got, test.want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	for _, name := range []string{
		"a.txt", "../a", `b\c`, "\u202egnp.exe", "\xff\xfe", ". .", strings.Repeat("字 ", 99) + ".txt",
		strings.Repeat(".", 184) + strings.Repeat(" ", 30) + "x", "👩\u200d👧", "\u200d \u200d",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name := fileName(given).Reveal()
		if !utf8.ValidString(name) || name == "" || len(name) > maxFileName {
			t.Fatalf("%+q became %+q, %d bytes", given, name, len(name))
		}
		if strings.ContainsAny(name, `/\`) || name == "." || name == ".." || name != strings.TrimSpace(name) {
			t.Fatalf("%+q became %+q", given, name)
		}
		for _, r := range name {
			if unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == '\ufeff' || r == '\u200b' {
				t.Fatalf("%+q became %+q, with %U", given, name, r)
			}
		}
		if again := fileName(name).Reveal(); again != name {
			t.Fatalf("%+q became %+q, and that %+q", given, name, again)
		}
	})
}

func TestAContentTypeIsKeptWhereItIsOne(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return "text/plain; a=" + strings.Repeat("b", n-len("text/plain; a=")) }
	for given, want := range map[string]string{
		"text/plain":                    "text/plain",
		"text/plain; charset=UTF-8":     "text/plain; charset=UTF-8",
		"TEXT/Plain":                    "TEXT/Plain",
		"image/svg+xml":                 "image/svg+xml",
		"application/vnd.ms-excel":      "application/vnd.ms-excel",
		`text/plain; a="b c"`:           `text/plain; a="b c"`,
		"text/plain;":                   "text/plain;",
		" text/plain\r\n":               "text/plain",
		long(255):                       long(255),
		long(256):                       noContentType,
		"":                              noContentType,
		"text":                          noContentType,
		"/plain":                        noContentType,
		"text/":                         noContentType,
		"text/plain/more":               noContentType,
		"text plain":                    noContentType,
		"text/plain, text/html":         noContentType,
		"text/plain; a":                 noContentType,
		"text/plain; a=b; a=c":          noContentType,
		"text/plain\r\nX-Evil: 1":       noContentType,
		"text/plain;\r\n a=b":           noContentType,
		"text/\x00plain":                noContentType,
		"text/plain; a=\"\x1b[2J\"":     noContentType,
		"text/plain; a=\"\x7f\"":        noContentType,
		"text/plain; a=\"\u202efdp\"":   noContentType,
		"text/plain; a=\"\xff\"":        noContentType,
		"text/pl\u00e9in":               noContentType,
		"<script>alert(1)</script>/x":   noContentType,
		"text/html; a=\"<script>\"":     "text/html; a=\"<script>\"",
		"multipart/form-data; boundary": noContentType,
	} {
		if got := contentType(given); got != want {
			t.Errorf("%+q became %+q, want %+q", given, got, want)
		}
	}
}
