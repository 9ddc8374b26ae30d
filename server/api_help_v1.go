package server

import (
	"cmp"
	"strings"
)

// aboutV1 tells programs of API version 1, which the document of version 2 leaves out.
func (s *Server) aboutV1() string {
	if !s.cfg.EnableAPIv1 {
		return ""
	}
	return " API version 1, which Password Pusher calls deprecated, is there for older clients, and is not part of this document: the page /help/api lists its addresses."
}

// A helpV1 documents an address of API version 1 by the endpoint of version 2 that does
// the same.
type helpV1 struct {
	Method, Path string
	Wrapper      string // the object in the body; empty: there is no body
	Summary      string
	Same         string // the ID of that endpoint on the page
}

// wrappersV1 are the objects in the bodies of version 1, by their routes.
var wrappersV1 = map[string]string{
	"v1_create": passwordV1.wrapper, "v1_create_file": filesV1.wrapper, "v1_create_url": urlV1.wrapper,
}

// helpV1 lists the addresses of version 1; none if it is switched off.
func (s *Server) helpV1() (all []helpV1) {
	if !s.cfg.EnableAPIv1 {
		return nil
	}
	for _, row := range s.routesV1() {
		if row.has(unlisted) {
			continue
		}
		h := helpV1{Method: row.method, Wrapper: wrappersV1[row.name], Same: strings.TrimPrefix(row.name, "v1_")}
		if h.Wrapper != "" {
			h.Same = "create"
		}
		h.Summary = routeTexts[h.Same].summary
		h.Path = strings.ReplaceAll(row.pattern, ":"+tokenParam, cmp.Or(row.word, "{"+tokenParam+"}"))
		all = append(all, h)
	}
	return all
}
