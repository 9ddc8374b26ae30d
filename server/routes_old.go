package server

import (
	"net/http"
	"strings"

	"pushbox/server/action"
)

// routesOld are the rows of addresses that Password Pusher has or once had for what has
// another address here. They redirect. Each also exists with a language in front.
func (s *Server) routesOld() (rows []action.Route) {
	old := func(row action.Route) {
		row.Method, row.Access, row.Traits = http.MethodGet, action.Public, row.Traits|action.IsPage
		rows = append(rows, row)
	}
	const language = "/:" + action.LanguageParam
	for _, prefix := range action.PrefixesV1 {
		push := "/" + string(prefix) + "/:" + action.TokenParam
		for _, before := range [...]string{"", language} {
			if before+string(prefix) != "p" {
				old(action.Route{Name: "old_push", Pattern: before + push, Traits: action.ForRecipients, Action: s.oldPush("")})
				old(action.Route{Name: "old_step", Pattern: before + push + "/r", Traits: action.ForRecipients, Action: s.oldPush("/r")})
				old(action.Route{Name: "old_page", Pattern: before + push + "/preview", Action: s.oldPush("/preview")})
				old(action.Route{Name: "old_page", Pattern: before + push + "/audit", Action: s.oldPush("/audit")})
			}
			old(action.Route{Name: "old_step", Pattern: before + push + "/passphrase", Traits: action.ForRecipients, Action: s.oldPush("/r")})
			old(action.Route{Name: "old_page", Pattern: before + push, Word: "new", Action: s.oldForm(string(prefix))})
			old(action.Route{Name: "old_page", Pattern: before + push, Word: "active", Action: s.movedTo("/p", "")})
			old(action.Route{Name: "old_page", Pattern: before + push, Word: "expired", Action: s.movedTo("/p", "state=expired")})
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
		old(action.Route{Name: "old_page", Pattern: row.pattern, Action: s.movedTo(row.to, "")})
		old(action.Route{Name: "old_page", Pattern: language + row.pattern, Action: s.movedTo(row.to, "")})
	}
	old(action.Route{Name: "old_page", Pattern: language, Action: s.movedTo("/", "")})
	for _, same := range [...]string{"/p", signInPath, "/users/sign_up", tokenPath} {
		old(action.Route{Name: "old_page", Pattern: language + same, Action: s.movedTo(same, "")})
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
