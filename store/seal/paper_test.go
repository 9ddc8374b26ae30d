package seal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

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
	k, err := ParseRootKey([]byte(frozenKey))
	env.OK(t, err)
	return k
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
		"two of them differ":      {strings.Join(lines, "") + others[1], "line 2 of the paper form is there twice"},
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
