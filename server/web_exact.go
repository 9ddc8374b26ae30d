package server

import (
	"encoding/base64"
	"html/template"
	"strings"
)

// asHTML writes a text so that a parser of HTML reads it as it is. Unlike the
// templates' own escaping it keeps carriage returns, which parsers take for line
// feeds unless they are escaped (HTML Standard, preprocessing the input stream).
var asHTML = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;",
	"\r", "&#13;", "\x00", "\uFFFD",
)

// exactHTML returns a text for the inside of an element. HTML cannot hold the
// character NUL: a text that has it comes in base64 as well, for a script to put
// there.
func exactHTML(text string) (html template.HTML, exact string) {
	if strings.ContainsRune(text, 0) {
		exact = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return template.HTML(asHTML.Replace(text)), exact // nothing in it means anything to a parser any more
}
