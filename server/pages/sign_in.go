package pages

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"pushbox/internal/email"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// undoTime is the time for ending a session that the browser does not get.
const undoTime = 10 * time.Second

// begin gives the browser a new session, and ends its old one: a client that knew the old secret
// can no longer use it. If the old session cannot be ended, the browser keeps it, and begin ends
// the new one. begin redirects to the page that the user wanted to see.
func (s *Set) begin(r *action.Request, n store.NewSession) (action.Reply, error) {
	if old := r.SessionSecret(); !old.IsZero() {
		if err := s.Store.SignOut(r.Context(), r.Actor, old); err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), undoTime)
			defer cancel()
			return action.Reply{}, errors.Join(err, s.Store.SignOut(ctx, r.Actor, n.Secret))
		}
	}
	rep := action.GoTo(signInPath)
	if !n.Pending {
		rep = action.GoTo(cmp.Or(s.wanted(r), "/")).With(s.noWantedCookie(r))
	}
	return rep.With(r.NewSessionCookie(n), r.NewKnownCookie(n)), nil
}

// signInView is the form of an address and its password.
type signInView struct {
	Email     string // as it was typed
	Mail      bool   // a forgotten password can be set by a mailed link
	Why       string // the key of a message with the reason to sign in; empty: no particular reason
	Names     bool   // a directory accepts user names, too
	Providers []provider
	Passwords bool // all accounts may sign in with a password
	Rescue    bool // some accounts may
	Passkey   passkeyView
	Error     formError
}

func (s *Set) newSignInView(wanted string) signInView {
	passwords := s.Config.SignIn.Passwords
	return signInView{
		Mail: s.mailsPasswords(), Why: whySignIn(wanted), Names: s.Directory != nil, Providers: s.providers,
		Passwords: passwords || s.Directory != nil, Rescue: !passwords && len(s.Config.SignIn.BreakGlass) > 0,
	}
}

// mayUsePassword reports whether an account may sign in with its password.
func (s *Set) mayUsePassword(address string) bool {
	return s.Config.SignIn.Passwords || slices.Contains(s.Config.SignIn.BreakGlass, email.Fold(address))
}

// signInCodeView is the form of the second factor.
type signInCodeView struct {
	TOTP    bool // the account has an authenticator app
	Passkey passkeyView
	Error   formError
}

// Wrong reports whether the code from the app was refused: then its field says so.
func (v signInCodeView) Wrong() bool { return v.TOTP && v.Error.Message == codeWrong }

const codeWrong = "sign_in_code_wrong"

// signInForm shows the form for the next factor.
func (s *Set) signInForm(r *action.Request) (action.Reply, error) {
	switch {
	case r.Actor.Account != 0:
		return action.GoTo("/"), nil
	case r.Pending:
		return s.showSignInCode(r, formError{})
	case r.Proxied.Email != "" && isMeant(r):
		return s.signInProxied(r)
	default:
		wanted, kept := s.wanted(r), (*http.Cookie)(nil)
		if r.URL.RawQuery == strings.TrimPrefix(wantedFiles, "/?") {
			wanted, kept = wantedFiles, s.keepWanted(r, wantedFiles)
		}
		page := s.newSignInView(wanted)
		page.Email = signedUp(r)
		rep, err := s.showSignIn(r, page)
		return rep.With(kept), err
	}
}

// showSignIn shows the form for an address and its password, which also offers to sign in with a
// passkey.
func (s *Set) showSignIn(r *action.Request, page signInView) (action.Reply, error) {
	asked, c, err := s.askAnyPasskey(r)
	page.Passkey = asked
	return page.Error.status("sign_in", page).With(c), err
}

// showSignInCode shows the form for the second factor.
func (s *Set) showSignInCode(r *action.Request, e formError) (action.Reply, error) {
	asked, err := s.askSecondPasskey(r)
	return e.status("sign_in_code", signInCodeView{TOTP: r.PendingTOTP, Passkey: asked, Error: e}), err
}

// signIn checks an address or the user name of a directory, with its password.
func (s *Set) signIn(r *action.Request, f webForm) (action.Reply, error) {
	n, err := s.checkPassword(r, f.text("email"), f.Text("password"))
	if err == nil {
		return s.begin(r, n)
	}
	page := s.newSignInView(s.wanted(r))
	page.Email = shownAgain(f.text("email"), record.MaxEmail)
	if errors.Is(err, action.ErrAway) {
		page.Error = formError{Message: "sign_in_away"}
		rep, err := s.showSignIn(r, page)
		rep.Status = http.StatusServiceUnavailable
		return rep, err
	}
	wrong := "sign_in_wrong"
	if page.Names {
		wrong = "sign_in_wrong_name"
	}
	if page.Error, err = s.newFormError(err, wrong); err != nil {
		return action.Reply{}, err
	}
	return s.showSignIn(r, page)
}

// checkPassword begins a session for an account with a password, or for a person whom the
// directory knows.
func (s *Set) checkPassword(r *action.Request, login string, password secret.Text) (store.NewSession, error) {
	local := s.mayUsePassword(login)
	if s.Directory == nil {
		if !local {
			password = secret.Text{} // an unknown address, checked like a known one so that timing reveals nothing
		}
		return s.Store.SignIn(r.Context(), r.Actor, login, password)
	}
	return s.Store.SignInAt(r.Context(), r.Actor, login, password, local, s.Directory(login, password))
}

// signInCode checks a code of the second factor.
func (s *Set) signInCode(r *action.Request, f webForm) (action.Reply, error) {
	n, err := s.Store.SignInCode(r.Context(), r.Actor, r.SessionSecret(), f.Text("code"))
	if errors.Is(err, record.ErrSession) {
		return s.goToTell(r, signInPath, noticeLate), nil
	}
	if err != nil {
		e, err := s.newFormError(err, codeWrong)
		if err != nil {
			return action.Reply{}, err
		}
		return s.showSignInCode(r, e)
	}
	return s.begin(r, n)
}

// signOut ends the session, for the server and for the browser.
func (s *Set) signOut(r *action.Request) (action.Reply, error) {
	if err := s.Store.SignOut(r.Context(), r.Actor, r.SessionSecret()); err != nil {
		return action.Reply{}, err
	}
	rep := s.goToTell(r, signInPath, noticeSignedOut)
	switch at := s.signsOutAt(r); {
	case r.Proxied.Email != "": // going to the form would sign in again
		rep = s.goToTell(r, "/", noticeSignedOut)
	case at != "":
		rep = s.goToTell(r, signInPath, noticeSignedOutHere, at)
	}
	return rep.With(r.NoSessionCookie()), nil
}

// signInProxied begins a session for the person that the proxy names.
func (s *Set) signInProxied(r *action.Request) (action.Reply, error) {
	c := s.Config.SignIn.Proxy
	x := store.External{
		Identity: r.Proxied.Identity(), Provider: "the proxy", Email: r.Proxied.Email, Verified: true, Groups: r.Proxied.Groups,
		Admin: administers(c.AdminGroups, r.Proxied.Groups), Link: true, Create: c.CreateAccounts,
	}
	if !isAllowed(c.AllowedGroups, r.Proxied.Groups) {
		x.Denied, x.Why = true, "the person is in no group of allowed_groups"
	}
	n, err := s.Store.SignInAs(r.Context(), r.Actor, x)
	if err != nil {
		page := s.newSignInView(s.wanted(r))
		if page.Error, err = s.newFormError(err, "sign_in_refused"); err != nil {
			return action.Reply{}, err
		}
		return s.showSignIn(r, page)
	}
	return s.begin(r, n)
}
