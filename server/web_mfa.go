package server

import (
	"errors"
	"net/http"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
)

// mfaPage is the state of an account's second factor: on, or what it takes to
// have one.
type mfaPage struct {
	On       bool
	Required bool        // everybody must have one
	Done     bool        // it was just turned off
	Email    string      // for password managers
	Secret   secret.Text // where it is off: the one that is offered
	QR       qrImage
	Refused  refusal
}

// mfaCodesPage shows recovery codes, for the only time.
type mfaCodesPage struct {
	Codes []secret.Text
	New   bool // in place of older ones
}

// mfaPage shows the second factor of whoever is signed in.
func (s *Server) mfaPage(r *request) (reply, error) {
	page, err := s.mfaState(r, secret.Text{})
	page.Done = r.URL.Query().Has(markDone)
	return show(http.StatusOK, "mfa", page), err
}

// mfaState is the page as it is; where a factor is offered, the one with that
// secret if it is set, or else a new one.
func (s *Server) mfaState(r *request, offered secret.Text) (mfaPage, error) {
	page := mfaPage{On: r.session.MFA, Required: s.cfg.RequireMFA, Email: r.session.Email}
	if page.On {
		return page, nil
	}
	setup, err := s.store.NewTOTP(r.Context(), s.sessionSecret(r))
	if err != nil {
		return page, err
	}
	url := setup.URL.Reveal()
	if !offered.IsZero() { // the app may have it already: another code is tried, not another secret
		url = strings.Replace(url, setup.Secret.Reveal(), offered.Reveal(), 1)
		setup.Secret = offered
	}
	page.Secret = setup.Secret
	page.QR, err = newQR(url)
	return page, err
}

// enableMFA takes the second factor that was offered, once a code shows that the
// person has it, and the password that it is theirs.
func (s *Server) enableMFA(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	offered := f.secret("secret")
	n, codes, err := s.store.EnableTOTP(r.Context(), r.actor, s.sessionSecret(r), f.secret("password"), offered, f["code"])
	if errors.Is(err, store.ErrExists) {
		return goTo(mfaPath), nil
	}
	if err != nil {
		return s.refuseMFA(r, err, "mfa_code_wrong", offered)
	}
	return show(http.StatusOK, "mfa_codes", mfaCodesPage{Codes: codes}).with(s.newSessionCookie(r, n)), nil
}

// disableMFA takes the second factor away, where nobody has to have one.
func (s *Server) disableMFA(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	if s.cfg.RequireMFA {
		page, err := s.mfaState(r, secret.Text{})
		page.Refused = refusal{Message: "mfa_stays"}
		return page.Refused.again("mfa", page), err
	}
	if err := s.store.DisableTOTP(r.Context(), r.actor, s.sessionSecret(r), f.secret("password")); err != nil {
		return s.refuseMFA(r, err, "mfa_password_wrong", secret.Text{})
	}
	return goTo(mfaPath + "?" + markDone + "=1"), nil
}

// newRecoveryCodes replaces the recovery codes.
func (s *Server) newRecoveryCodes(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	if !r.session.MFA { // there is nothing to recover
		return goTo(mfaPath), nil
	}
	codes, err := s.store.NewRecoveryCodes(r.Context(), r.actor, s.sessionSecret(r), f.secret("password"))
	if err != nil {
		return s.refuseMFA(r, err, "mfa_password_wrong", secret.Text{})
	}
	return show(http.StatusOK, "mfa_codes", mfaCodesPage{Codes: codes, New: true}), nil
}

// refuseMFA shows the page again where a code or a password was not taken.
func (s *Server) refuseMFA(r *request, err error, message string, offered secret.Text) (reply, error) {
	no, err := s.refused(err, message)
	if err != nil {
		return reply{}, err
	}
	page, err := s.mfaState(r, offered)
	page.Refused = no
	return no.again("mfa", page), err
}
