package server

import (
	"crypto/subtle"
	"errors"
	"net/http"

	"pushbox/store"
)

// firstForm shows the form of the first account, if the path has the code for it.
func (s *Server) firstForm(r *request) (reply, error) {
	if !s.knowsFirst(r) {
		return reply{}, store.ErrNotFound
	}
	has, err := s.store.HasAccounts(r.Context())
	if err != nil {
		return reply{}, err
	}
	if has { // made by a command since this server started
		return reply{}, s.forgetFirst()
	}
	return show(http.StatusOK, "first", accountView{}), nil
}

// firstAccount makes the first account, once, and signs it in.
func (s *Server) firstAccount(r *request) (reply, error) {
	if !s.knowsFirst(r) {
		return reply{}, store.ErrNotFound
	}
	f, err := s.readForm(r)
	if err != nil {
		return reply{}, err
	}
	email, password := f.text("email"), f.Text("password")
	_, err = s.store.AddFirstAccount(r.Context(), r.actor, email, password)
	if wrong, ok := wrongFields(err); ok {
		return show(http.StatusUnprocessableEntity, "first", accountView{Email: shownAgain(email, store.MaxEmail), Wrong: wrong}), nil
	}
	if errors.Is(err, store.ErrExists) {
		return reply{}, s.forgetFirst()
	}
	if err != nil {
		return reply{}, err
	}
	s.first.Store(nil)
	n, err := s.store.SignIn(r.Context(), r.actor, email, password)
	if err != nil { // the account exists, even if it cannot sign in now
		return goTo(signInPath), nil
	}
	return s.begin(r, n)
}

// knowsFirst reports whether the path has the code of the first account.
func (s *Server) knowsFirst(r *request) bool {
	code := s.first.Load()
	return code != nil && subtle.ConstantTimeCompare([]byte(code.Reveal()), []byte(r.name.Reveal())) == 1
}

// forgetFirst makes the code invalid, since there is an account. It returns
// store.ErrNotFound, the answer at the code's address from now on.
func (s *Server) forgetFirst() error {
	s.first.Store(nil)
	return store.ErrNotFound
}
