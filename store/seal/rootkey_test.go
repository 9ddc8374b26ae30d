package seal

import (
	"errors"
	"strings"
	"testing"
)

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
