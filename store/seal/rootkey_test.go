package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// frozenPaper is the numbered lines of the bytes 0 to 31.
const frozenPaper = `1: aaaq eaye auda ocaj  ktru
2: bifq ydio b4ib ceqt  sygi
3: cqkr mfyy denb wha5  fi27
4: dypr hdjd qzpl y2pe  ym3s
`

// paperOf is the numbered lines of a key's paper form.
func paperOf(k RootKey) (lines []string) {
	for line := range strings.Lines(string(k.Paper())) {
		if line != "\n" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

func frozenRoot(t *testing.T) RootKey {
	t.Helper()
	return env.Must(ParseRootKey([]byte(frozenKey)))(t)
}

// Printed keys must stay readable.
func TestThePaperFormStaysAsItIs(t *testing.T) {
	t.Parallel()
	k := frozenRoot(t)
	if got := strings.Join(paperOf(k), ""); got != frozenPaper || k.ID() != "92248aee" {
		t.Errorf("it is\n%s, its ID %s", got, k.ID())
	}
	if !bytes.Contains(k.Paper(), []byte("Key ID: "+k.ID())) {
		t.Error("the paper form does not have the ID")
	}
}

func TestAKeyComesBackFromPaper(t *testing.T) {
	t.Parallel()
	for range 50 {
		k := NewRootKey()
		back, err := ParsePaper(k.Paper())
		if err != nil || !back.Equal(k) || back.ID() != k.ID() {
			t.Fatal(err)
		}
	}
}

func TestPaperIsReadAsPeopleType(t *testing.T) {
	t.Parallel()
	k := frozenRoot(t)
	lines := paperOf(k)
	plain := strings.Join(lines, "")
	for name, text := range map[string]string{
		"capitals":           strings.ToUpper(plain),
		"no spaces":          strings.ReplaceAll(plain, " ", ""),
		"hyphens":            strings.ReplaceAll(plain, " ", "-"),
		"another order":      lines[3] + lines[1] + lines[0] + lines[2],
		"a line twice":       plain + lines[1],
		"CRLF, blanks, tabs": "\r\n\t" + strings.ReplaceAll(plain, "\n", "\t\r\n\r\n"),
		"digits for letters": strings.NewReplacer("o", "0", "l", "1", "b", "8").Replace(plain),
	} {
		if back, err := ParsePaper([]byte(text)); err != nil || !back.Equal(k) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := 1; n <= PaperLines; n++ {
		_, bare, _ := strings.Cut(lines[n-1], ":")
		if err := errors.Join(CheckPaperLine(n, bare), CheckPaperLine(n, lines[n-1])); err != nil {
			t.Errorf("line %d by itself: %v", n, err)
		}
	}
}

// Each wrong character is found, and its line named.
func TestAMistypedLineIsNamed(t *testing.T) {
	t.Parallel()
	k := frozenRoot(t)
	lines := paperOf(k)
	for n, line := range lines {
		for i := range line {
			if i < len("1: ") || line[i] == ' ' || line[i] == '\n' {
				continue
			}
			typed := []byte(line)
			typed[i] = 'a'
			if line[i] == 'a' {
				typed[i] = 'q'
			}
			all := strings.Join(lines[:n], "") + string(typed) + strings.Join(lines[n+1:], "")
			_, err := ParsePaper([]byte(all))
			if !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), fmt.Sprintf("line %d of the paper form was mistyped", n+1)) {
				t.Fatalf("character %d of line %d: %v", i, n+1, err)
			}
			if leaks(err) {
				t.Fatalf("the error reveals the key: %v", err)
			}
		}
	}
}

func TestIncompletePaperIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	k, other := frozenRoot(t), NewRootKey()
	lines, others := paperOf(k), paperOf(other)
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                 {"# a comment\n", "line 1 of the paper form is missing"},
		"a line missing":          {lines[0] + lines[1] + lines[3], "line 3 of the paper form is missing"},
		"two of them differ":      {strings.Join(lines, "") + others[1], "line 2 of the paper form appears twice"},
		"lines in others' places": {"1" + lines[1][1:] + "2" + lines[0][1:] + lines[2] + lines[3], "line 1 of the paper form was mistyped"},
		"parts of two keys":       {lines[0] + lines[1] + others[2] + others[3], "restore it from a copy"},
		"a character too few":     {strings.Replace(lines[0], "q", "", 1), "line 1 of the paper form has 19 characters"},
		"a line without a number": {lines[0][3:], "does not begin with its number"},
		"a line too many":         {strings.Join(lines, "") + "5: aaaa", "does not begin with its number"},
	} {
		_, err := ParsePaper([]byte(c.text))
		if !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		} else if leaks(err) {
			t.Errorf("%s: the error reveals the key: %v", name, err)
		}
	}
}

// frozenKey is the key line of the bytes 0 to 31.
const frozenKey = "pushbox-key-1:aaaqeaye-audaocaj-bifqydio-b4ibceqt-cqkrmfyy-denbwha5-dyprhdjd-qzply2pe"

func TestAKeyIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for range 50 {
		k := NewRootKey()
		back, err := ParseRootKey(k.Text())
		if err != nil || *back.s != *k.s {
			t.Fatalf("%v", err)
		}
	}
}

func TestAKeyIsReadInEveryReasonableForm(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"bare":            frozenKey,
		"white space":     " \t" + frozenKey + "  \n\n",
		"CRLF":            "# a comment\r\n" + frozenKey + "\r\n",
		"upper case":      strings.ToUpper(frozenKey),
		"comments around": "#one\n\n  # two\n" + frozenKey + "\n# " + frozenKey + "\n",
	} {
		k, err := ParseRootKey([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !strings.HasSuffix(string(k.Text()), frozenKey+"\n") {
			t.Errorf("%s: another key was read", name)
		}
	}
}

func TestTextThatIsNotOneKeyIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing":            "",
		"comments only":      "# " + frozenKey + "\n",
		"two keys":           frozenKey + "\n" + frozenKey,
		"another line":       frozenKey + "\nx",
		"a later version":    strings.Replace(frozenKey, "-1:", "-2:", 1),
		"no groups":          "pushbox-key-1:" + strings.ReplaceAll(frozenKey[14:], "-", ""),
		"white space inside": strings.Replace(frozenKey, "-audaocaj", "\n-audaocaj", 1),
		"a Kelvin sign":      strings.Replace(frozenKey, "key", "\u212aey", 1),
		"prefix alone":       keyPrefix,
		"NUL at the end":     frozenKey + "\x00",
		"zero bytes":         string(make([]byte, 100)),
	} {
		if _, err := ParseRootKey([]byte(text)); !errors.Is(err, ErrKey) {
			t.Errorf("%s: the error is %v", name, err)
		} else if leaks(err) {
			t.Errorf("%s: the error reveals the key: %v", name, err)
		}
	}
}

// leaks reports whether an error has a group of the frozen key in it.
func leaks(err error) bool {
	for _, group := range strings.Split(frozenKey[len(keyPrefix):], "-") {
		if strings.Contains(err.Error(), group) {
			return true
		}
	}
	return false
}

func TestAKeyWithOneCharacterChangedIsRefused(t *testing.T) {
	t.Parallel()
	text := keyComment + frozenKey + "\n"
	for i := range text {
		for c := range 256 {
			mangled := text[:i] + string([]byte{byte(c)}) + text[i+1:]
			harmless := strings.EqualFold(mangled, text) && c < 0x80 || // another case
				0 < i && i < len(keyComment)-1 && c != '\n' || // inside the comment
				i == len(keyComment)-2 && c == '\n' || // at its end
				i == len(text)-1 && strings.TrimSpace(mangled) == strings.TrimSpace(text)
			if k, err := ParseRootKey([]byte(mangled)); harmless != (err == nil) {
				t.Fatalf("byte %d as %#x: the error is %v", i, c, err)
			} else if err == nil && string(k.Text()) != text {
				t.Fatalf("byte %d as %#x: another key was read", i, c)
			}
		}
	}
}

func TestAKeyThatLostOrGainedCharactersIsRefused(t *testing.T) {
	t.Parallel()
	for i := range frozenKey {
		for name, mangled := range map[string]string{
			"cut after":   frozenKey[:i],
			"cut before":  frozenKey[i+1:],
			"one lost at": frozenKey[:i] + frozenKey[i+1:],
			"doubled at":  frozenKey[:i] + frozenKey[i:i+1] + frozenKey[i:],
		} {
			if _, err := ParseRootKey([]byte(mangled)); !errors.Is(err, ErrKey) {
				t.Errorf("%s %d: the error is %v", name, i, err)
			}
		}
	}
}

func TestAKeyWithTwoCharactersSwappedIsRefused(t *testing.T) {
	t.Parallel()
	for i := range len(frozenKey) - 1 {
		b := []byte(frozenKey)
		b[i], b[i+1] = b[i+1], b[i]
		if _, err := ParseRootKey(b); string(b) != frozenKey && !errors.Is(err, ErrKey) {
			t.Errorf("%d: the error is %v", i, err)
		}
	}
}

// FuzzDerivedKeys compares keys and MACs with those of the standard library.
func FuzzDerivedKeys(f *testing.F) {
	for _, n := range []int{0, 1, 32, 63, 64, 65, 127, 128, 129, 191, 192, 193, 1000} {
		f.Add(bytes.Repeat([]byte{0xa5}, n), []byte(nil), infoWrap)
		f.Add([]byte("secret"), bytes.Repeat([]byte{0x5a}, n), infoPayload)
		f.Add([]byte("secret"), []byte("salt"), string(make([]byte, n)))
	}
	f.Fuzz(func(t *testing.T, secret, salt []byte, info string) {
		want := env.Must(hkdf.Key(sha256.New, secret, salt, info, keySize))(t)
		if got := hkdfSHA256(secret, salt, info); !bytes.Equal(got[:], want) {
			t.Errorf("HKDF(%x, %x, %q) is %x, not %x", secret, salt, info, got, want)
		}
		h := hmac.New(sha256.New, salt)
		_, _ = h.Write(secret)
		if got := hmacSHA256(salt, secret); !hmac.Equal(got[:], h.Sum(nil)) {
			t.Errorf("HMAC(%x, %x) is %x", salt, secret, got)
		}
	})
}

func TestAnAPITokenHasItsForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^pb_[a-z2-7]{52}$`)
	seen := make(map[string]bool)
	for range 100 {
		token := NewAPIToken().Reveal()
		if !form.MatchString(token) || seen[token] {
			t.Fatalf("a token has a wrong form, or came twice: %s", token)
		}
		seen[token] = true
	}
}

func TestADigestCoversTheWholeToken(t *testing.T) {
	t.Parallel()
	token := NewAPIToken()
	if Digest(token) != sha256.Sum256([]byte(token.Reveal())) {
		t.Error("it is not the SHA-256 digest")
	}
	if Digest(token) == Digest(secret.New(token.Reveal()[3:])) {
		t.Error("it is the same without the prefix")
	}
}
