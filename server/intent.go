package server

import (
	"net/http"
	"slices"
	"strings"

	"pushbox/server/action"
)

// checkIntent refuses a request that its sender did not mean: a form that a page of
// another site sent, and a retrieval that a browser makes ahead of time or for a page's
// image. Browsers say so (Fetch Metadata Request Headers); programs say nothing.
func (s *Server) checkIntent(r *action.Request) error {
	mode := r.Header.Get("Sec-Fetch-Mode")
	switch {
	case r.Route.Has(action.IsPage):
		return s.checkOrigin(r)
	case r.Route.Has(action.CountsViews) && (mode == "no-cors" || isAhead(r.Header)):
		return action.ErrUnmeant
	case changes(r.Method) && r.Header.Get("Sec-Fetch-Site") == "cross-site" && (mode == "navigate" || mode == "no-cors"):
		return action.ErrCrossOrigin
	default:
		return nil
	}
}

// changes reports whether a method is one that changes something.
func changes(method string) bool { return method != http.MethodGet && method != http.MethodHead }

// isForeignPart reports whether a browser asks for a part of a page of another site, such
// as an image, and not for a page that a person goes to.
func isForeignPart(h http.Header) bool {
	return h.Get("Sec-Fetch-Site") == "cross-site" && h.Get("Sec-Fetch-Dest") != "document"
}

// isAhead reports whether a browser asks for a page that the user may never open
// (Sec-Purpose of the Fetch Standard, and its older names).
func isAhead(h http.Header) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		purpose := strings.ToLower(strings.Join(h.Values(name), ","))
		ahead := func(word string) bool { return strings.Contains(purpose, word) }
		if slices.ContainsFunc([]string{"prefetch", "prerender", "preview"}, ahead) {
			return true
		}
	}
	return false
}
