package safename

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const maxName = 200 // bytes

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
		"\u3164":               "file", // an invisible letter
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

		// invisible
		"\ufeffbom.txt":                    "bom.txt",
		"in\u200bvi\u2060si\u00adble.txt":  "invisible.txt",
		"tag\U000e0041\U000e007f.txt":      "tag.txt",
		"fill\u115f\u1160\uffa0.txt":       "fill.txt",
		"note\ufff9a\ufffab\ufffb.txt":     "noteab.txt",
		"vowel\u180e separator\u034f.txt":  "vowel separator.txt",
		"\u0600\u06dd\u0661.txt":           "\u0600\u06dd\u0661.txt", // visible format characters
		"deprecated\u206a\u206f\u2065.txt": "deprecated.txt",

		// invalid UTF-8
		"bad\xffname.txt":     "bad\ufffdname.txt",
		"\xff\xfe\xfd":        "\ufffd",
		"cut\xe2\x82":         "cut\ufffd",
		"over\xc0\xaflong":    "over\ufffdlong",
		"half\xed\xa0\x80.md": "half\ufffd.md",
	} {
		if got := Shown(given, maxName); got != want {
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
		if got := Shown(name, maxName); got != name {
			t.Errorf("%+q became %+q", name, got)
		}
	}
}

func TestNoCharacterThatChangesTheDirectionStaysInAFileName(t *testing.T) {
	t.Parallel()
	n := 0
	for r := range rune(unicode.MaxRune) {
		if !unicode.Is(unicode.Bidi_Control, r) {
			continue
		}
		n++
		if got := Shown("invoice"+string(r)+"fdp.exe", maxName); got != "invoicefdp.exe" {
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
		"long by dropped characters":       {strings.Repeat("\u202e", 100) + a(200), a(200)},
		"long by invalid bytes":            {strings.Repeat("\xff.", 100), strings.Repeat("\ufffd.", 49) + "\ufffd."},
	} {
		if got := Shown(test.given, maxName); got != test.want {
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
		name := Shown(given, maxName)
		if !utf8.ValidString(name) || name == "" || len(name) > maxName {
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
		if again := Shown(name, maxName); again != name {
			t.Fatalf("%+q became %+q, and that %+q", given, name, again)
		}
	})
}

func TestNamesFromAServerAreMadeSafe(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 200)
	for name, want := range map[string]string{
		"report.pdf": "report.pdf", "a b (1).txt": "a b (1).txt", "報告.txt": "報告.txt", "👩‍🚀.png": "👩‍🚀.png", "%2e%2e": "%2e%2e",
		"../../etc/passwd": "passwd", `..\..\windows\x.dll`: "x.dll", "/": "file", "": "file", ".": "file", "..": "file", "...": "file", " . ": "file",
		".bashrc": "_.bashrc", ".env": "_.env", " .env ": "_.env", "a\x00b\nc\x1b[31m": "abc[31m", "gpj\u202ecod.exe": "gpjcod.exe", "\xff\xfe": "file",
		"a*b": "a*b", "-rf": "-rf", long + ".txt": long[:176] + ".txt", strings.Repeat("x", 181): strings.Repeat("x", 180),
		"x." + strings.Repeat("y", 300): "x." + strings.Repeat("y", 178), strings.Repeat("x", 180): strings.Repeat("x", 180),
	} {
		if got := Saved(name, 180); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
}
