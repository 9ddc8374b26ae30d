package server

import (
	"context"
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
	Why       string // the key of a message: why to sign in; empty: for nothing in particular
	Names     bool   // a directory takes user names, too
	Providers []provider
	Passwords bool // all accounts may sign in with one
	Rescue    bool // some may
	Error     formError
}

func (s *Server) newSignInView(wanted string) signInView {
	passwords := s.cfg.SignIn.Passwords
	return signInView{
		Mail: s.mailsPasswords(), Why: whySignIn(wanted), Names: s.directory != nil, Providers: s.providers,
		Passwords: passwords || s.directory != nil, Rescue: !passwords && len(s.cfg.SignIn.BreakGlass) > 0,
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
		wanted, kept := s.wanted(r), (*http.Cookie)(nil)
		if r.URL.RawQuery == strings.TrimPrefix(wantedFiles, "/?") {
			wanted, kept = wantedFiles, s.keepWanted(r, wantedFiles)
		}
		return show(http.StatusOK, "sign_in", s.newSignInView(wanted)).with(kept), nil
	}
}

// signIn checks an address, or the user name of a directory, and its password.
func (s *Server) signIn(r *request, f webForm) (reply, error) {
	n, err := s.checkPassword(r, f.text("email"), f.Text("password"))
	if err == nil {
		return s.begin(r, n)
	}
	page := s.newSignInView(s.wanted(r))
	page.Email = shownAgain(f.text("email"), store.MaxEmail)
	if errors.Is(err, ErrAway) {
		page.Error = formError{Message: "sign_in_away"}
		return show(http.StatusServiceUnavailable, "sign_in", page), nil
	}
	page.Error, err = s.newFormError(err, "sign_in_wrong")
	return page.Error.rerender("sign_in", page), err
}

// checkPassword begins a session for an account with a password, or for a person whom the
// directory knows.
func (s *Server) checkPassword(r *request, login string, password secret.Text) (store.NewSession, error) {
	local := s.mayUsePassword(login)
	if s.directory == nil {
		if !local {
			password = secret.Text{} // no account has it, and the time tells nothing
		}
		return s.store.SignIn(r.Context(), r.actor, login, password)
	}
	return s.store.SignInAt(r.Context(), r.actor, login, password, local, func(ctx context.Context) (store.External, error) {
		return s.directory(ctx, login, password)
	})
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
