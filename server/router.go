package server

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/julienschmidt/httprouter"

	"pushbox/server/action"
)

// A router finds the route of a request. httprouter does not allow a word and a parameter in the
// same place, so rows that share method and pattern are one entry of it, and the parameter's value
// chooses among them. It uses only httprouter's Lookup, never its redirects and answers.
type router struct {
	tree    *httprouter.Router
	v1      *httprouter.Router // of the paths of API version 1 that are beside those of pages
	old     *httprouter.Router // of paths that begin with a language
	methods []string
	base    string // what all patterns lie under
}

// A foundRoute receives the route that Lookup finds, since its handles return nothing.
type foundRoute struct {
	http.ResponseWriter
	route *action.Route
}

// newRouter returns a router for rows. Their patterns lie under base, which is empty or
// a path without a slash at its end.
func newRouter(rows []action.Route, base string) *router {
	r := &router{tree: httprouter.New(), v1: httprouter.New(), old: httprouter.New(), base: base}
	groups := make(map[[2]string][]action.Route)
	for _, row := range rows {
		if !slices.Contains(r.methods, row.Method) {
			r.methods = append(r.methods, row.Method)
		}
		for _, pattern := range places(row, base) {
			key := [2]string{row.Method, pattern}
			groups[key] = append(groups[key], row)
		}
	}
	slices.Sort(r.methods)
	for key, group := range groups {
		tree, pattern := r.place(key[1])
		if action.HasParam(pattern, action.LanguageParam) {
			tree = r.old
		}
		tree.Handle(key[0], pattern, func(w http.ResponseWriter, _ *http.Request, ps httprouter.Params) {
			w.(*foundRoute).route = choose(group, cmp.Or(ps.ByName(action.TokenParam), ps.ByName(action.RequestParam)))
		})
	}
	return r
}

// places returns the patterns of the route: under base, and for some also outside it.
func places(r action.Route, base string) []string {
	all := []string{action.Squeeze(base + r.Pattern)}
	if base != "" && r.Has(action.AtRoot) {
		all = append(all, r.Pattern)
	}
	return all
}

// choose returns the row for that value of the parameter; nil if there is none.
func choose(group []action.Route, value string) *action.Route {
	var other *action.Route
	for i := range group {
		switch group[i].Word {
		case value:
			return &group[i]
		case "":
			other = &group[i]
		}
	}
	return other
}

// find returns the route of a path, with the values of its parameters.
func (r *router) find(method, path string) (*action.Route, httprouter.Params) {
	doubled := strings.Contains(path, "//")
	tree, path := r.place(action.Squeeze(path))
	handle, ps, _ := tree.Lookup(method, path)
	if handle == nil && hasLanguage(strings.TrimPrefix(path, r.base)) {
		handle, ps, _ = r.old.Lookup(method, path)
	}
	empty := func(p httprouter.Param) bool { return p.Value == "" }
	if handle == nil || slices.ContainsFunc(ps, empty) { // /.json leaves one
		return nil, nil
	}
	var f foundRoute
	handle(&f, nil, ps)
	if doubled && f.route != nil && !takesDoubledSlashes(*f.route) {
		return nil, nil
	}
	return f.route, ps
}

// takesDoubledSlashes reports whether a path to the route may have repeated slashes, as some
// programs send them: only paths of pushes and of the API may. All other paths must match exactly,
// so that a proxy can block them by their prefix.
func takesDoubledSlashes(r action.Route) bool {
	return r.Pattern == "/" || r.Has(action.ForRecipients|action.IsV1) || strings.HasPrefix(r.Pattern, "/api/") && r.Access != action.Administrating
}

// allowed lists the methods that a path has a route for; none if it is unknown.
func (r *router) allowed(path string) (methods []string) {
	for _, m := range r.methods {
		if route, _ := r.find(m, path); route != nil {
			methods = append(methods, m)
		}
	}
	return methods
}

// isPlain reports whether an escaped path has only necessary escapes. If it has more, a proxy that
// matches on paths may read a different path than the router.
func isPlain(escaped string) bool {
	for _, part := range strings.Split(escaped, "%")[1:] {
		if c, err := strconv.ParseUint(part[:2], 16, 8); err != nil || strings.ContainsRune(plain, rune(c)) {
			return false
		}
	}
	return true
}

// plain are the characters that a path may have without an escape (RFC 3986 section 3.3).
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/"

// place returns the tree that a path or a pattern is in, and its form there: without
// the suffix that every path of the API may have.
func (r *router) place(path string) (*httprouter.Router, string) {
	under, ok := strings.CutPrefix(path, r.base)
	switch {
	case ok && action.IsPathV1(under):
		return r.v1, strings.TrimSuffix(path, action.JSONSuffix)
	case ok && strings.HasPrefix(under, "/api/"):
		return r.tree, strings.TrimSuffix(path, action.JSONSuffix)
	default:
		return r.tree, path
	}
}

// hasLanguage reports whether a path may begin with a language, such as de or pt-br.
func hasLanguage(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	language, region, has := strings.Cut(first, "-")
	return isTag(language) && (!has || isTag(region))
}

func isTag(s string) bool {
	return len(s) == 2 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") == ""
}
