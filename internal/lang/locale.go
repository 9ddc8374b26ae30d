package lang

import (
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// A Locale has the messages of one language.
type Locale struct {
	Language
	tag      language.Tag
	messages func() map[string]message
}

// A message has texts by plural category. A message that does not depend on a number
// has only the category other.
type message map[string]string

const other = "other"

// UnmarshalJSON reads a text, or an object of texts by plural category.
func (m *message) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err == nil {
		*m = message{other: text}
		return nil
	}
	return json.Unmarshal(b, (*map[string]string)(m))
}

// categories are the names of CLDR's plural categories.
var categories = map[plural.Form]string{
	plural.Other: other, plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many",
}

// countName is the placeholder whose value, an int, chooses the plural form.
const countName = "count"

// Text returns a message with its placeholders filled in from pairs of a name and a
// value. It returns an unknown key itself; a test of the templates finds those.
func (l *Locale) Text(key string, pairs ...any) string {
	m, ok := l.messages()[key]
	if !ok {
		return key
	}
	text := m[other]
	replace := make([]string, 0, len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		name, value := fmt.Sprint(pairs[i]), pairs[i+1]
		if n, isInt := value.(int); name == countName && isInt {
			text = m.form(l.tag, n)
		}
		replace = append(replace, "{"+name+"}", fmt.Sprint(value))
	}
	return strings.NewReplacer(replace...).Replace(text)
}

// Forms returns the texts of a message by plural category, as JSON, for a script that fills in its placeholders;
// of a key that is not known, null.
func (l *Locale) Forms(key string) string {
	all, err := json.Marshal(l.messages()[key])
	if err != nil {
		panic(fmt.Sprintf("lang: the message %s: %v", key, err)) // texts always have JSON
	}
	return string(all)
}

// Has reports whether there is a message of that key.
func (l *Locale) Has(key string) bool {
	_, ok := l.messages()[key]
	return ok
}

// form returns the text for a number.
func (m message) form(tag language.Tag, n int) string {
	category := categories[plural.Cardinal.MatchPlural(tag, max(n, -n), 0, 0, 0, 0)]
	if text, ok := m[category]; ok {
		return text
	}
	return m[other]
}
