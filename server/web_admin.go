package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pushbox/internal/email"
	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// accountsView is the list of all accounts.
type accountsView struct {
	Rows  []accountRow
	Words string // of the search
	All   bool   // these are all that were found
	Next  string // the path of older accounts; empty: there are none
	First string // the path of the newest accounts; empty: this is it

	Mails         bool   // invitations can be mailed
	Invited       string // an address as it was typed
	Unmailed      bool   // its invitation was not to be mailed
	Wrong, Exists bool   // it is none, or has an account
}

// An accountRow is an account in the list.
type accountRow struct {
	ID         record.AccountID
	Email      string
	Admin, MFA bool
	Own        bool   // it is the administrator's own
	State      string // of a message, account_state_...
	Confirmed  bool
	SignedIn   *display.Time // nil: never
	Pushes     int
	Size       string
	Policy     string // empty: none
}

// An accountQuery is what a list of accounts shows.
type accountQuery struct {
	words  string
	before record.AccountID // only accounts of lower numbers; 0: from the newest
}

// beforeField is the field of a query for what is older than a number.
const beforeField = "before"

// readAccountQuery reads the query of a list of accounts.
func readAccountQuery(query string) (q accountQuery, err error) {
	pairs, err := body.ParseQuery(query)
	if err != nil {
		return q, err
	}
	words, _, err := pairs.Only(searchField)
	if err != nil {
		return q, err
	}
	if q.words = strings.TrimSpace(words.Reveal()); len(q.words) > maxSearch {
		return q, errSearch
	}
	before, err := numberIn(pairs, beforeField)
	q.before = record.AccountID(before)
	return q, err
}

// numberIn returns a number of a query; 0 if there is none.
func numberIn(pairs body.Pairs, name string) (uint64, error) {
	text, has, err := pairs.Only(name)
	if err != nil || !has || text.IsZero() {
		return 0, err
	}
	n, err := strconv.ParseUint(text.Reveal(), 10, 64)
	if err != nil {
		return 0, errNumber
	}
	return n, nil
}

// errNumber refuses a number in a query.
const errNumber = badRequest("A number in the query must be a whole number, without a sign.")

// path returns the path of the list of accounts before a number; 0: of the newest.
func (q accountQuery) path(before record.AccountID) string {
	v := url.Values{}
	if q.words != "" {
		v.Set(searchField, q.words)
	}
	if before != 0 {
		v.Set(beforeField, strconv.FormatUint(uint64(before), 10))
	}
	return pagePath(adminPath, v, 1)
}

// accountsPage lists accounts, newest first, whose addresses contain the words of the query.
func (s *Server) accountsPage(r *request) (reply, error) {
	return s.listAccounts(r, http.StatusOK, accountsView{})
}

func (s *Server) listAccounts(r *request, status int, v accountsView) (reply, error) {
	q, err := readAccountQuery(r.URL.RawQuery)
	if err != nil {
		return reply{}, err
	}
	found, rooms, rest, err := s.findAccounts(r, q)
	if err != nil {
		return reply{}, err
	}
	for _, a := range found {
		v.Rows = append(v.Rows, newAccountRow(r, a, rooms[a.ID]))
	}
	v.Words, v.All = q.words, rest == 0 && q.before == 0
	if rest != 0 {
		v.Next = q.path(rest)
	}
	if q.before != 0 {
		v.First = q.path(0)
	}
	v.Mails = s.cfg.Mail.Enabled()
	return show(status, "admin_accounts", v), nil
}

// findAccounts returns a part of the list of accounts, with what their live pushes take, and
// the number before which there may be more; 0 if there are no more.
func (s *Server) findAccounts(r *request, q accountQuery) (found []record.Account, rooms map[record.AccountID]record.Room, rest record.AccountID, err error) {
	found, rest, err = s.store.FindAccounts(r.Context(), q.words, q.before)
	if err != nil {
		return nil, nil, 0, err
	}
	ids := make([]record.AccountID, len(found))
	for i, a := range found {
		ids[i] = a.ID
	}
	rooms, err = s.store.AccountRooms(r.Context(), ids)
	return found, rooms, rest, err
}

func newAccountRow(r *request, a record.Account, takes record.Room) accountRow {
	state := "active"
	switch {
	case a.Removing:
		state = "removing"
	case a.Disabled:
		state = "disabled"
	case a.Invited() && !a.SignedInAt.IsZero(): // an administrator removed its links to providers
		state = "no_password"
	case a.Invited():
		state = "invited"
	}
	return accountRow{
		ID: a.ID, Email: email.Shown(a.Email), Admin: a.Admin, MFA: a.MFA(), Own: a.ID == r.actor.Account, State: state, Confirmed: !a.Unconfirmed,
		SignedIn: display.OptionalTime(a.SignedInAt), Pushes: takes.Pushes, Size: r.size(takes.Bytes),
		Policy: a.Policy,
	}
}

// A badge is a word beside a name: the key of its message, and its class.
type badge struct{ Key, Class string }

// Badges are what is to know of an account at first sight.
func (r accountRow) Badges() (all []badge) {
	if r.Own {
		all = append(all, badge{"account_own", "live"})
	}
	if r.Admin {
		all = append(all, badge{"account_admin", "kind"})
	}
	if r.State != "active" {
		all = append(all, badge{"account_state_" + r.State, "gone"})
	}
	if !r.Confirmed {
		all = append(all, badge{"account_unconfirmed", "warn"})
	}
	return all
}

// managedView is an account with what an administrator can do to it.
type managedView struct {
	accountRow
	Created display.Time
	Tokens  int
	SignsIn []string // the providers at which its user signs in
	Acts    []accountAct
	Lost    bool     // the settings do not have its policy
	Choices []string // policies that it can have
	Wrong   bool     // the address was not typed as it is
	Last    bool     // it is the last administrator's
}

// An accountAct is what an administrator can do to an account. Its messages are
// account_do_NAME, account_do_NAME_hint, and notice_account_NAME when it is done.
type accountAct struct {
	Name   string
	Danger bool // what it ends does not come back
	Typed  bool // the address must be typed again
	mails  bool // it sends mail
	others bool // for accounts of others alone: the store has it so
	fits   func(record.Account) bool
	do     func(s *store.Store, ctx context.Context, by store.Actor, email string) error // nil: it makes a link that sets a password, and shows or mails it
}

// accountActs are in the order of the page.
var accountActs = []accountAct{
	{
		Name: "enable", fits: func(a record.Account) bool { return a.Disabled },
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetDisabled(ctx, by, email, false)
		},
	},
	{
		Name: "confirm", fits: func(a record.Account) bool { return a.Unconfirmed },
		do: (*store.Store).ConfirmAccount,
	},
	{Name: "password", others: true, fits: record.Account.Active},
	{Name: "mail", mails: true, fits: record.Account.Active},
	{
		Name: "grant", fits: func(a record.Account) bool { return !a.Admin },
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetAdmin(ctx, by, email, true, false)
		},
	},
	{
		Name: "revoke", fits: func(a record.Account) bool { return a.Admin },
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetAdmin(ctx, by, email, false, false)
		},
	},
	{
		Name: "sign_out", fits: record.Account.Active,
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.EndAccess(ctx, by, email, false)
		},
	},
	{
		Name: "tokens", Danger: true, fits: record.Account.Active,
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.EndAccess(ctx, by, email, true)
		},
	},
	{
		Name: "mfa", Danger: true, others: true, fits: record.Account.MFA,
		do: (*store.Store).ResetFactors,
	},
	{
		Name: "unlink", Danger: true, fits: func(a record.Account) bool { return a.Identities != "" },
		do: (*store.Store).Unlink,
	},
	{
		Name: "disable", Danger: true, fits: record.Account.Active,
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetDisabled(ctx, by, email, true)
		},
	},
	{
		Name: "expire", Danger: true, fits: func(record.Account) bool { return true },
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			_, err := s.ExpirePushes(ctx, by, email)
			return err
		},
	},
	{
		Name: "remove", Danger: true, Typed: true, fits: func(record.Account) bool { return true },
		do: (*store.Store).RemoveAccount,
	},
}

// accountPage shows an account.
func (s *Server) accountPage(r *request) (reply, error) {
	return s.showAccount(r, http.StatusOK, managedView{})
}

func (s *Server) showAccount(r *request, status int, v managedView) (reply, error) {
	a, err := s.accountInPath(r)
	if err != nil {
		return reply{}, err
	}
	rooms, err := s.store.AccountRooms(r.Context(), []record.AccountID{a.ID})
	if err != nil {
		return reply{}, err
	}
	tokens, err := s.store.Tokens(r.Context(), a.Email)
	if err != nil {
		return reply{}, err
	}
	v.accountRow, v.Created, v.Tokens = newAccountRow(r, a, rooms[a.ID]), display.NewTime(a.CreatedAt), len(tokens)
	for _, i := range a.Identities.List() {
		v.SignsIn = append(v.SignsIn, cmp.Or(s.titleOfIssuer(i.Issuer), i.Issuer))
	}
	for _, p := range s.store.Policies() {
		v.Choices = append(v.Choices, p.Name)
	}
	v.Lost = a.Policy != "" && !slices.Contains(v.Choices, a.Policy)
	for _, act := range accountActs {
		if !a.Removing && act.fits(a) && (s.cfg.Mail.Enabled() || !act.mails) && (!act.others || a.ID != r.actor.Account) {
			v.Acts = append(v.Acts, act)
		}
	}
	return show(status, "admin_account", v), nil
}

// accountInPath returns the account whose number the path has, or record.ErrNotFound.
func (s *Server) accountInPath(r *request) (record.Account, error) {
	id, err := strconv.ParseUint(r.name.Reveal(), 10, 64)
	if err != nil {
		return record.Account{}, record.ErrNotFound
	}
	return s.store.AccountByID(r.Context(), record.AccountID(id))
}

// changeAccount does what the form names to the account in the path.
func (s *Server) changeAccount(r *request, f webForm) (reply, error) {
	a, err := s.accountInPath(r)
	if err != nil {
		return reply{}, err
	}
	if f.text("do") == policyParam {
		err := s.setPolicy(r, a.Email, f.text(policyParam))
		return s.goToTell(r, accountsPath+r.name.Reveal(), noticePolicy), err
	}
	i := slices.IndexFunc(accountActs, func(act accountAct) bool { return act.Name == f.text("do") })
	if i < 0 {
		return reply{}, errAct
	}
	act := accountActs[i]
	if typed := strings.TrimSpace(f.text("email")); act.Typed && !strings.EqualFold(typed, a.Email) && typed != email.Shown(a.Email) {
		return s.showAccount(r, http.StatusUnprocessableEntity, managedView{Wrong: true})
	}
	l, err := s.act(r, act, a)
	if act.do == nil && !act.mails {
		return s.showPasswordLink(r, http.StatusOK, l, false), err
	}
	if errors.Is(err, record.ErrLastAdmin) {
		return s.showAccount(r, http.StatusConflict, managedView{Last: true})
	}
	path := accountsPath + r.name.Reveal()
	if act.Typed { // the account no longer has a page
		path = adminPath
	}
	return s.goToTell(r, path, act.notice()), err
}

func (a accountAct) notice() notice { return notice("account_" + a.Name) }

// act does an act to an account, and nothing where it would make no difference. l is set by an
// act that shows a link.
func (s *Server) act(r *request, act accountAct, a record.Account) (l store.PasswordLink, err error) {
	switch fits := act.fits(a); {
	case act.do != nil && fits:
		err = act.do(s.store, r.Context(), r.actor, a.Email)
	case act.mails && fits:
		err = s.mailPasswordLink(r, a.Email)
	case act.do == nil && fits:
		l, err = s.store.MakePasswordLink(r.Context(), r.actor, a.Email)
	case act.do == nil:
		err = errNoLink
	}
	return l, err
}

// errNoLink refuses a link for an account whose password it could not set.
var errNoLink = errors.New("the account is disabled")

// errAct refuses the name of an act that there is not.
const errAct = badRequest("There is nothing of that name to do with an account.")
