package server

import (
	"net/http"
	"strings"
)

// languageParam is the parameter of patterns for a language.
const languageParam = "language"

// routesOld are the rows of addresses that Password Pusher has or once had for what has
// another address here. They redirect. Each also exists with a language in front.
func (s *Server) routesOld() (rows []route) {
	old := func(row route) {
		row.method, row.access, row.traits = http.MethodGet, public, row.traits|isPage
		rows = append(rows, row)
	}
	const language = "/:" + languageParam
	for _, prefix := range prefixesV1 {
		push := "/" + string(prefix) + "/:" + tokenParam
		for _, before := range [...]string{"", language} {
			if before+string(prefix) != "p" {
				old(route{name: "old_push", pattern: before + push, traits: forRecipients, action: s.oldPush("")})
				old(route{name: "old_step", pattern: before + push + "/r", traits: forRecipients, action: s.oldPush("/r")})
				old(route{name: "old_page", pattern: before + push + "/preview", action: s.oldPush("/preview")})
				old(route{name: "old_page", pattern: before + push + "/audit", action: s.oldPush("/audit")})
			}
			old(route{name: "old_step", pattern: before + push + "/passphrase", traits: forRecipients, action: s.oldPush("/r")})
			old(route{name: "old_page", pattern: before + push, word: "new", action: s.oldForm(string(prefix))})
			old(route{name: "old_page", pattern: before + push, word: "active", action: s.movedTo("/p", "")})
			old(route{name: "old_page", pattern: before + push, word: "expired", action: s.movedTo("/p", "state=expired")})
		}
	}
	for _, row := range [...]struct{ pattern, to string }{
		{"/api", helpPath},
		{"/api_tokens", tokenPath},
		{"/first_run", "/"},
		{"/pages/:page", "/"},
		{"/users/edit", ownAccountPath},
		{"/users/password/new", s.asksForPassword()},
	} {
		old(route{name: "old_page", pattern: row.pattern, action: s.movedTo(row.to, "")})
		old(route{name: "old_page", pattern: language + row.pattern, action: s.movedTo(row.to, "")})
	}
	old(route{name: "old_page", pattern: language, action: s.movedTo("/", "")})
	for _, same := range [...]string{"/p", signInPath, "/users/sign_up", tokenPath} {
		old(route{name: "old_page", pattern: language + same, action: s.movedTo(same, "")})
	}
	return rows
}

// asksForPassword is the path of the page for people who have forgotten their password: where no
// mail is sent, that for signing in says what to do.
func (s *Server) asksForPassword() string {
	if s.mailsPasswords() {
		return forgottenPath
	}
	return signInPath
}

// hasLanguage reports whether a path begins with what may be a language, such as de or pt-br.
func hasLanguage(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	language, region, has := strings.Cut(first, "-")
	return isTag(language) && (!has || isTag(region))
}

func isTag(s string) bool {
	return len(s) == 2 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") == ""
}
