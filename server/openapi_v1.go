package server

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"pushbox/server/openapi"
	"pushbox/store/record"
)

// describeV1 answers with the documentation of API version 1 for programs.
func (s *Server) describeV1(r *request) (reply, error) { return ok(s.openAPIv1(s.home(r))), nil }

// openAPIv1 is API version 1 as a document of its own, so that clients made from the
// document of version 2 are free of it.
func (s *Server) openAPIv1(base string) openapi.Document {
	return s.document(base, apiVersion1, apiTextV1, s.endpointsV1(base))
}

// apiTextV1 documents version 1.
const apiTextV1 = "Password Pusher's older JSON API, which it calls deprecated, for clients that know no other. New programs use version 2: /api/v2/openapi.json describes it. " +
	"Both are about the same pushes, API tokens, limits and errors. Each path under /p also works under /f and /r, whatever the push carries. " +
	"A limit that is out of its bounds, or is no number, is replaced by the default without an error."

// spellingsV1 are the spellings of the routes of version 1 that create pushes.
var spellingsV1 = map[string]spelling{"v1_create": passwordV1, "v1_create_file": filesV1, "v1_create_url": urlV1}

// sameInV2 returns the name of the route of version 2 that does the same.
func sameInV2(name string) string {
	if spellingsV1[name].v1 {
		return "create"
	}
	return strings.TrimPrefix(name, "v1_")
}

// endpointsV1 returns the routes of version 1 that are documented, in the order of the
// table: none that this server has switched off.
func (s *Server) endpointsV1(base string) (all []endpoint) {
	if !s.cfg.EnableAPIv1 {
		return nil
	}
	for _, row := range s.routesV1() {
		how := spellingsV1[row.name]
		if !row.has(unlisted) && len(s.offers(how)) > 0 {
			all = append(all, s.endpointV1(row, how, base))
		}
	}
	return all
}

// endpointV1 documents a route of version 1 in the words of version 2.
func (s *Server) endpointV1(row route, how spelling, base string) endpoint {
	text := routeTexts[sameInV2(row.name)]
	switch row.name {
	case "v1_version":
		text.answer = reflect.TypeFor[versionV1JSON]()
		text.example = func(s *Server, _ string) any { rep, _ := s.versionV1(nil); return rep.body }
	case "v1_audit":
		text.answer = reflect.TypeFor[auditV1JSON]()
	case "v1_delete":
		text.errors = replaced(text.errors, record.ErrDenied, errNotDeletable)
	case "v1_create_file":
		text.summary += " of files"
	case "v1_create_url":
		text.summary += " of a URL"
	}
	if how.v1 {
		text.errors = replaced(text.errors, errNoPush, how.errNoPush())
	}
	if text.example != nil {
		example := text.example
		text.example = func(s *Server, base string) any { return bodyV1(example(s, base), base) }
	}
	if strings.HasSuffix(row.pattern, jsonSuffix) {
		row.pattern, text.suffix = strings.TrimSuffix(row.pattern, jsonSuffix), jsonSuffix
	}
	return s.endpoint(row, text, cmp.Or(how, pushV2), base)
}

// replaced returns the errors with another one in the place of one.
func replaced(all []error, old, new error) []error {
	all = slices.Clone(all)
	if i := slices.Index(all, old); i >= 0 {
		all[i] = new
	}
	return all
}

// helpV1 documents an address of API version 1 by the endpoint of version 2 that does
// the same.
type helpV1 struct {
	Method, Path string
	Wrapper      string // the object in the body; empty: there is no body
	Summary      string
	Same         string // the ID of that endpoint on the page
}

// helpV1 lists the addresses of version 1; none if it is switched off.
func (s *Server) helpV1() (all []helpV1) {
	for _, e := range s.endpointsV1("") {
		all = append(all, helpV1{Method: e.method, Path: e.path, Wrapper: spellingsV1[e.name].wrapper, Summary: e.summary, Same: sameInV2(e.name)})
	}
	return all
}
