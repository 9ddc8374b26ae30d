package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pushbox/internal/humanize"
	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/store"
)

// Paths of the pages for administrators.
const (
	accountsPath = adminPath + "/accounts/"
	logPath      = adminPath + "/log"
)

// accountsView is the list of all accounts.
type accountsView struct {
	Rows  []accountRow
	Words string // of the search
	All   int    // accounts there are
	Hits  int    // accounts that were found
	Pages pager

	Invited       string // an address as it was typed
	Wrong, Exists bool   // it is none, or has an account
}

// An accountRow is an account in the list.
type accountRow struct {
	ID         store.AccountID
	Email      string
	Admin, MFA bool
	Own        bool   // it is the administrator's own
	State      string // of a message, account_state_...
	Confirmed  bool
	SignedIn   *display.Time // nil: never
	Pushes     int
	Size       string
}

// accountsPage lists accounts, newest first, whose addresses contain the words of the query.
func (s *Server) accountsPage(r *request) (reply, error) {
	return s.listAccounts(r, http.StatusOK, accountsView{})
}

func (s *Server) listAccounts(r *request, status int, v accountsView) (reply, error) {
	pairs, err := body.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return reply{}, err
	}
	words, _, err := pairs.Only(searchField)
	if err != nil {
		return reply{}, err
	}
	page, err := pageIn(pairs)
	if err != nil {
		return reply{}, err
	}
	if v.Words = strings.TrimSpace(words.Reveal()); len(v.Words) > maxSearch {
		return reply{}, errSearch
	}
	all, err := s.store.Accounts(r.Context())
	if err != nil {
		return reply{}, err
	}
	rooms, err := s.store.AccountRooms(r.Context())
	if err != nil {
		return reply{}, err
	}
	slices.Reverse(all)
	v.All = len(all)
	found := slices.DeleteFunc(all, func(a store.Account) bool { return !strings.Contains(a.Email, strings.ToLower(v.Words)) })
	v.Hits = len(found)
	from := min((page-1)*store.PageSize, len(found))
	to := min(from+store.PageSize, len(found))
	for _, a := range found[from:to] {
		v.Rows = append(v.Rows, newAccountRow(a, rooms[a.ID], r.actor.Account))
	}
	v.Pages = newPager(page, to < len(found), func(page int) string {
		q := url.Values{}
		if v.Words != "" {
			q.Set(searchField, v.Words)
		}
		return pagePath(adminPath, q, page)
	})
	return show(status, "admin_accounts", v), nil
}

func newAccountRow(a store.Account, takes store.Room, own store.AccountID) accountRow {
	state := "active"
	switch {
	case a.Removing:
		state = "removing"
	case a.Disabled:
		state = "disabled"
	case a.Invited():
		state = "invited"
	}
	return accountRow{
		ID: a.ID, Email: a.Email, Admin: a.Admin, MFA: a.MFA(), Own: a.ID == own, State: state, Confirmed: !a.Unconfirmed,
		SignedIn: display.OptionalTime(a.SignedInAt), Pushes: takes.Pushes, Size: humanize.Size(takes.Bytes),
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
	Acts    []accountAct
	Wrong   bool // the address was not typed as it is
	Last    bool // it is the last administrator's
}

// An accountAct is what an administrator can do to an account. Its messages are
// account_do_NAME, account_do_NAME_hint, and notice_account_NAME when it is done.
type accountAct struct {
	Name   string
	Danger bool // what it ends does not come back
	Typed  bool // the address must be typed again
	fits   func(store.Account) bool
	do     func(s *store.Store, ctx context.Context, by store.Actor, email string) error // nil: it shows a link that sets a password
}

// accountActs are in the order of the page.
var accountActs = []accountAct{
	{
		Name: "enable", fits: func(a store.Account) bool { return a.Disabled },
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetDisabled(ctx, by, email, false)
		},
	},
	{
		Name: "confirm", fits: func(a store.Account) bool { return a.Unconfirmed },
		do: (*store.Store).ConfirmAccount,
	},
	{Name: "password", fits: store.Account.Active},
	{
		Name: "grant", fits: func(a store.Account) bool { return !a.Admin },
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetAdmin(ctx, by, email, true, false)
		},
	},
	{
		Name: "revoke", fits: func(a store.Account) bool { return a.Admin },
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetAdmin(ctx, by, email, false, false)
		},
	},
	{
		Name: "sign_out", fits: store.Account.Active,
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.EndAccess(ctx, by, email, false)
		},
	},
	{
		Name: "tokens", Danger: true, fits: store.Account.Active,
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.EndAccess(ctx, by, email, true)
		},
	},
	{
		Name: "mfa", Danger: true, fits: store.Account.MFA,
		do: (*store.Store).ResetFactors,
	},
	{
		Name: "disable", Danger: true, fits: store.Account.Active,
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetDisabled(ctx, by, email, true)
		},
	},
	{
		Name: "expire", Danger: true, fits: func(store.Account) bool { return true },
		do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			_, err := s.ExpirePushes(ctx, by, email)
			return err
		},
	},
	{
		Name: "remove", Danger: true, Typed: true, fits: func(store.Account) bool { return true },
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
	rooms, err := s.store.AccountRooms(r.Context())
	if err != nil {
		return reply{}, err
	}
	tokens, err := s.store.Tokens(r.Context(), a.Email)
	if err != nil {
		return reply{}, err
	}
	v.accountRow, v.Created, v.Tokens = newAccountRow(a, rooms[a.ID], r.actor.Account), display.NewTime(a.CreatedAt), len(tokens)
	for _, act := range accountActs {
		if !a.Removing && act.fits(a) {
			v.Acts = append(v.Acts, act)
		}
	}
	return show(status, "admin_account", v), nil
}

// accountInPath returns the account whose number the path has, or store.ErrNotFound.
func (s *Server) accountInPath(r *request) (store.Account, error) {
	id, err := strconv.ParseUint(r.name.Reveal(), 10, 64)
	if err != nil {
		return store.Account{}, store.ErrNotFound
	}
	return s.store.AccountByID(r.Context(), store.AccountID(id))
}

// changeAccount does what the form names to the account in the path.
func (s *Server) changeAccount(r *request, f webForm) (reply, error) {
	a, err := s.accountInPath(r)
	if err != nil {
		return reply{}, err
	}
	i := slices.IndexFunc(accountActs, func(act accountAct) bool { return act.Name == f.text("do") })
	if i < 0 {
		return reply{}, errAct
	}
	act := accountActs[i]
	if act.Typed && !strings.EqualFold(strings.TrimSpace(f.text("email")), a.Email) {
		return s.showAccount(r, http.StatusUnprocessableEntity, managedView{Wrong: true})
	}
	if act.do == nil {
		l, err := s.store.MakePasswordLink(r.Context(), r.actor, a.Email)
		return s.showPasswordLink(r, http.StatusOK, l), err
	}
	err = act.do(s.store, r.Context(), r.actor, a.Email)
	if errors.Is(err, store.ErrLastAdmin) {
		return s.showAccount(r, http.StatusConflict, managedView{Last: true})
	}
	path := accountsPath + r.name.Reveal()
	if act.Typed { // the account has no page any more
		path = adminPath
	}
	return s.goToTell(r, path, act.notice()), err
}

func (a accountAct) notice() notice { return notice("account_" + a.Name) }

// errAct refuses the name of an act that there is not.
const errAct = badRequest("There is nothing of that name to do with an account.")
