package server

import (
	"net/http"
	"strings"
)

// languageParam is the parameter of patterns for a language.
const languageParam = "language"

// routesOld are the rows of addresses that Password Pusher has or once had for what has
// another address here. They redirect.
func (s *Server) routesOld() (rows []route) {
	old := func(row route) {
		row.method, row.access, row.traits = http.MethodGet, public, row.traits|isPage
		rows = append(rows, row)
	}
	for _, prefix := range prefixesV1 {
		push := "/" + string(prefix) + "/:" + tokenParam
		if prefix != 'p' {
			old(route{name: "old_push", pattern: push, traits: forRecipients, action: s.oldPush("")})
			old(route{name: "old_step", pattern: push + "/r", traits: forRecipients, action: s.oldPush("/r")})
			old(route{name: "old_page", pattern: push + "/preview", action: s.oldPush("/preview")})
			old(route{name: "old_page", pattern: push + "/audit", action: s.oldPush("/audit")})
		}
		old(route{name: "old_step", pattern: push + "/passphrase", traits: forRecipients, action: s.oldPush("/r")})
		old(route{name: "old_push", pattern: "/:" + languageParam + push, traits: forRecipients, action: s.oldPush("")})
		old(route{name: "old_step", pattern: "/:" + languageParam + push + "/r", traits: forRecipients, action: s.oldPush("/r")})
	}
	old(route{name: "old_tokens", pattern: "/api_tokens", action: movedTo(tokenPath)})
	old(route{name: "old_help", pattern: "/api", action: movedTo(helpPath)})
	return rows
}

// hasLanguage reports whether a path, or a pattern, has a language such as de or pt-br
// before that of a push.
func hasLanguage(path string) bool {
	if len(path) < 6 || path[0] != '/' {
		return false
	}
	language, rest, _ := strings.Cut(path[1:], "/")
	known := len(language) == len("de") || len(language) == len("pt-br") && language[2] == '-' || language == ":"+languageParam
	return known && len(rest) > 2 && rest[1] == '/' && strings.IndexByte(prefixesV1, rest[0]) >= 0
}
