package pages

import (
	"errors"
	"net/http"
	"strings"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

// revealPath returns the path that opens a push.
func revealPath(t store.Token) string { return "/p/" + t.Reveal() }

// ownerPath returns the path below which the pages of a push for its owner are.
func ownerPath(p store.PushInfo) string { return "/p/" + p.URLToken() }

// stepPath returns the path of the step before it.
func stepPath(t store.Token) string { return revealPath(t) + "/r" }

// pushPage opens a push at once if a person follows the link and the sender did not ask for a step
// before it. Any other request gets the page with the button.
func (s *Set) pushPage(r *action.Request) (action.Reply, error) {
	if !isVisit(r) {
		return s.stepPage(r)
	}
	v, err := s.look(r) // an expired push gets no entry for a failed view: only the button causes one
	if err != nil {
		return action.Reply{}, err
	}
	if !opensAtOnce(v.PushInfo) || usesOwnView(r, v.PushInfo) || v.Early(v.At) {
		return s.newStepPage(r, v, noAttempt)
	}
	return s.reveal(r, secret.Text{}, false, nil)
}

// opensAtOnce reports whether a visit opens the push. It does not for an encrypted push: the page
// must first show that the link has a key. Nor does it for one that names its recipient.
func opensAtOnce(p store.PushInfo) bool {
	return !p.RetrievalStep && !p.Named && !p.TypedReveal && !p.Protected && !p.ClientEncrypted
}

// isVisit reports whether a person opens the page for the first time in this browser. A chat
// preview, a scanner, a prefetch (Fetch Metadata), a return to an opened page and a switch of its
// language are not visits, nor is a request without Fetch Metadata.
func isVisit(r *action.Request) bool {
	h := r.Header
	if r.Method != http.MethodGet || h.Get("Sec-Fetch-Mode") != "navigate" || h.Get("Sec-Fetch-Dest") != "document" || action.IsAhead(h) {
		return false
	}
	_, err := r.PathCookie(openedCookie)
	return err != nil && !r.URL.Query().Has(action.LanguageName)
}

// openedCookie is the name of a cookie for one push that opens at once. It says that this browser
// has opened the push, so that going back, forward, or reloading uses no view.
const openedCookie = "opened"

// returnsField is the name of a field of the form that opens an answer on the page of its
// request: going back leads there.
const returnsField = "returns"

// revealPush opens a push for a reader who pressed the button.
func (s *Set) revealPush(r *action.Request, f webForm) (action.Reply, error) {
	if v, ok := s.justOpened(r); ok {
		return s.showAgain(r, v)
	}
	passphrase := f.Text(intake.PassphraseField)
	if err := intake.CheckPassphrase(passphrase); err != nil {
		return action.Reply{}, err
	}
	if strings.TrimSpace(passphrase.Reveal()) == "" { // this cannot be a passphrase, so it is not an attempt
		passphrase = secret.Text{}
	}
	p, err := s.Store.Preview(r.Context(), r.URLToken)
	switch {
	case err != nil || notFoundIfExpired(p) != nil || p.Early(p.At):
	case asksForMailbox(r, p):
		return s.revealToRecipient(r, f, passphrase)
	case asksForNumber(r, p) && typedDigits(f.Text(numberField)) != revealNumber(p):
		return s.stepAfter(r, attempt{Status: http.StatusForbidden, Number: true})
	}
	return s.reveal(r, passphrase, f.checked(returnsField), nil)
}

// deletedView is the page after a delete. It does not show the push.
type deletedView struct{}

// expirePush deletes a push for its owner, or for anyone with the link if the sender
// allows that.
func (s *Set) expirePush(r *action.Request) (action.Reply, error) {
	p, err := s.Store.DeletePush(r.Context(), r.Actor, r.Push)
	switch {
	case errors.Is(err, record.ErrDenied): // an expired push looks like an unknown one
		if _, lookErr := s.look(r); lookErr != nil {
			err = lookErr
		}
		return action.Reply{}, err
	case err != nil:
		return action.Reply{}, err
	case !p.Ended:
		return action.Reply{}, action.ErrExpired
	default:
		return action.Show(http.StatusOK, "deleted", deletedView{}), nil
	}
}
