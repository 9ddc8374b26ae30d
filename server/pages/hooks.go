package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// Webhooks sends messages to the webhooks of accounts.
type Webhooks struct {
	Check func(address secret.Text) error                                             // refuses a webhook that the settings do not allow
	Send  func(ctx context.Context, to store.HookTarget) (status int, f record.Fault) // sends a test
}

// hooksView is the list of an account's webhooks, with the form of a new one.
type hooksView struct {
	Hooks       []hookRow
	Events      []hookEvent
	Forms       []hookForm
	Email       string // for password managers
	MFA         bool   // a new webhook needs a second factor, too
	Passkey     passkeyView
	Unconfirmed bool // the address of the account
	Error       formError
	Wrong       map[string]bool
}

// MaxHooks is how many webhooks an account can have.
func (hooksView) MaxHooks() int { return record.MaxHooks }

// MaxURL is the most bytes of an address.
func (hooksView) MaxURL() int { return store.MaxHookURL }

// A hookEvent is an event to choose.
type hookEvent struct {
	Name string
	On   bool
}

// Key is the key of the message that names the event for people.
func (e hookEvent) Key() string { return "hooks_event_" + strings.ReplaceAll(e.Name, ".", "_") }

// A hookForm is a form of messages to choose.
type hookForm struct {
	record.HookForm
	On bool
}

// A hookRow is a webhook in the list. The rest of its address may be a secret.
type hookRow struct {
	ID       record.HookID
	Host     string
	Form     record.HookForm
	Events   []hookEvent
	Disabled bool
	Tried    []triedRow // the newest first
}

// A triedRow is a try to send a message.
type triedRow struct {
	At        display.Time
	Event     hookEvent
	Status    int
	Fault     string // of a message, hooks_fault_...; empty: there was an answer
	Delivered bool
}

// hookMadeView shows the secret of a webhook, only once.
type hookMadeView struct {
	Host   string
	Secret secret.Text
}

const hookField = "event_"

const errHookForm = action.BadRequest("There is no form of that name for webhooks.")

// hooksPage shows the webhooks of the account.
func (s *Set) hooksPage(r *action.Request) (action.Reply, error) {
	return s.showHooks(r, http.StatusOK, hooksView{}, store.NewHook{Events: record.Events()})
}

// showHooks adds the list to a page, with this form and these events chosen.
func (s *Set) showHooks(r *action.Request, status int, page hooksView, chosen store.NewHook) (action.Reply, error) {
	list, err := s.Store.Hooks(r.Context(), r.Session.Email)
	if err != nil {
		return action.Reply{}, err
	}
	for _, h := range list {
		page.Hooks = append(page.Hooks, newHookRow(h))
	}
	for _, e := range record.Events() {
		page.Events = append(page.Events, hookEvent{e.String(), slices.Contains(chosen.Events, e)})
	}
	for _, f := range record.HookForms() {
		page.Forms = append(page.Forms, hookForm{f, f == chosen.Form})
	}
	page.Email, page.MFA, page.Unconfirmed = r.Session.Email, r.Session.MFA, r.Session.Unconfirmed
	page.Passkey, err = s.askSecondPasskey(r)
	return action.Show(status, "hooks", page), err
}

func newHookRow(h store.HookInfo) hookRow {
	row := hookRow{ID: h.ID, Host: action.HostIn(h.URL), Form: h.Form, Disabled: h.Disabled}
	for _, e := range h.Events.Events() {
		row.Events = append(row.Events, hookEvent{Name: e.String()})
	}
	for _, d := range slices.Backward(h.Tried) {
		row.Tried = append(row.Tried, triedRow{display.NewExactTime(d.At), hookEvent{Name: d.Event.String()}, d.Status, d.Fault.String(), d.Delivered()})
	}
	return row
}

// addHook makes a webhook, and shows its secret once.
func (s *Set) addHook(r *action.Request, f webForm) (action.Reply, error) {
	in := store.NewHook{URL: f.Text("url")}
	for _, e := range record.Events() {
		if f.checked(hookField + e.String()) {
			in.Events = append(in.Events, e)
		}
	}
	var page hooksView
	if form := f.Text("form").Reveal(); form != "" {
		var known bool
		if in.Form, known = record.ParseHookForm(form); !known {
			return action.Reply{}, errHookForm
		}
	}
	if _, err := url.Parse(in.URL.Reveal()); err != nil || s.Webhooks.Check == nil || s.Webhooks.Check(in.URL) != nil {
		page.Wrong = map[string]bool{"url": true, "events": len(in.Events) == 0}
		return s.showHooks(r, http.StatusUnprocessableEntity, page, in)
	}
	h, err := s.Store.AddOwnHook(r.Context(), r.Actor, r.SessionSecret(), f.Text("password"), s.factor(r, f), in)
	if wrong, is := wrongFields(err); is {
		page.Wrong = wrong
		return s.showHooks(r, http.StatusUnprocessableEntity, page, in)
	}
	if errors.Is(err, record.ErrUnconfirmed) { // the page says so
		return s.showHooks(r, http.StatusForbidden, page, in)
	}
	if err == nil {
		return action.Show(http.StatusCreated, "hook_made", hookMadeView{action.HostIn(h.URL), h.Secret}), nil
	}
	if page.Error, err = s.newFormError(unlessLate(err), "hooks_wrong"); err != nil {
		return action.Reply{}, err
	}
	rep, err := s.showHooks(r, http.StatusForbidden, page, in)
	return page.Error.answer(rep), err
}

// testHook sends a webhook a test.
func (s *Set) testHook(r *action.Request, f webForm) (action.Reply, error) {
	if s.Webhooks.Send == nil {
		return action.Reply{}, record.ErrNotFound
	}
	d, err := s.Store.TestHook(r.Context(), r.Actor, record.HookID(f.number("id")), s.Webhooks.Send)
	switch {
	case errors.Is(err, record.ErrNotFound): // the webhook was removed meanwhile
		return action.GoTo(hooksPath), nil
	case errors.Is(err, record.ErrLocked):
		var page hooksView
		if page.Error, err = s.newFormError(err, ""); err != nil {
			return action.Reply{}, err
		}
		rep, err := s.showHooks(r, http.StatusForbidden, page, store.NewHook{Events: record.Events()})
		return page.Error.answer(rep), err
	case d.Delivered():
		return s.goToTell(r, hooksPath, noticeHookTested), err
	default:
		return s.goToTell(r, hooksPath, noticeHookFailed), err
	}
}

// removeHook removes a webhook of the account.
func (s *Set) removeHook(r *action.Request, f webForm) (action.Reply, error) {
	err := s.Store.RemoveHook(r.Context(), r.Actor, record.HookID(f.number("id")))
	if errors.Is(err, record.ErrDenied) { // a webhook of another account looks like an unknown one
		return action.GoTo(hooksPath), nil
	}
	return s.goToTell(r, hooksPath, noticeHookRemoved), unlessGone(err)
}
