package server

import (
	"net/http"

	"pushbox/store/record"
)

// passwordBounds are what every page with a new password says of it.
type passwordBounds struct{}

// MinPassword is the fewest characters of a password.
func (passwordBounds) MinPassword() int { return record.MinPassword }

// MaxPassword is the most bytes of a password.
func (passwordBounds) MaxPassword() int { return record.MaxPassword }

// passwordView is the form of a new password.
type passwordView struct {
	passwordBounds
	Email  string // for password managers
	Short  bool   // the new one is too short or too long
	Differ bool   // the new one was not repeated exactly
	Keep   bool   // the box that ends the API tokens was cleared
	Error  formError
}

func (s *Server) passwordForm(r *request) (reply, error) {
	if r.session.NoPassword {
		return reply{}, record.ErrNotFound
	}
	return show(http.StatusOK, "password", passwordView{Email: r.session.Email}), nil
}

// changePassword replaces the password of the account, and ends its other sessions, and
// its API tokens if that box is ticked.
func (s *Server) changePassword(r *request, f webForm) (reply, error) {
	if r.session.NoPassword {
		return reply{}, record.ErrNotFound
	}
	page := passwordView{Email: r.session.Email, Keep: !f.checked("end_tokens")}
	if page.Differ = f.text("new") != f.text("again"); page.Differ {
		return show(http.StatusUnprocessableEntity, "password", page), nil
	}
	n, err := s.store.ChangePassword(r.Context(), r.actor, s.sessionSecret(r), f.Text("old"), f.Text("new"), f.checked("end_tokens"))
	if _, page.Short = wrongFields(err); page.Short {
		return show(http.StatusUnprocessableEntity, "password", page), nil
	}
	if err != nil {
		page.Error, err = s.newFormError(err, "password_old_wrong")
		return page.Error.rerender("password", page), err
	}
	return s.goToTell(r, passwordPath, noticePassword).with(s.newSessionCookie(r, n), s.newKnownCookie(r, n)), nil
}
