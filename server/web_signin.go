package server

import (
	"errors"
	"net/http"

	"pushbox/store"
)

// The marks that a path to the sign-in page may have, for a notice on it.
const (
	markMade = "made" // an account was asked for
	markLate = "late" // no code came in time
)

// signInPage is the form of an address and its password.
type signInPage struct {
	Email   string // as it was typed
	Made    bool
	Late    bool
	Refused refusal
}

// codePage is the form of the second factor's code.
type codePage struct{ Refused refusal }

// signInForm shows what is to be filled in next.
func (s *Server) signInForm(r *request) (reply, error) {
	marks := r.URL.Query()
	switch {
	case r.actor.Account != 0:
		return goTo("/"), nil
	case r.pending:
		return show(http.StatusOK, "code", codePage{}), nil
	default:
		return show(http.StatusOK, "signin", signInPage{Made: marks.Has(markMade), Late: marks.Has(markLate)}), nil
	}
}

// signIn tries an address and its password.
func (s *Server) signIn(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	n, err := s.store.SignIn(r.Context(), r.actor, f["email"], f.secret("password"))
	if err != nil {
		no, err := s.refused(err, "signin_wrong")
		return no.again("signin", signInPage{Email: comesBack(f["email"], store.MaxEmail), Refused: no}), err
	}
	return s.begin(r, n)
}

// signInCode tries a code of the second factor.
func (s *Server) signInCode(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	n, err := s.store.SignInCode(r.Context(), r.actor, s.sessionSecret(r), f["code"])
	if errors.Is(err, store.ErrSession) {
		return goTo(signInPath + "?" + markLate + "=1"), nil
	}
	if err != nil {
		no, err := s.refused(err, "signin_code_wrong")
		return no.again("code", codePage{Refused: no}), err
	}
	return s.begin(r, n)
}

// signOut ends the session, for the server and for the browser.
func (s *Server) signOut(r *request) (reply, error) {
	if err := s.store.SignOut(r.Context(), s.sessionSecret(r)); err != nil {
		return reply{}, err
	}
	return goTo(signInPath).with(s.noSessionCookie(r)), nil
}
