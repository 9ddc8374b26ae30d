package pages

import (
	"errors"
	"net/http"

	"pushbox/internal/lang"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// noLanguageCookie removes the cookie with the language.
func (s *Set) noLanguageCookie(r *action.Request) *http.Cookie {
	c := r.NewCookie(action.LanguageName, "")
	c.MaxAge = -1
	return c
}

// ownAccountView is an account as its user sees it.
type ownAccountView struct {
	Email     string
	Confirmed bool
	Admin     bool
	MFA       bool
	Created   display.Time
	SignedIn  *display.Time // nil: never, on the pages
	Pushes    int           // live ones, and those with files that can still be downloaded
	Size      string        // their size
	Last      bool          // it is the last administrator
	Policy    string        // empty: none
	Name      string        // as it is, or as it was typed
	Language  string        // its tag; empty: the browser's language
	Languages []lang.Language
	Mails     []mailChoice
	CanMail   bool            // the server can send mail to the address
	Wrong     map[string]bool // fields whose value was refused
	Passkey   passkeyView     // in place of the code
	Error     formError
}

// MaxName is the most characters of the name that recipients see.
func (ownAccountView) MaxName() int { return store.MaxAccountName }

func (s *Set) ownAccountPage(r *action.Request) (action.Reply, error) {
	page, err := s.ownAccount(r)
	return action.Show(http.StatusOK, "account", page), err
}

func (s *Set) ownAccount(r *action.Request) (page ownAccountView, err error) {
	a, err := s.Store.AccountByID(r.Context(), r.Actor.Account)
	if err != nil {
		return page, err
	}
	rooms, err := s.Store.AccountRooms(r.Context(), []record.AccountID{a.ID})
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
		SignedIn: display.OptionalTime(a.SignedInAt), Pushes: takes.Pushes, Size: sizeText(r, takes.Bytes), Passkey: asked,
		Policy: s.Store.Policy(a.Policy).Name,
		Name:   a.Name, Language: a.Language, Languages: lang.Languages(), Mails: mailChoices(a.Mails), CanMail: s.Store.CanMail(a),
	}, nil
}

// A mailChoice is a checkbox for the mail about an event.
type mailChoice struct {
	Event string // also of a message, own_account_mail_...
	On    bool
}

// Field is the name of the checkbox in the form.
func (m mailChoice) Field() string { return mailField + m.Event }

const mailField = "mail_"

func mailChoices(on record.EventSet) (all []mailChoice) {
	for _, e := range store.MailedEvents() {
		all = append(all, mailChoice{e.String(), on.Has(e)})
	}
	return all
}

// mailsIn returns the events whose mail the form asks for.
func mailsIn(f webForm) (on record.EventSet) {
	for _, e := range store.MailedEvents() {
		if f.checked(mailField + e.String()) {
			on |= record.NewEventSet(e)
		}
	}
	return on
}

// saveOwnAccount saves the wishes of the user. A new language replaces one that this browser was
// switched to before.
func (s *Set) saveOwnAccount(r *action.Request, f webForm) (action.Reply, error) {
	wishes := store.Wishes{Name: f.text("name"), Language: f.text("language"), Mails: mailsIn(f)}
	wrong := map[string]bool{store.FieldLanguage: wishes.Language != "" && !s.Words.Speaks(wishes.Language)}
	var err error
	if !wrong[store.FieldLanguage] {
		err = s.Store.SetWishes(r.Context(), r.Actor, r.SessionSecret(), wishes)
	}
	if err == nil && !wrong[store.FieldLanguage] {
		saved := s.goToTell(r, ownAccountPath, noticeEdited)
		if wishes.Language != r.Session.Language {
			saved = saved.With(s.noLanguageCookie(r))
		}
		return saved, nil
	}
	page, failed := s.ownAccount(r)
	if failed != nil {
		return action.Reply{}, failed
	}
	page.Name, page.Language, page.Mails = shownAgain(wishes.Name, action.SmallBody), wishes.Language, mailChoices(wishes.Mails)
	if bad, is := wrongFields(err); is {
		wrong, err = bad, nil
	}
	if page.Wrong = wrong; err == nil {
		return action.Show(http.StatusUnprocessableEntity, "account", page), nil
	}
	page.Error, err = s.newFormError(err, "")
	return page.Error.rerender("account", page), err
}

// removeOwnAccount removes the account, with all that belongs to it.
func (s *Set) removeOwnAccount(r *action.Request, f webForm) (action.Reply, error) {
	err := s.Store.RemoveOwnAccount(r.Context(), r.Actor, r.SessionSecret(), f.Text("password"), s.factor(r, f))
	if err == nil {
		return s.goToTell(r, signInPath, noticeAccountGone).With(r.NoSessionCookie()), nil
	}
	page, failed := s.ownAccount(r)
	if failed != nil {
		return action.Reply{}, failed
	}
	if page.Last = errors.Is(err, record.ErrLastAdmin); page.Last {
		return action.Show(http.StatusConflict, "account", page), nil
	}
	page.Error, err = s.newFormError(err, "own_account_wrong")
	return page.Error.rerender("account", page), err
}
