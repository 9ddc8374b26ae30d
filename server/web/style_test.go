package web_test

import (
	"regexp"
	"strings"
	"testing"
)

// measures are the properties that may have a length of their own: how large something is drawn, or how
// wide a column is. All others take a step of a scale.
var measures = regexp.MustCompile(`^(?:(?:min-|max-)?(?:width|height)|flex(?:-basis)?|grid-(?:auto|template)-columns|columns|inset|` +
	`line-height|letter-spacing|text-underline-offset|vertical-align|translate|filter|background|scroll-(?:padding|margin).*|--flap)$`)

var (
	comments     = regexp.MustCompile(`(?s)/\*.*?\*/`)
	roots        = regexp.MustCompile(`(?s)^:root \{.*?\n\}`)
	declarations = regexp.MustCompile(`([\w-]+): ?([^;{}]+)(?:[;}]|\n)`)
	lengths      = regexp.MustCompile(`(?:^|[^\w.-])-?\.?(\d[\d.]*|\.\d+)(rem|em|px|vw|vh)\b`)
	colours      = regexp.MustCompile(`#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)\(`)
)

// A hairline, the outline of a letter and a mark of a drawing have up to four pixels, anywhere; marks that
// belong to a word are sized by it.
func free(property, length, unit string) bool {
	small := len(length) == 1 && length <= "4" && unit == "px"
	return small || measures.MatchString(property) || unit == "em" && strings.HasPrefix(property, "margin")
}

func TestEverySizeIsATokens(t *testing.T) {
	t.Parallel()
	sheets := read(t, "static/*.css")
	style := strings.TrimSpace(comments.ReplaceAllString(sheets["static/style.css"]+sheets["static/frame.css"], ""))
	root := roots.FindString(style)
	if root == "" {
		t.Fatal("the tokens do not come first")
	}
	style = strings.TrimPrefix(style, root)
	for _, count := range []struct {
		pattern string
		want    int
	}{{`--s\d: `, 7}, {`--t\d: `, 6}, {`--r[\dr]: `, 4}} {
		if n := len(regexp.MustCompile(count.pattern).FindAllString(root, -1)); n != count.want {
			t.Errorf("%s: %d tokens, and not %d", count.pattern, n, count.want)
		}
	}
	before, screen, _ := strings.Cut(style, "@media print")
	paper, after, _ := strings.Cut(screen, "\n}\n") // is black on white, as QR codes are
	_ = paper
	for _, m := range declarations.FindAllStringSubmatch(before+after, -1) {
		property, value := m[1], m[2]
		for _, l := range lengths.FindAllStringSubmatch(value, -1) {
			if !free(property, l[1], l[2]) && !strings.Contains(value, "linear-gradient") {
				t.Errorf("%s: %s has the size %s%s", property, value, l[1], l[2])
			}
		}
		for _, c := range colours.FindAllString(value, -1) {
			if c != "#fff" && c != "#000" {
				t.Errorf("%s: %s has the colour %s", property, value, c)
			}
		}
	}
}
