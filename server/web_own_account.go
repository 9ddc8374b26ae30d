package server

import (
	"errors"
	"net/http"

	"pushbox/server/display"
	"pushbox/store"
)

// ownAccountView is what an account's user sees of it.
type ownAccountView struct {
	Email     string
	Confirmed bool
	Admin     bool
	MFA       bool
	Created   display.Time
	SignedIn  *display.Time // nil: never, on the pages
	Pushes    int           // live ones, and those with files that can still be downloaded
	Size      string        // that these take
	Last      bool          // it is the last administrator's
	Policy    string        // empty: none
	Passkey   passkeyView   // in place of the code
	Error     formError
}

func (s *Server) ownAccountPage(r *request) (reply, error) {
	page, err := s.ownAccount(r)
	return show(http.StatusOK, "account", page), err
}

func (s *Server) ownAccount(r *request) (page ownAccountView, err error) {
	a, err := s.store.AccountByID(r.Context(), r.actor.Account)
	if err != nil {
		return page, err
	}
	rooms, err := s.store.AccountRooms(r.Context(), []store.AccountID{a.ID})
	if err != nil {
		return page, err
	}
	asked, err := s.askSecondPasskey(r)
	if err != nil {
		return page, err
	}
	takes := rooms[a.ID]
	return ownAccountView{
		Email: a.Email, Confirmed: !a.Unconfirmed, Admin: a.Admin, MFA: a.MFA(), Created: display.NewTime(a.CreatedAt),
		SignedIn: display.OptionalTime(a.SignedInAt), Pushes: takes.Pushes, Size: r.size(takes.Bytes), Passkey: asked,
		Policy: s.store.Policy(a.Policy).Name,
	}, nil
}

// removeOwnAccount removes the account, with all that belongs to it.
func (s *Server) removeOwnAccount(r *request, f webForm) (reply, error) {
	err := s.store.RemoveOwnAccount(r.Context(), r.actor, s.sessionSecret(r), f.Text("password"), s.factor(r, f))
	if err == nil {
		return s.goToTell(r, signInPath, noticeAccountGone).with(s.noSessionCookie(r)), nil
	}
	page, failed := s.ownAccount(r)
	if failed != nil {
		return reply{}, failed
	}
	if page.Last = errors.Is(err, store.ErrLastAdmin); page.Last {
		return show(http.StatusConflict, "account", page), nil
	}
	page.Error, err = s.newFormError(err, "own_account_wrong")
	return page.Error.rerender("account", page), err
}
