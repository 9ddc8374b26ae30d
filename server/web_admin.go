package server

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"pushbox/internal/email"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/display"
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
const errNumber = action.BadRequest("A number in the query must be a whole number, without a sign.")

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
func (s *Server) accountsPage(r *action.Request) (action.Reply, error) {
	return s.listAccounts(r, http.StatusOK, accountsView{})
}

func (s *Server) listAccounts(r *action.Request, status int, v accountsView) (action.Reply, error) {
	q, err := readAccountQuery(r.URL.RawQuery)
	if err != nil {
		return action.Reply{}, err
	}
	found, rooms, rest, err := s.findAccounts(r, q)
	if err != nil {
		return action.Reply{}, err
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
	return action.Show(status, "admin_accounts", v), nil
}

// findAccounts returns a part of the list of accounts, with what their live pushes take, and
// the number before which there may be more; 0 if there are no more.
func (s *Server) findAccounts(r *action.Request, q accountQuery) (found []record.Account, rooms map[record.AccountID]record.Room, rest record.AccountID, err error) {
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
