package pages

import (
	"net/http"

	"pushbox/server/action"
	"pushbox/store/record"
)

// passwordBounds are the bounds that every page with a new password shows.
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

func (s *Set) passwordForm(r *action.Request) (action.Reply, error) {
	if r.Session.NoPassword {
		return action.Reply{}, record.ErrNotFound
	}
	return action.Show(http.StatusOK, "password", passwordView{Email: r.Session.Email}), nil
}

// movePassword leads a manager of passwords to the page that changes one. Who is not signed in comes
// there by way of the sign-in.
func (s *Set) movePassword(*action.Request) (action.Reply, error) {
	return action.GoTo(passwordPath), nil
}

// changePassword replaces the password of the account, and ends its other sessions, and
// its API tokens if that box is ticked.
func (s *Set) changePassword(r *action.Request, f webForm) (action.Reply, error) {
	if r.Session.NoPassword {
		return action.Reply{}, record.ErrNotFound
	}
	page := passwordView{Email: r.Session.Email, Keep: !f.checked("end_tokens")}
	if page.Differ = f.text("new") != f.text("again"); page.Differ {
		return action.Show(http.StatusUnprocessableEntity, "password", page), nil
	}
	n, err := s.Store.ChangePassword(r.Context(), r.Actor, r.SessionSecret(), f.Text("old"), f.Text("new"), f.checked("end_tokens"))
	if _, page.Short = wrongFields(err); page.Short {
		return action.Show(http.StatusUnprocessableEntity, "password", page), nil
	}
	if err != nil {
		page.Error, err = s.newFormError(err, "password_old_wrong")
		return page.Error.rerender("password", page), err
	}
	return s.goToTell(r, passwordPath, noticePassword).With(r.NewSessionCookie(n), r.NewKnownCookie(n)), nil
}
