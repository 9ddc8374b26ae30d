package server

import (
	"errors"
	"net/http"
	"strings"

	"pushbox/store"
)

// signInView is the form of an address and its password.
type signInView struct {
	Email string // as it was typed
	Mail  bool   // a forgotten password can be set by a mailed link
	Why   string // the key of a message: why to sign in; empty: for nothing in particular
	Error formError
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
	default:
		wanted, kept := s.wanted(r), (*http.Cookie)(nil)
		if r.URL.RawQuery == strings.TrimPrefix(wantedFiles, "/?") {
			wanted, kept = wantedFiles, s.keepWanted(r, wantedFiles)
		}
		return show(http.StatusOK, "sign_in", signInView{Mail: s.cfg.Mail.Enabled(), Why: whySignIn(wanted)}).with(kept), nil
	}
}

// signIn checks an address and its password.
func (s *Server) signIn(r *request, f webForm) (reply, error) {
	n, err := s.store.SignIn(r.Context(), r.actor, f.text("email"), f.Text("password"))
	if err != nil {
		e, err := s.newFormError(err, "sign_in_wrong")
		return e.rerender("sign_in", signInView{Email: shownAgain(f.text("email"), store.MaxEmail), Mail: s.cfg.Mail.Enabled(), Why: whySignIn(s.wanted(r)), Error: e}), err
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
	return s.goToTell(r, signInPath, noticeSignedOut).with(s.noSessionCookie(r)), nil
}
