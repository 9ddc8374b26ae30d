package pages

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"pushbox/internal/passkey"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// mfaView shows the second factors of an account, and the form to add one.
type mfaView struct {
	On       bool
	TOTP     bool          // one of the factors is an authenticator app
	Since    *display.Time // when the app was added; nil: it is not known
	Passkeys []passkeyRow
	First    *display.Time // when the oldest of them was made
	Required bool          // every account must have one
	Codes    int           // recovery codes that are left
	Email    string        // for password managers
	Secret   secret.Text   // of the authenticator app that is offered, if the account has none
	QR       display.QR
	New      passkeyView // the passkey that is offered
	Proof    passkeyView // passkeys that can replace a code, for changes that need a factor
	Tried    string      // the name of the route that refused what was sent
	Error    formError
}

// A passkeyRow is a passkey in the list.
type passkeyRow struct {
	ID   record.PasskeyID
	Name string
	Made display.Time
	Used *display.Time // nil: never
}

// AllCodes is how many recovery codes there are at first.
func (mfaView) AllCodes() int { return store.RecoveryCodes }

// MaxPasskeys is how many passkeys an account may have.
func (mfaView) MaxPasskeys() int { return record.MaxPasskeys }

// MaxName is how long the name of a passkey may be.
func (mfaView) MaxName() int { return record.MaxLabel }

// Stays reports whether the account has only one factor, which the settings require.
func (v mfaView) Stays() bool {
	return v.Required && (v.TOTP && len(v.Passkeys) == 0 || !v.TOTP && len(v.Passkeys) == 1)
}

// mfaCodesView shows recovery codes, only once.
type mfaCodesView struct {
	Codes []secret.Text
	New   bool // they replace older ones
}

// mfaPage shows the second factors of the account.
func (s *Set) mfaPage(r *action.Request) (action.Reply, error) {
	return s.showMFA(r, formError{}, secret.Text{})
}

// mfaState returns the page. If the account has no authenticator app, the page offers the given
// secret, or a new one if that is zero.
func (s *Set) mfaState(r *action.Request, offered secret.Text) (mfaView, error) {
	page := mfaView{On: r.Session.MFA, TOTP: r.Session.TOTP, Since: display.OptionalTime(r.Session.TOTPSince), Required: s.Config.RequireMFA, Codes: r.Session.RecoveryCodes, Email: r.Session.Email}
	list, err := s.Store.Passkeys(r.Context(), r.SessionSecret())
	if err != nil {
		return page, err
	}
	var first time.Time
	for _, p := range list {
		if page.First == nil || p.CreatedAt.Before(first) {
			first, page.First = p.CreatedAt, display.OptionalTime(p.CreatedAt)
		}
		page.Passkeys = append(page.Passkeys, passkeyRow{p.ID, p.Name, display.NewTime(p.CreatedAt), display.OptionalTime(p.UsedAt)})
	}
	if len(list) < record.MaxPasskeys {
		page.New, err = s.askPasskey(r, func(site passkey.Site) (store.PasskeyRequest, error) {
			return s.Store.NewPasskey(r.Context(), r.SessionSecret(), site)
		})
	}
	if err == nil && page.On {
		page.Proof, err = s.askSecondPasskey(r)
	}
	if page.TOTP || err != nil {
		return page, err
	}
	setup, err := s.Store.NewTOTP(r.Context(), r.SessionSecret())
	if err != nil {
		return page, err
	}
	url := setup.URL.Reveal()
	if !offered.IsZero() { // the app may have the secret already: the user tries another code, not another secret
		url = strings.Replace(url, setup.Secret.Reveal(), offered.Reveal(), 1)
		setup.Secret = offered
	}
	page.Secret = setup.Secret
	page.QR, err = display.NewQR(url)
	return page, err
}

// enableMFA adds the authenticator app that was offered. A code proves that the app has the secret,
// and the password that the user owns the account.
func (s *Set) enableMFA(r *action.Request, f webForm) (action.Reply, error) {
	if r.Session.TOTP {
		return action.GoTo(action.MFAPath), nil
	}
	offered := f.Text("secret")
	n, codes, err := s.Store.EnableTOTP(r.Context(), r.Actor, r.SessionSecret(), f.Text("password"), s.otherFactor(r, f), offered, f.Text("code"))
	if errors.Is(err, record.ErrExists) { // another tab added the app
		return action.GoTo(action.MFAPath), nil
	}
	if err != nil {
		return s.rerenderMFA(r, err, "mfa_code_wrong", offered)
	}
	if codes == nil { // not the first factor: the recovery codes stay
		return s.goToTell(r, action.MFAPath, noticeAppAdded), nil
	}
	return action.Show(http.StatusOK, "mfa_codes", mfaCodesView{Codes: codes}).With(r.NewSessionCookie(n), r.NewKnownCookie(n)), nil
}

// disableMFA removes the authenticator app, unless it is the last factor and the settings require
// one.
func (s *Set) disableMFA(r *action.Request, f webForm) (action.Reply, error) {
	page, err := s.mfaState(r, secret.Text{})
	if err != nil || page.Stays() {
		page.Error = formError{Message: "mfa_stays"}
		return page.Error.rerender("mfa", page), err
	}
	if err := s.Store.DisableTOTP(r.Context(), r.Actor, r.SessionSecret(), f.Text("password"), s.factor(r, f)); err != nil {
		return s.refuseMFA(r, f, err)
	}
	if len(page.Passkeys) > 0 {
		return s.goToTell(r, action.MFAPath, noticeAppRemoved), nil
	}
	return s.goToTell(r, action.MFAPath, noticeNoMFA), nil
}

// newRecoveryCodes replaces the recovery codes.
func (s *Set) newRecoveryCodes(r *action.Request, f webForm) (action.Reply, error) {
	if !r.Session.MFA { // the account has no second factor
		return action.GoTo(action.MFAPath), nil
	}
	codes, err := s.Store.NewRecoveryCodes(r.Context(), r.Actor, r.SessionSecret(), f.Text("password"), s.factor(r, f))
	if err != nil {
		return s.refuseMFA(r, f, err)
	}
	return action.Show(http.StatusOK, "mfa_codes", mfaCodesView{Codes: codes, New: true}), nil
}

// refuseMFA is rerenderMFA with the message for a wrong password or factor.
func (s *Set) refuseMFA(r *action.Request, f webForm, err error) (action.Reply, error) {
	message, err := factorWrong(f, r.Session.MFA, err)
	return s.rerenderMFA(r, err, message, secret.Text{})
}

// rerenderMFA shows the page again after a code or a password was refused.
func (s *Set) rerenderMFA(r *action.Request, err error, message string, offered secret.Text) (action.Reply, error) {
	e, err := s.newFormError(err, message)
	if err != nil {
		return action.Reply{}, err
	}
	return s.showMFA(r, e, offered)
}

func (s *Set) showMFA(r *action.Request, e formError, offered secret.Text) (action.Reply, error) {
	page, err := s.mfaState(r, offered)
	page.Error = e
	if e.Message != "" {
		page.Tried = r.Route.Name
	}
	return e.status("mfa", page), err
}
