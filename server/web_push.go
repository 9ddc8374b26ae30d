package server

import (
	"errors"
	"net/http"
	"slices"
	"strings"

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
	p, err := s.look(r) // without an entry of a view that failed, which only the button leaves
	if err != nil {
		return reply{}, err
	}
	if !opensAtOnce(p) {
		return s.stepOf(r, p, noTry)
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
	passphrase, err := asPassphrase(f[passphraseField])
	if err != nil {
		return reply{}, err
	}
	if strings.TrimSpace(passphrase.Reveal()) == "" { // which no push has: it is no try
		passphrase = secret.Text{}
	}
	p, err := s.store.Preview(r.Context(), r.urlToken)
	if err != nil {
		return reply{}, err
	}
	return s.reveal(r, p.Kind, passphrase)
}

// goneForGood is what the page after a delete shows.
type goneForGood struct{}

// expirePush deletes a push for its owner, or for anybody with the link where
// the sender allows that.
func (s *Server) expirePush(r *request) (reply, error) {
	p, err := s.store.DeletePush(r.Context(), r.actor, r.urlToken)
	switch {
	case errors.Is(err, store.ErrDenied): // one that has expired looks like any other that is not there
		if _, lookErr := s.look(r); lookErr != nil {
			err = lookErr
		}
		return reply{}, err
	case err != nil:
		return reply{}, err
	case !p.Ended:
		return reply{}, store.ErrNotFound
	default:
		return show(http.StatusOK, "expired", goneForGood{}), nil
	}
}
