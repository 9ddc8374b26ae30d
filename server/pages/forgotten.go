package pages

import (
	"errors"
	"net/http"

	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// forgottenView is the form that asks for a link that sets a password.
type forgottenView struct {
	Email   string // as it was typed
	Sent    bool   // the page says that a link was sent if the address has an account
	Minutes int    // the validity of the link
	Error   formError
}

// forgottenForm shows the form, if the server sends mail.
func (s *Set) forgottenForm(*action.Request) (action.Reply, error) {
	if !s.mailsPasswords() {
		return action.Reply{}, record.ErrNotFound
	}
	return action.Show(http.StatusOK, "forgotten", forgottenView{}), nil
}

// mailsPasswords reports whether people can ask for links that set a password.
func (s *Set) mailsPasswords() bool { return s.Config.Mail.Enabled() && s.Config.SignIn.Passwords }

// forgotten mails a link. The answer is the same whether the address has an account or not.
func (s *Set) forgotten(r *action.Request, f webForm) (action.Reply, error) {
	if !s.mailsPasswords() {
		return action.Reply{}, record.ErrNotFound
	}
	email := f.text("email")
	page := forgottenView{Email: shownAgain(email, record.MaxEmail), Minutes: int(store.ResetLasts.Minutes())}
	err := s.Store.AskForPassword(r.Context(), r.Actor, email, s.Config.BaseURL, r.Locale.Tag)
	var quota *record.QuotaError
	if err != nil && !errors.As(err, &quota) { // a quota error would reveal that there is an account
		page.Error, err = s.newFormError(err, "")
		return page.Error.rerender("forgotten", page), err
	}
	page.Sent = true
	return action.Show(http.StatusOK, "forgotten", page), nil
}

// newPasswordView is the form that sets a password by a link.
type newPasswordView struct {
	passwordBounds
	Email  string
	First  bool // the account was invited
	Anew   bool // a new account takes the place of this one, whose address is not confirmed
	Short  bool // the password is too short or too long
	Differ bool // it was not repeated exactly
	Keep   bool // the box that ends the API tokens was cleared
}

// newPasswordForm shows the form, if the code in the path is valid.
func (s *Set) newPasswordForm(r *action.Request) (action.Reply, error) {
	l, err := s.Store.ReadPasswordLink(r.Context(), r.Name)
	if err != nil {
		return action.Reply{}, goneLink(err)
	}
	return action.Show(http.StatusOK, "new_password", newPasswordView{Email: l.Email, First: l.First, Anew: l.Anew}), nil
}

// setPassword sets the password. Afterwards the user must sign in, with a second factor if the
// account has one.
func (s *Set) setPassword(r *action.Request, f webForm) (action.Reply, error) {
	l, err := s.Store.ReadPasswordLink(r.Context(), r.Name)
	if err != nil {
		return action.Reply{}, goneLink(err)
	}
	page := newPasswordView{Email: l.Email, First: l.First, Anew: l.Anew, Keep: !f.checked("end_tokens")}
	if page.Differ = f.text("new") != f.text("again"); page.Differ {
		return action.Show(http.StatusUnprocessableEntity, "new_password", page), nil
	}
	err = s.Store.SetPasswordByLink(r.Context(), r.Actor, r.Name, f.Text("new"), f.checked("end_tokens"))
	if _, page.Short = wrongFields(err); page.Short {
		return action.Show(http.StatusUnprocessableEntity, "new_password", page), nil
	}
	return s.goToTell(r, signInPath, noticeNewPassword), goneLink(err)
}

// goneLink returns errLink for a link that is not valid or has expired.
func goneLink(err error) error {
	if errors.Is(err, record.ErrCode) {
		return action.ErrLink
	}
	return err
}

// linkMadeView shows a link that sets a password, only once.
type linkMadeView struct {
	store.PasswordLink
	Link   string
	Ends   display.Time
	Unsent bool // the link should have been mailed, but was not
}

// showPasswordLink shows a link to the administrator who made it.
func (s *Set) showPasswordLink(r *action.Request, status int, l store.PasswordLink, unsent bool) action.Reply {
	return action.Show(status, "admin_link", linkMadeView{l, display.PasswordLink(r.Home(), l.Code.Reveal()), display.NewTime(l.Until), unsent})
}

// inviteView is the form of an invitation.
type inviteView struct {
	Mails         bool   // invitations can be mailed
	Invited       string // the address as it was typed
	Admin         bool   // as an administrator
	Unmailed      bool   // the invitation was not to be mailed
	Wrong, Exists bool   // the address is not valid, or has an account
}

// inviteForm shows the form of an invitation.
func (s *Set) inviteForm(*action.Request) (action.Reply, error) {
	return action.Show(http.StatusOK, "admin_invite", inviteView{Mails: s.Config.Mail.Enabled()}), nil
}

// inviteAccount makes an account without a password, and mails or shows the link that sets one.
func (s *Set) inviteAccount(r *action.Request, f webForm) (action.Reply, error) {
	email := f.text("email")
	mail := s.Config.Mail.Enabled() && f.checked(store.FieldMail)
	l, mailed, err := s.Manage.Invite(r, email, f.checked("admin"), mail)
	_, wrong := wrongFields(err)
	if wrong || errors.Is(err, record.ErrExists) {
		return action.Show(http.StatusUnprocessableEntity, "admin_invite", inviteView{
			Mails: s.Config.Mail.Enabled(), Invited: shownAgain(email, record.MaxEmail), Admin: f.checked("admin"), Unmailed: !mail, Wrong: wrong, Exists: !wrong,
		}), nil
	}
	if err != nil {
		return action.Reply{}, err
	}
	if mailed {
		return s.goToTell(r, accountsPath, noticeLinkMailed), nil
	}
	return s.showPasswordLink(r, http.StatusCreated, l, mail), nil
}
