package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"
)

// A router finds the route of a request. httprouter does not allow a word and a
// parameter in the same place, so rows that share method and pattern are one
// entry of it, and the parameter's value chooses among them. Its redirects and
// its own answers are never used: it is only asked, by Lookup.
type router struct {
	tree    *httprouter.Router
	methods []string
	base    string // what all patterns lie under
}

// found is where Lookup leaves its answer, since its handles cannot return one.
type found struct {
	http.ResponseWriter
	route *route
}

// newRouter makes a router of rows whose patterns lie under base, which is empty or
// a path without a slash at its end.
func newRouter(rows []route, base string) *router {
	r := &router{tree: httprouter.New(), base: base}
	groups := make(map[[2]string][]route)
	for _, row := range rows {
		if !slices.Contains(r.methods, row.method) {
			r.methods = append(r.methods, row.method)
		}
		for _, pattern := range row.places(base) {
			key := [2]string{row.method, pattern}
			groups[key] = append(groups[key], row)
		}
	}
	slices.Sort(r.methods)
	for key, group := range groups {
		r.tree.Handle(key[0], key[1], func(w http.ResponseWriter, _ *http.Request, ps httprouter.Params) {
			w.(*found).route = choose(group, ps.ByName(tokenParam))
		})
	}
	return r
}

// places are the patterns of the route under base. The front page is there without
// the slash at the end, too.
func (r route) places(base string) []string {
	all := []string{base + r.pattern}
	switch {
	case base == "":
	case r.pattern == "/":
		all = append(all, base)
	case r.probe:
		all = append(all, r.pattern)
	}
	return all
}

// choose returns the row for that value of the parameter; nil if there is none.
func choose(group []route, value string) *route {
	var other *route
	for i := range group {
		switch group[i].word {
		case value:
			return &group[i]
		case "":
			other = &group[i]
		}
	}
	return other
}

// find returns the route of a path, with the values of its parameters.
func (r *router) find(method, path string) (*route, httprouter.Params) {
	handle, ps, _ := r.tree.Lookup(method, trimJSON(path, r.base))
	empty := func(p httprouter.Param) bool { return p.Value == "" }
	if handle == nil || slices.ContainsFunc(ps, empty) { // httprouter takes // for an empty parameter
		return nil, nil
	}
	var f found
	handle(&f, nil, ps)
	return f.route, ps
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

// trimJSON takes off the suffix that every path of the API may have.
func trimJSON(path, base string) string {
	if strings.HasPrefix(path, base+"/api/") {
		return strings.TrimSuffix(path, ".json")
	}
	return path
}

func hasParam(pattern, name string) bool { return strings.Contains(pattern, "/:"+name) }
