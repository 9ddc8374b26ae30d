package pages

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"

	"pushbox/internal/passkey"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// passkeyCookie is the name of a cookie of a browser that is asked for a passkey before it has a
// session. The answer is valid only with it.
const (
	passkeyCookie = "passkey"
	passkeyKept   = 5 * 60 // seconds
)

// passkeyView has the data for the script of a page that asks for a passkey. Without a Request the
// script does nothing.
type passkeyView struct {
	store.PasskeyRequest
	Origin string // the site of the passkeys: at another address the script leaves the form hidden
}

// passkeySite returns the site of passkeys at this entry point; false if passkeys cannot work
// there.
func (s *Set) passkeySite(r *action.Request) (passkey.Site, bool) {
	at := s.Config.BaseURL
	if at == "" || !r.Entry.Named {
		var err error
		if at, err = r.RequestBase(); err != nil {
			return passkey.Site{}, false
		}
	}
	u, err := url.Parse(at)
	if err != nil {
		return passkey.Site{}, false
	}
	return passkey.SiteOf(action.OriginOf(u))
}

// askPasskey returns the view for the request of ask; zero if this site has no passkeys.
func (s *Set) askPasskey(r *action.Request, ask func(passkey.Site) (store.PasskeyRequest, error)) (passkeyView, error) {
	site, ok := s.passkeySite(r)
	if !ok {
		return passkeyView{}, nil
	}
	q, err := ask(site)
	return passkeyView{q, site.Origin()}, err
}

// askSecondPasskey asks for a passkey of the session's account.
func (s *Set) askSecondPasskey(r *action.Request) (passkeyView, error) {
	return s.askPasskey(r, func(site passkey.Site) (store.PasskeyRequest, error) {
		return s.Store.AskPasskey(r.Context(), r.SessionSecret(), site)
	})
}

// askAnyPasskey asks for a passkey of any account, with the cookie that the answer needs. It does
// not ask if people can sign in only at providers.
func (s *Set) askAnyPasskey(r *action.Request) (passkeyView, *http.Cookie, error) {
	if !s.Config.SignIn.Passwords {
		return passkeyView{}, nil, nil
	}
	browser := s.passkeyBrowser(r)
	if browser.IsZero() {
		browser = secret.New(rand.Text())
	}
	v, err := s.askPasskey(r, func(site passkey.Site) (store.PasskeyRequest, error) {
		return s.Store.AskAnyPasskey(browser, site), nil
	})
	if err != nil || v.Options == "" {
		return v, nil, err
	}
	c := r.NewCookie(passkeyCookie, browser.Reveal())
	c.MaxAge, c.SameSite = passkeyKept, http.SameSiteStrictMode
	return v, c, nil
}

// passkeyBrowser is the secret in the browser's cookie; zero if it has none.
func (s *Set) passkeyBrowser(r *action.Request) secret.Text {
	c, err := r.OwnCookie(passkeyCookie)
	if err != nil {
		return secret.Text{}
	}
	return secret.New(c.Value)
}

// passkeyAnswer reads what the script put into the form.
func (s *Set) passkeyAnswer(r *action.Request, f webForm) store.PasskeyAnswer {
	site, _ := s.passkeySite(r)
	return store.PasskeyAnswer{Site: site, Challenge: f.text("challenge"), Text: f.Text("passkey")}
}

// factor reads a second factor: a code, or a passkey.
func (s *Set) factor(r *action.Request, f webForm) store.Factor {
	return store.Factor{Code: f.Text("code"), Passkey: s.passkeyAnswer(r, f)}
}

// otherFactor reads the present factor in a form that adds another one. Its fields have different
// names than those of the new factor.
func (s *Set) otherFactor(r *action.Request, f webForm) store.Factor {
	site, _ := s.passkeySite(r)
	return store.Factor{Code: f.Text("proof_code"), Passkey: store.PasskeyAnswer{Site: site, Challenge: f.text("proof_challenge"), Text: f.Text("proof")}}
}

// factorWrong returns the message for a form whose password or factor was refused, and the error.
// coded says that the form accepts a code.
func factorWrong(f webForm, coded bool, err error) (string, error) {
	switch {
	case !f.Text("passkey").IsZero():
		return "token_passkey_wrong", unlessLate(err)
	case coded:
		return "mfa_code_wrong", err
	default:
		return "mfa_password_wrong", err
	}
}

// signInPasskey signs in with a passkey: alone, or after the password.
func (s *Set) signInPasskey(r *action.Request, f webForm) (action.Reply, error) {
	var n store.NewSession
	var err error
	if r.Pending {
		n, err = s.Store.SignInPasskey(r.Context(), r.Actor, r.SessionSecret(), s.passkeyAnswer(r, f))
	} else if !s.Config.SignIn.Passwords {
		err = record.ErrCredentials
	} else {
		n, err = s.Store.SignInAlone(r.Context(), r.Actor, s.passkeyBrowser(r), s.passkeyAnswer(r, f))
	}
	if errors.Is(err, record.ErrSession) {
		return s.goToTell(r, signInPath, noticePasskeyLate), nil
	}
	if err != nil {
		e, err := s.newFormError(err, "passkey_wrong")
		if err != nil {
			return action.Reply{}, err
		}
		if r.Pending {
			return s.showSignInCode(r, e)
		}
		page := s.newSignInView(s.wanted(r))
		page.Error = e
		return s.showSignIn(r, page)
	}
	return s.begin(r, n)
}

// unlessLate returns err, or record.ErrCredentials for an answer of a passkey that came too late.
func unlessLate(err error) error {
	if errors.Is(err, record.ErrSession) {
		return record.ErrCredentials
	}
	return err
}

// addPasskey gives the account a passkey that the browser made.
func (s *Set) addPasskey(r *action.Request, f webForm) (action.Reply, error) {
	n, codes, err := s.Store.AddPasskey(r.Context(), r.Actor, r.SessionSecret(), f.Text("password"), s.otherFactor(r, f), f.text("name"), s.passkeyAnswer(r, f))
	var invalid *record.InvalidError
	switch {
	case errors.As(err, &invalid), errors.Is(err, record.ErrExists):
		return s.showMFA(r, formError{Message: "passkey_not_added"}, secret.Text{})
	case err != nil:
		return s.rerenderMFA(r, err, "mfa_password_wrong", secret.Text{})
	case codes == nil:
		return s.goToTell(r, action.MFAPath, noticePasskeyAdded), nil
	default:
		return action.Show(http.StatusOK, "mfa_codes", mfaCodesView{Codes: codes}).With(r.NewSessionCookie(n), r.NewKnownCookie(n)), nil
	}
}

// removePasskey removes a passkey of the account, unless it is the last factor and the settings
// require one.
func (s *Set) removePasskey(r *action.Request, f webForm) (action.Reply, error) {
	page, err := s.mfaState(r, secret.Text{})
	if err != nil {
		return action.Reply{}, err
	}
	if page.Stays() {
		page.Error = formError{Message: "mfa_stays"}
		return page.Error.rerender("mfa", page), nil
	}
	err = s.Store.RemovePasskey(r.Context(), r.Actor, r.SessionSecret(), f.Text("password"), s.factor(r, f), store.ParsePasskeyID(f.text("id")))
	if unlessGone(err) != nil {
		return s.refuseMFA(r, f, err)
	}
	return s.goToTell(r, action.MFAPath, noticePasskeyRemoved), nil
}
