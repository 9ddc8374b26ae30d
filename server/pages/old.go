package pages

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store/record"
)

// moved returns a permanent redirect to a path, with a query. Like every answer with a
// link, it must not be stored.
func moved(path, query string) action.Reply {
	if query != "" {
		path += "?" + query
	}
	return action.Reply{Status: http.StatusMovedPermanently, To: path}
}

// moveTo redirects to a path. The request's query is added to that of the path, and so is a
// language in the old path.
func (s *Set) moveTo(r *action.Request, path, query string) action.Reply {
	parts := []string{query, r.URL.RawQuery}
	if tag := s.Words.Near(r.Name.Reveal()); tag != "" {
		parts = append(parts, action.LocaleName+"="+tag)
	}
	return moved(path, strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "&"))
}

// movedTo returns an action that redirects to a path with a query.
func (s *Set) movedTo(path, query string) action.Func {
	return func(r *action.Request) (action.Reply, error) { return s.moveTo(r, path, query), nil }
}

// kindsOfTabs are the kinds with a tab and a prefix in the form of Password Pusher.
var kindsOfTabs = map[string]record.Kind{"text": record.Text, "files": record.File, "f": record.File, "url": record.URL, "r": record.URL, "qr": record.QR}

// oldForm returns an action that redirects from the form at a prefix.
func (s *Set) oldForm(prefix string) action.Func {
	return func(r *action.Request) (action.Reply, error) {
		kind, named := kindsOfTabs[r.URL.Query().Get("tab")]
		if !named {
			kind, named = kindsOfTabs[prefix]
		}
		if !named {
			return s.moveTo(r, "/", ""), nil
		}
		return s.moveTo(r, "/", kindName+"="+kind.String()), nil
	}
}

// oldToken matches url_tokens of Password Pusher. They are shorter than those of pushbox, and have
// upper and lower case.
var oldToken = regexp.MustCompile(`\A[0-9A-Za-z_-]{1,64}\z`)

// oldPush returns an action that redirects to a push, whether or not it exists, or to a
// page below it.
func (s *Set) oldPush(tail string) action.Func {
	return func(r *action.Request) (action.Reply, error) {
		token := cmp.Or(r.URLToken.Reveal(), r.SentToken.Reveal())
		if !oldToken.MatchString(token) {
			return action.Reply{}, record.ErrNotFound
		}
		return s.moveTo(r, "/p/"+token+tail, ""), nil
	}
}

// A linkQRView is the page with the QR code of a link. Browser extensions read the code from it.
type linkQRView struct {
	Link string
	QR   *display.QR // nil: the link is too long for one, or lacks its key
}

// linkQRPage shows the link of a push as a QR code. It opens nothing and leaves no trace.
func (s *Set) linkQRPage(r *action.Request) (action.Reply, error) {
	v, err := s.look(r)
	if err != nil {
		return action.Reply{}, err
	}
	link := action.Link(v.PushInfo, r.Base)
	page := linkQRView{Link: link}
	if !v.ClientEncrypted { // the code would lack the key
		page.QR = display.LinkQR(link)
	}
	return action.Show(http.StatusOK, "link_qr", page), nil
}

// routesOld are the rows of addresses of Password Pusher, present or old, for pages that have
// another address here. They redirect. Each also exists with a language as prefix.
func (s *Set) routesOld() (rows []action.Route) {
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
		{"/api", action.HelpPath},
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

// asksForPassword is the path of the page for users who forgot their password. If the server sends
// no mail, it is the page for signing in, which says what to do.
func (s *Set) asksForPassword() string {
	if s.mailsPasswords() {
		return forgottenPath
	}
	return signInPath
}
