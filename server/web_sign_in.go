package server

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
)

// signInView is the form of an address and its password.
type signInView struct {
	Email     string // as it was typed
	Mail      bool   // a forgotten password can be set by a mailed link
	Wanted    bool   // it leads to the page that the user wanted to see
	Providers []provider
	Passwords bool // all accounts may sign in with one
	Rescue    bool // some may
	Error     formError
}

// signInPage is the form as it is first shown.
func (s *Server) signInPage(r *request) signInView {
	passwords := s.cfg.SignIn.Passwords
	return signInView{
		Mail: s.mailsPasswords(), Wanted: s.wanted(r) != "", Providers: s.providers,
		Passwords: passwords, Rescue: !passwords && len(s.cfg.SignIn.BreakGlass) > 0,
	}
}

// mayUsePassword reports whether an account may sign in with its password.
func (s *Server) mayUsePassword(email string) bool {
	return s.cfg.SignIn.Passwords || slices.Contains(s.cfg.SignIn.BreakGlass, strings.ToLower(strings.TrimSpace(email)))
}

// signInCodeView is the form of the second factor's code.
type signInCodeView struct{ Error formError }

// signInForm shows the form for the next factor.
func (s *Server) signInForm(r *request) (reply, error) {
	switch {
	case r.actor.Account != 0:
		return goTo("/"), nil
	case r.pending:
		return show(http.StatusOK, "sign_in_code", signInCodeView{}), nil
	case r.proxied.email != "" && r.Method == http.MethodGet && !isAhead(r.Header):
		return s.signInProxied(r)
	default:
		return show(http.StatusOK, "sign_in", s.signInPage(r)), nil
	}
}

// signIn checks an address and its password.
func (s *Server) signIn(r *request, f webForm) (reply, error) {
	password := f.Text("password")
	if !s.mayUsePassword(f.text("email")) {
		password = secret.Text{} // no account has it, and the time tells nothing
	}
	n, err := s.store.SignIn(r.Context(), r.actor, f.text("email"), password)
	if err != nil {
		e, err := s.newFormError(err, "sign_in_wrong")
		page := s.signInPage(r)
		page.Email, page.Error = shownAgain(f.text("email"), store.MaxEmail), e
		return e.rerender("sign_in", page), err
	}
	return s.begin(r, n)
}

// signInCode checks a code of the second factor.
func (s *Server) signInCode(r *request, f webForm) (reply, error) {
	n, err := s.store.SignInCode(r.Context(), r.actor, s.sessionSecret(r), f.Text("code"))
	if errors.Is(err, store.ErrSession) {
		return s.goToTell(r, signInPath, noticeLate), nil
	}
	if err != nil {
		e, err := s.newFormError(err, "sign_in_code_wrong")
		return e.rerender("sign_in_code", signInCodeView{Error: e}), err
	}
	return s.begin(r, n)
}

// signOut ends the session, for the server and for the browser.
func (s *Server) signOut(r *request) (reply, error) {
	if err := s.store.SignOut(r.Context(), r.actor, s.sessionSecret(r)); err != nil {
		return reply{}, err
	}
	rep := s.goToTell(r, signInPath, noticeSignedOut)
	switch at := s.signsOutAt(r); {
	case r.proxied.email != "": // the form would sign in again
		rep = s.goToTell(r, "/", noticeSignedOut)
	case at != "":
		rep = s.goToTell(r, signInPath, noticeSignedOutHere, at)
	}
	return rep.with(s.noSessionCookie(r)), nil
}
