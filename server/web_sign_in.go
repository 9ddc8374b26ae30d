package server

import (
	"errors"

	"pushbox/store"
)

// signInView is the form of an address and its password.
type signInView struct {
	Email   string // as it was typed
	Mail    bool   // a forgotten password can be set by a mailed link
	Wanted  bool   // it leads to the page that the user wanted to see
	Passkey passkeyView
	Error   formError
}

// signInCodeView is the form of the second factor.
type signInCodeView struct {
	TOTP    bool // the account has an authenticator app
	Passkey passkeyView
	Error   formError
}

// signInForm shows the form for the next factor.
func (s *Server) signInForm(r *request) (reply, error) {
	switch {
	case r.actor.Account != 0:
		return goTo("/"), nil
	case r.pending:
		return s.showSignInCode(r, formError{})
	default:
		return s.showSignIn(r, signInView{})
	}
}

// showSignIn shows the form for an address and its password, which also offers to sign in with a
// passkey.
func (s *Server) showSignIn(r *request, page signInView) (reply, error) {
	page.Mail, page.Wanted = s.cfg.Mail.Enabled(), s.wanted(r) != ""
	asked, c, err := s.askAnyPasskey(r)
	page.Passkey = asked
	return page.Error.status("sign_in", page).with(c), err
}

// showSignInCode shows the form for the second factor.
func (s *Server) showSignInCode(r *request, e formError) (reply, error) {
	asked, err := s.askSecondPasskey(r)
	return e.status("sign_in_code", signInCodeView{TOTP: r.pendingTOTP, Passkey: asked, Error: e}), err
}

// signIn checks an address and its password.
func (s *Server) signIn(r *request, f webForm) (reply, error) {
	n, err := s.store.SignIn(r.Context(), r.actor, f.text("email"), f.Text("password"))
	if err != nil {
		e, err := s.newFormError(err, "sign_in_wrong")
		if err != nil {
			return reply{}, err
		}
		return s.showSignIn(r, signInView{Email: shownAgain(f.text("email"), store.MaxEmail), Error: e})
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
		if err != nil {
			return reply{}, err
		}
		return s.showSignInCode(r, e)
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
