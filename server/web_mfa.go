package server

import (
	"errors"
	"net/http"
	"strings"

	"pushbox/internal/secret"
	"pushbox/server/display"
	"pushbox/store"
)

// mfaView shows the second factor of an account: that it is on, or what is needed to
// turn it on.
type mfaView struct {
	On       bool
	Required bool        // every account must have one
	Codes    int         // recovery codes that are left
	Email    string      // for password managers
	Secret   secret.Text // if it is off: the one that is offered
	QR       display.QR
	Error    formError
}

// AllCodes is how many recovery codes there are at first.
func (mfaView) AllCodes() int { return store.RecoveryCodes }

// mfaCodesView shows recovery codes, for the only time.
type mfaCodesView struct {
	Codes []secret.Text
	New   bool // in place of older ones
}

// mfaPage shows the second factor of the account.
func (s *Server) mfaPage(r *request) (reply, error) {
	page, err := s.mfaState(r, secret.Text{})
	return show(http.StatusOK, "mfa", page), err
}

// mfaState returns the page. If the factor is off, the page offers the given secret, or
// a new one if that is zero.
func (s *Server) mfaState(r *request, offered secret.Text) (mfaView, error) {
	page := mfaView{On: r.session.MFA, Required: s.cfg.RequireMFA, Codes: r.session.RecoveryCodes, Email: r.session.Email}
	if page.On {
		return page, nil
	}
	setup, err := s.store.NewTOTP(r.Context(), s.sessionSecret(r))
	if err != nil {
		return page, err
	}
	url := setup.URL.Reveal()
	if !offered.IsZero() { // the app may have it already: the user tries another code, not another secret
		url = strings.Replace(url, setup.Secret.Reveal(), offered.Reveal(), 1)
		setup.Secret = offered
	}
	page.Secret = setup.Secret
	page.QR, err = display.NewQR(url)
	return page, err
}

// enableMFA turns on the second factor that was offered. A code proves that the user's
// app has it, and the password that the account is theirs.
func (s *Server) enableMFA(r *request, f webForm) (reply, error) {
	offered := f.Text("secret")
	n, codes, err := s.store.EnableTOTP(r.Context(), r.actor, s.sessionSecret(r), f.Text("password"), offered, f.Text("code"))
	if errors.Is(err, store.ErrExists) {
		return goTo(mfaPath), nil
	}
	if err != nil {
		return s.rerenderMFA(r, err, "mfa_code_wrong", offered)
	}
	return show(http.StatusOK, "mfa_codes", mfaCodesView{Codes: codes}).with(s.newSessionCookie(r, n)), nil
}

// disableMFA removes the second factor, unless the settings require one.
func (s *Server) disableMFA(r *request, f webForm) (reply, error) {
	if s.cfg.RequireMFA {
		page, err := s.mfaState(r, secret.Text{})
		page.Error = formError{Message: "mfa_stays"}
		return page.Error.rerender("mfa", page), err
	}
	if err := s.store.DisableTOTP(r.Context(), r.actor, s.sessionSecret(r), f.Text("password")); err != nil {
		return s.rerenderMFA(r, err, "mfa_password_wrong", secret.Text{})
	}
	return s.goToTell(r, mfaPath, noticeNoMFA), nil
}

// newRecoveryCodes replaces the recovery codes.
func (s *Server) newRecoveryCodes(r *request, f webForm) (reply, error) {
	if !r.session.MFA { // there is nothing to recover
		return goTo(mfaPath), nil
	}
	codes, err := s.store.NewRecoveryCodes(r.Context(), r.actor, s.sessionSecret(r), f.Text("password"))
	if err != nil {
		return s.rerenderMFA(r, err, "mfa_password_wrong", secret.Text{})
	}
	return show(http.StatusOK, "mfa_codes", mfaCodesView{Codes: codes, New: true}), nil
}

// rerenderMFA shows the page again after a code or a password was refused.
func (s *Server) rerenderMFA(r *request, err error, message string, offered secret.Text) (reply, error) {
	e, err := s.newFormError(err, message)
	if err != nil {
		return reply{}, err
	}
	page, err := s.mfaState(r, offered)
	page.Error = e
	return e.rerender("mfa", page), err
}
