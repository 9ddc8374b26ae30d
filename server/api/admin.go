package api

import (
	"errors"
	"slices"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/server/intake"
	"pushbox/server/manage"
	"pushbox/store"
	"pushbox/store/record"
)

// accountJSON is an account as administrators see it.
type accountJSON struct {
	ID           record.AccountID `json:"id"`
	Email        string           `json:"email"`
	Name         string           `json:"name"`     // that recipients see
	Language     string           `json:"language"` // empty: that of the browser
	Mails        []string         `json:"mails"`    // events of its pushes that are mailed to it
	CreatedAt    string           `json:"created_at"`
	LastSignInAt *string          `json:"last_sign_in_at"`
	Confirmed    bool             `json:"confirmed"`
	SecondFactor bool             `json:"second_factor"`
	Admin        bool             `json:"admin"`
	Invited      bool             `json:"invited"`
	Policy       string           `json:"policy"`
	Disabled     bool             `json:"disabled"`
	Removing     bool             `json:"removing"`
	Room         record.Room      `json:"room"`
}

// accountsJSON is a part of the list of accounts.
type accountsJSON struct {
	Accounts []accountJSON     `json:"accounts"`
	Next     *record.AccountID `json:"next"`
}

// changedAccountJSON is an account after an act.
type changedAccountJSON struct {
	accountJSON
	PasswordURL   *string `json:"password_url"`
	PasswordUntil *string `json:"password_url_expires_at"`
}

func newAccountJSON(a record.Account, takes record.Room) accountJSON {
	j := accountJSON{
		ID: a.ID, Email: a.Email, Name: a.Name, Language: a.Language, Mails: []string{}, CreatedAt: display.Stamp(a.CreatedAt), Confirmed: !a.Unconfirmed, SecondFactor: a.MFA(), Admin: a.Admin,
		Invited: a.Invited(), Policy: a.Policy, Disabled: a.Disabled, Removing: a.Removing, Room: takes,
		LastSignInAt: display.OptionalStamp(a.SignedInAt),
	}
	for _, e := range a.Mails.Events() {
		j.Mails = append(j.Mails, e.String())
	}
	return j
}

// newChangedJSON renders an account after an act, with the link that the act made, if any.
func newChangedJSON(a accountJSON, l store.PasswordLink, base string) changedAccountJSON {
	j := changedAccountJSON{accountJSON: a}
	if !l.Code.IsZero() {
		j.PasswordURL, j.PasswordUntil = new(display.PasswordLink(base, l.Code.Reveal())), new(display.Stamp(l.Until))
	}
	return j
}

// accountsAPI lists accounts.
func (s *Service) accountsAPI(r *action.Request) (action.Reply, error) {
	q, err := manage.ReadAccountQuery(r.URL.RawQuery)
	if err != nil {
		return action.Reply{}, err
	}
	found, rooms, rest, err := s.Manage.FindAccounts(r, q)
	if err != nil {
		return action.Reply{}, err
	}
	list := accountsJSON{Accounts: make([]accountJSON, len(found))}
	for i, a := range found {
		list.Accounts[i] = newAccountJSON(a, rooms[a.ID])
	}
	if rest != 0 {
		list.Next = &rest
	}
	return action.OK(list), nil
}

// accountAPI shows an account.
func (s *Service) accountAPI(r *action.Request) (action.Reply, error) {
	a, err := s.Manage.AccountInPath(r)
	if err != nil {
		return action.Reply{}, err
	}
	j, err := s.accountNow(r, a)
	return action.OK(j), err
}

// accountNow renders an account with the room of its live pushes.
func (s *Service) accountNow(r *action.Request, a record.Account) (accountJSON, error) {
	rooms, err := s.Store.AccountRooms(r.Context(), []record.AccountID{a.ID})
	return newAccountJSON(a, rooms[a.ID]), err
}

// Fields of an invitation.
const (
	accountWrapper = "account"
	emailField     = "email"
	adminField     = "admin"
)

const errNoAccount = action.BadRequest("Send an object account with at least an email, such as {\"account\":{\"email\":\"ann@example.com\"}}, or account[email]=... in a form.")

// inviteAPI makes an account without a password, and mails or returns the link that sets one.
func (s *Service) inviteAPI(r *action.Request) (action.Reply, error) {
	f := make(body.Form)
	err := body.Read(r.Context(), &r.Body, body.Options{Object: accountWrapper, Flat: true, JSON: true, Query: true, MaxText: action.SmallBody}, f)
	if errors.Is(err, body.ErrNoObject) || err == nil && len(f) == 0 {
		err = errNoAccount
	}
	if err != nil {
		return action.Reply{}, err
	}
	in := intake.FieldReader{Fields: intake.Fields(f)}
	email, admin, mail := in.Secret(emailField).Reveal(), in.Flag(adminField), in.Flag(store.FieldMail)
	if mail != nil && *mail && !s.Config.Mail.Enabled() {
		in.Bad.Add(store.FieldMail, "cannot be sent: this server sends no mail")
	}
	if err := in.Bad.Err(); err != nil {
		return action.Reply{}, err
	}
	l, mailed, err := s.Manage.Invite(r, email, admin != nil && *admin, mail != nil && *mail)
	if errors.Is(err, record.ErrExists) {
		in.Bad.Add(emailField, "has an account already")
		err = in.Bad.Err()
	}
	if err != nil {
		return action.Reply{}, err
	}
	a, err := s.Store.AccountByID(r.Context(), l.Of)
	if mailed {
		l.Code = secret.Text{}
	}
	return action.Created(newChangedJSON(newAccountJSON(a, record.Room{}), l, r.Home())), err
}

// actAPI runs the act on an account that the path names, except the removal: see removeAPI.
func (s *Service) actAPI(r *action.Request) (action.Reply, error) {
	i := slices.IndexFunc(manage.AccountActs, func(act manage.AccountAct) bool { return act.Name == r.Act && !act.Typed })
	if i < 0 {
		return action.Reply{}, record.ErrNotFound
	}
	a, err := s.Manage.AccountInPath(r)
	if err != nil {
		return action.Reply{}, err
	}
	l, err := s.Manage.Do(r, manage.AccountActs[i], a)
	if err != nil {
		return action.Reply{}, err
	}
	if a, err = s.Store.AccountByID(r.Context(), a.ID); err != nil {
		return action.Reply{}, err
	}
	j, err := s.accountNow(r, a)
	return action.OK(newChangedJSON(j, l, r.Home())), err
}

// policyAPI gives an account the policy that the path names, or none.
func (s *Service) policyAPI(r *action.Request) (action.Reply, error) {
	a, err := s.Manage.AccountInPath(r)
	if err != nil {
		return action.Reply{}, err
	}
	a.Policy = r.Act
	if r.Act == noPolicy {
		a.Policy = ""
	}
	if err := s.Manage.SetPolicy(r, a.Email, a.Policy); err != nil {
		return action.Reply{}, err
	}
	j, err := s.accountNow(r, a)
	return action.OK(j), err
}

// noPolicy is the word in paths for an account without a policy.
const noPolicy = "none"

// removeAPI removes an account with all that it owns, and answers with its last state.
func (s *Service) removeAPI(r *action.Request) (action.Reply, error) {
	a, err := s.Manage.AccountInPath(r)
	if err != nil {
		return action.Reply{}, err
	}
	j, err := s.accountNow(r, a)
	if err != nil {
		return action.Reply{}, err
	}
	i := slices.IndexFunc(manage.AccountActs, func(act manage.AccountAct) bool { return act.Typed })
	_, err = s.Manage.Do(r, manage.AccountActs[i], a)
	return action.OK(j), err
}

// logJSON is a page of the instance log.
type logJSON struct {
	Events []store.AdminLine `json:"events"`
	Next   *uint64           `json:"next"`
}

// logAPI lists events of the instance log, newest first.
func (s *Service) logAPI(r *action.Request) (action.Reply, error) {
	q, err := manage.ReadLogQuery(r.URL.RawQuery)
	if err != nil {
		return action.Reply{}, err
	}
	found, rest, err := s.Manage.FindEvents(r, q)
	if err != nil {
		return action.Reply{}, err
	}
	page := logJSON{Events: make([]store.AdminLine, len(found))}
	for i, e := range found {
		page.Events[i] = e.Line()
	}
	if rest != 0 {
		page.Next = &rest
	}
	return action.OK(page), nil
}

// findingJSON is a finding. Its keys are those of `pushbox doctor --json`.
type findingJSON struct {
	Check string `json:"check"`
	Grade string `json:"grade"`
	Text  string `json:"text"`
	Cure  string `json:"cure,omitempty"`
}

// findingsJSON has the findings about the installation.
type findingsJSON struct {
	Problems int           `json:"problems"`
	Warnings int           `json:"warnings"`
	Findings []findingJSON `json:"findings"`
}

// findingsAPI answers with the findings about the installation.
func (s *Service) findingsAPI(r *action.Request) (action.Reply, error) {
	all, err := s.Manage.FindingsNow(r)
	return action.OK(newFindingsJSON(all)), err
}

func newFindingsJSON(all []manage.Finding) findingsJSON {
	j := findingsJSON{Problems: manage.CountGrade(all, "problem"), Warnings: manage.CountGrade(all, "warning"), Findings: make([]findingJSON, len(all))}
	for i, f := range all {
		j.Findings[i] = findingJSON(f)
	}
	return j
}

// settingJSON is a setting in force.
type settingJSON struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Reload bool   `json:"reload"`
}

// settingsJSON has the settings in force.
type settingsJSON struct {
	Settings []settingJSON `json:"settings"`
}

// settingsAPI answers with the settings in force.
func (s *Service) settingsAPI(*action.Request) (action.Reply, error) {
	all, err := s.Manage.SettingsNow()
	return action.OK(newSettingsJSON(all)), err
}

func newSettingsJSON(all []config.Value) settingsJSON {
	j := settingsJSON{Settings: make([]settingJSON, len(all))}
	for i, v := range all {
		j.Settings[i] = settingJSON{v.Key, v.Value, v.Origin, v.Reload}
	}
	return j
}
