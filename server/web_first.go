package server

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"

	"pushbox/store/record"
)

// firstForm shows the form of the first account, if the path has the code for it.
func (s *Server) firstForm(r *request) (reply, error) {
	if err := s.wantFirst(r); err != nil {
		return reply{}, err
	}
	return show(http.StatusOK, "first", accountView{}), nil
}

// firstAccount makes the first account, once, and signs it in.
func (s *Server) firstAccount(r *request) (reply, error) {
	if err := s.wantFirst(r); err != nil {
		return reply{}, err
	}
	f, err := s.readForm(r)
	if err != nil {
		return reply{}, err
	}
	email, password := f.text("email"), f.Text("password")
	_, err = s.store.AddFirstAccount(r.Context(), r.actor, email, password)
	if wrong, ok := wrongFields(err); ok {
		return show(http.StatusUnprocessableEntity, "first", accountView{Email: shownAgain(email, record.MaxEmail), Wrong: wrong}), nil
	}
	if errors.Is(err, record.ErrExists) { // made since the code was compared, here or at another server
		return reply{}, errFirst
	}
	if err != nil {
		return reply{}, err
	}
	n, err := s.store.SignIn(r.Context(), r.actor, email, password)
	if err != nil { // the account exists, even if it cannot sign in now
		return goTo(signInPath), nil
	}
	rep, err := s.begin(r, n)
	return rep.with(s.goToTell(r, rep.to, noticeFirst).cookies...), err
}

// errFirst is record.ErrNotFound for the page of the first account.
var errFirst = fmt.Errorf("%w: it has no code for a first account", record.ErrNotFound)

// errLink is record.ErrNotFound for a link that sets a password, and is used up or too old.
var errLink = fmt.Errorf("%w: no such link sets a password", record.ErrNotFound)

// wantFirst returns errFirst unless the path has the code of the first account.
func (s *Server) wantFirst(r *request) error {
	code, err := s.store.FirstCode(r.Context())
	if err != nil {
		return err
	}
	if code.IsZero() || subtle.ConstantTimeCompare([]byte(code.Reveal()), []byte(r.name.Reveal())) != 1 {
		return errFirst
	}
	return nil
}
