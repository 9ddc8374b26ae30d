package pages

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"pushbox/internal/email"
	"pushbox/server/action"
	"pushbox/store/record"
)

// accountView is the form for making an account.
type accountView struct {
	passwordBounds
	Email   string          // as it was typed
	Wrong   map[string]bool // fields that were refused
	Foreign bool            // the address may not sign up
	Error   formError
}

// signUpForm shows the form, if sign-ups are enabled.
func (s *Set) signUpForm(*action.Request) (action.Reply, error) {
	if !s.signUps() {
		return action.Reply{}, record.ErrNotFound
	}
	return action.Show(http.StatusOK, "sign_up", accountView{}), nil
}

// signUp makes an account. If the address has one already, the answer is the same, so that it does
// not reveal which addresses have accounts.
func (s *Set) signUp(r *action.Request) (action.Reply, error) {
	if !s.signUps() {
		return action.Reply{}, record.ErrNotFound
	}
	f, err := s.readForm(r)
	if err != nil {
		return action.Reply{}, err
	}
	email := f.text("email")
	page := accountView{Email: shownAgain(email, record.MaxEmail)}
	if !s.maySignUp(email) {
		page.Wrong, page.Foreign = map[string]bool{"email": true}, true
		return action.Show(http.StatusUnprocessableEntity, "sign_up", page), nil
	}
	_, err = s.Store.SignUp(r.Context(), r.Actor, email, f.Text("password"))
	var locked *record.LockedError
	if errors.As(err, &locked) {
		s.NoteLimit(err)
		page.Error = s.tooManyAttempts(locked.RetryAfter)
		return page.Error.rerender("sign_up", page), nil
	}
	if wrong, ok := wrongFields(err); ok {
		page.Wrong = wrong
		return action.Show(http.StatusUnprocessableEntity, "sign_up", page), nil
	}
	if err != nil && !errors.Is(err, record.ErrExists) {
		return action.Reply{}, err
	}
	return s.goToTell(r, signInPath, noticeSignedUp, base64.RawURLEncoding.EncodeToString([]byte(page.Email))), nil
}

// signedUp returns the address that the reader has just signed up, for the form to sign in.
func signedUp(r *action.Request) string {
	c, err := r.OwnCookie(noticeCookie)
	if err != nil {
		return ""
	}
	address, is := strings.CutPrefix(c.Value, string(noticeSignedUp)+".")
	email, err := base64.RawURLEncoding.DecodeString(address)
	if !is || err != nil {
		return ""
	}
	return shownAgain(string(email), record.MaxEmail)
}

// SignUps reports whether people can make accounts for themselves.
func (s *Set) signUps() bool { return s.Config.EnableSignups && s.Config.SignIn.Passwords }

// maySignUp reports whether an address, in the form of the store, may sign up.
func (s *Set) maySignUp(address string) bool {
	return s.signUpEmail.MatchString(email.Fold(address))
}

// firstForm shows the form of the first account, if the path has the code for it.
func (s *Set) firstForm(r *action.Request) (action.Reply, error) {
	if err := s.wantFirst(r); err != nil {
		return action.Reply{}, err
	}
	return action.Show(http.StatusOK, "first", accountView{}), nil
}

// firstAccount makes the first account, once, and signs it in.
func (s *Set) firstAccount(r *action.Request) (action.Reply, error) {
	if err := s.wantFirst(r); err != nil {
		return action.Reply{}, err
	}
	f, err := s.readForm(r)
	if err != nil {
		return action.Reply{}, err
	}
	email, password := f.text("email"), f.Text("password")
	_, err = s.Store.AddFirstAccount(r.Context(), r.Actor, email, password)
	if wrong, ok := wrongFields(err); ok {
		return action.Show(http.StatusUnprocessableEntity, "first", accountView{Email: shownAgain(email, record.MaxEmail), Wrong: wrong}), nil
	}
	if errors.Is(err, record.ErrExists) { // another request or server made it after the code was compared
		return action.Reply{}, action.ErrFirst
	}
	if err != nil {
		return action.Reply{}, err
	}
	n, err := s.Store.SignIn(r.Context(), r.Actor, email, password)
	if err != nil { // the account exists, even if it cannot sign in now
		return action.GoTo(signInPath), nil
	}
	rep, err := s.begin(r, n)
	return rep.With(s.goToTell(r, rep.To, noticeFirst).Cookies...), err
}

// wantFirst returns errFirst unless the path has the code of the first account.
func (s *Set) wantFirst(r *action.Request) error {
	code, err := s.Store.FirstCode(r.Context())
	if err != nil {
		return err
	}
	if code.IsZero() || subtle.ConstantTimeCompare([]byte(code.Reveal()), []byte(r.Name.Reveal())) != 1 {
		return action.ErrFirst
	}
	return nil
}
