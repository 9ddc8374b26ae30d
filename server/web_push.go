package server

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/store"
)

// revealPath is where a push is opened.
func revealPath(t store.Token) string { return "/p/" + t.Reveal() }

// stepPath is the page before that.
func stepPath(t store.Token) string { return revealPath(t) + "/r" }

// pushPage opens a push at once where its sender wants no step before, and a
// person follows the link; all else gets the page with the button.
func (s *Server) pushPage(r *request) (reply, error) {
	if !isVisit(r) {
		return s.stepPage(r)
	}
	p, err := s.store.Look(r.Context(), r.urlToken)
	if err == nil {
		err = gone(p) // without an entry of a view that failed, which only the button leaves
	}
	if err != nil {
		return reply{}, err
	}
	if !opensAtOnce(p) {
		return s.stepPage(r)
	}
	return s.reveal(r, p.Kind, secret.Text{})
}

// opensAtOnce reports whether a visit is enough to open the push.
func opensAtOnce(p store.PushInfo) bool { return !p.RetrievalStep && !p.Protected }

// isVisit reports whether a GET is a person's own way to the page, and the first
// from this browser: no preview of a chat, no scanner, nothing fetched ahead
// (Fetch Metadata; Sec-Purpose of the Fetch Standard, and older names of it), no
// return to what was opened, and no switch to another language of it. What does
// not say so is none.
func isVisit(r *request) bool {
	h := r.Header
	if h.Get("Sec-Fetch-Mode") != "navigate" || h.Get("Sec-Fetch-Dest") != "document" {
		return false
	}
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		purpose := strings.ToLower(strings.Join(h.Values(name), ","))
		ahead := func(word string) bool { return strings.Contains(purpose, word) }
		if slices.ContainsFunc([]string{"prefetch", "prerender", "preview"}, ahead) {
			return false
		}
	}
	_, err := r.Cookie(openedCookie)
	return err != nil && !r.URL.Query().Has(languageName)
}

// openedCookie is the name of a cookie that says, of one push that opens at once,
// that this browser did: going back, forward, or loading again spends no view.
const openedCookie = "opened"

func (s *Server) newOpenedCookie(r *request) *http.Cookie {
	c := s.cookie(r, openedCookie, "1")
	c.Path = r.URL.EscapedPath() // as the browser has it, whose case may be another
	return c
}

// revealPush opens a push for whoever pressed the button.
func (s *Server) revealPush(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	passphrase := f[passphraseField]
	if !utf8.ValidString(passphrase) || len(passphrase) > store.MaxPassphrase {
		return reply{}, badRequest("The passphrase is not valid UTF-8, or longer than one can be.")
	}
	if strings.TrimSpace(passphrase) == "" { // which no push has: it is no try
		passphrase = ""
	}
	p, err := s.store.Preview(r.Context(), r.urlToken)
	if err != nil {
		return reply{}, err
	}
	return s.reveal(r, p.Kind, secret.New(passphrase))
}

// goneForGood is what the page after a delete shows.
type goneForGood struct{}

// expirePush deletes a push for its owner, or for anybody with the link where
// the sender allows that.
func (s *Server) expirePush(r *request) (reply, error) {
	p, err := s.store.DeletePush(r.Context(), r.actor, r.urlToken)
	if errors.Is(err, store.ErrDenied) {
		return s.denied(r)
	}
	if err == nil && !p.Ended {
		err = store.ErrNotFound
	}
	if err != nil {
		return reply{}, err
	}
	return show(http.StatusOK, "expired", goneForGood{}), nil
}

// denied tells that a push is not for the caller to delete. One that has expired
// looks like any other that is not there.
func (s *Server) denied(r *request) (reply, error) {
	p, err := s.store.Look(r.Context(), r.urlToken)
	if err == nil {
		err = gone(p)
	}
	if err != nil {
		return reply{}, err
	}
	return find(store.ErrDenied).page(r), nil
}
