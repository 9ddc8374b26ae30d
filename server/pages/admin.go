package pages

import (
	"net/http"
	"net/url"
	"strconv"

	"pushbox/internal/email"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/manage"
	"pushbox/store/record"
)

// accountsView is the list of all accounts.
type accountsView struct {
	Rows  []accountRow
	Words string // words of the search
	All   bool   // the list has all results
	Next  string // the path of older accounts; empty: there are none
	First string // the path of the newest accounts; empty: the page shows them
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

// accountsPathOf returns the path of the list of accounts before a number; 0: of the newest.
func accountsPathOf(q manage.AccountQuery, before record.AccountID) string {
	v := url.Values{}
	if q.Words != "" {
		v.Set(manage.SearchField, q.Words)
	}
	if before != 0 {
		v.Set(manage.BeforeField, strconv.FormatUint(uint64(before), 10))
	}
	return pagePath(accountsPath, v, 1)
}

// accountsPage lists accounts, newest first, whose addresses contain the words of the query.
func (s *Set) accountsPage(r *action.Request) (action.Reply, error) {
	var v accountsView
	q, err := manage.ReadAccountQuery(r.URL.RawQuery)
	if err != nil {
		return action.Reply{}, err
	}
	found, rooms, rest, err := s.Manage.FindAccounts(r, q)
	if err != nil {
		return action.Reply{}, err
	}
	for _, a := range found {
		v.Rows = append(v.Rows, newAccountRow(r, a, rooms[a.ID]))
	}
	v.Words, v.All = q.Words, rest == 0 && q.Before == 0
	if rest != 0 {
		v.Next = accountsPathOf(q, rest)
	}
	if q.Before != 0 {
		v.First = accountsPathOf(q, 0)
	}
	return action.Show(http.StatusOK, "admin_accounts", v), nil
}

func newAccountRow(r *action.Request, a record.Account, takes record.Room) accountRow {
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
		ID: a.ID, Email: email.Shown(a.Email), Admin: a.Admin, MFA: a.MFA(), Own: a.ID == r.Actor.Account, State: state, Confirmed: !a.Unconfirmed,
		SignedIn: display.OptionalTime(a.SignedInAt), Pushes: takes.Pushes, Size: sizeText(r, takes.Bytes),
		Policy: a.Policy,
	}
}

// A badge is a word beside a name: the key of its message, and its class.
type badge struct{ Key, Class string }

// Badges lists the most important states of an account.
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
