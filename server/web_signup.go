package server

import (
	"errors"
	"net/http"
	"strings"

	"pushbox/store"
)

// accountPage is the form that an account is made with.
type accountPage struct {
	Email   string          // as it was typed
	Wrong   map[string]bool // fields that cannot be
	Foreign bool            // the address is not one of those that may sign up
	Refused refusal
}

// MinPassword is the fewest characters of a password.
func (accountPage) MinPassword() int { return store.MinPassword }

// MaxPassword is the most bytes of one.
func (accountPage) MaxPassword() int { return store.MaxPassword }

// signUpForm is there only where people may make accounts.
func (s *Server) signUpForm(*request) (reply, error) {
	if !s.cfg.EnableSignups {
		return reply{}, store.ErrNotFound
	}
	return show(http.StatusOK, "signup", accountPage{}), nil
}

// signUp makes an account. Where the address has one, the answer is the same.
func (s *Server) signUp(r *request) (reply, error) {
	if !s.cfg.EnableSignups {
		return reply{}, store.ErrNotFound
	}
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	email := f["email"]
	page := accountPage{Email: comesBack(email, store.MaxEmail)}
	if full, wait := s.signUps.Full(r.actor.Client); full {
		s.noteLimit(&limitError{name: limitSignUps})
		page.Refused = s.tooMany(wait)
		return page.Refused.again("signup", page), nil
	}
	s.signUps.Add(r.actor.Client)
	if !s.maySignUp(email) {
		page.Wrong, page.Foreign = map[string]bool{"email": true}, true
		return show(http.StatusUnprocessableEntity, "signup", page), nil
	}
	_, err = s.store.AddAccount(r.Context(), email, f.secret("password"))
	if wrong, ok := wrongFields(err); ok {
		page.Wrong = wrong
		return show(http.StatusUnprocessableEntity, "signup", page), nil
	}
	if err != nil && !errors.Is(err, store.ErrExists) {
		return reply{}, err
	}
	return goTo(signInPath + "?" + markMade + "=1"), nil
}

// maySignUp reports whether an address, in the form that the store keeps it in,
// is one of those that may have an account for the asking.
func (s *Server) maySignUp(email string) bool {
	return s.signUpEmail.MatchString(strings.ToLower(strings.TrimSpace(email)))
}
