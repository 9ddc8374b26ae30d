package server

import (
	"net/http"

	"pushbox/store"
)

// passwordPage is the form of a new password.
type passwordPage struct {
	Email   string // for password managers
	Done    bool
	Short   bool // the new one cannot be a password
	Differ  bool // the new one was typed in two ways
	Refused refusal
}

// MinPassword is the fewest characters of a password.
func (passwordPage) MinPassword() int { return store.MinPassword }

// MaxPassword is the most bytes of one.
func (passwordPage) MaxPassword() int { return store.MaxPassword }

func (s *Server) passwordForm(r *request) (reply, error) {
	return show(http.StatusOK, "password", passwordPage{Email: r.session.Email, Done: r.URL.Query().Has(markDone)}), nil
}

// changePassword replaces the password of whoever is signed in, and so ends their
// other sessions.
func (s *Server) changePassword(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	page := passwordPage{Email: r.session.Email}
	if page.Differ = f["new"] != f["again"]; page.Differ {
		return show(http.StatusUnprocessableEntity, "password", page), nil
	}
	n, err := s.store.ChangePassword(r.Context(), r.actor, s.sessionSecret(r), f.secret("old"), f.secret("new"))
	if _, page.Short = wrongFields(err); page.Short {
		return show(http.StatusUnprocessableEntity, "password", page), nil
	}
	if err != nil {
		page.Refused, err = s.refused(err, "password_old_wrong")
		return page.Refused.again("password", page), err
	}
	return goTo(passwordPath + "?" + markDone + "=1").with(s.newSessionCookie(r, n)), nil
}
