package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pushbox/internal/email"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

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
func (s *Server) accountPage(r *action.Request) (action.Reply, error) {
	return s.showAccount(r, http.StatusOK, managedView{})
}

func (s *Server) showAccount(r *action.Request, status int, v managedView) (action.Reply, error) {
	a, err := s.accountInPath(r)
	if err != nil {
		return action.Reply{}, err
	}
	rooms, err := s.store.AccountRooms(r.Context(), []record.AccountID{a.ID})
	if err != nil {
		return action.Reply{}, err
	}
	tokens, err := s.store.Tokens(r.Context(), a.Email)
	if err != nil {
		return action.Reply{}, err
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
		if !a.Removing && act.fits(a) && (s.cfg.Mail.Enabled() || !act.mails) && (!act.others || a.ID != r.Actor.Account) {
			v.Acts = append(v.Acts, act)
		}
	}
	return action.Show(status, "admin_account", v), nil
}

// accountInPath returns the account whose number the path has, or record.ErrNotFound.
func (s *Server) accountInPath(r *action.Request) (record.Account, error) {
	id, err := strconv.ParseUint(r.Name.Reveal(), 10, 64)
	if err != nil {
		return record.Account{}, record.ErrNotFound
	}
	return s.store.AccountByID(r.Context(), record.AccountID(id))
}

// changeAccount does what the form names to the account in the path.
func (s *Server) changeAccount(r *action.Request, f webForm) (action.Reply, error) {
	a, err := s.accountInPath(r)
	if err != nil {
		return action.Reply{}, err
	}
	if f.text("do") == action.PolicyParam {
		err := s.setPolicy(r, a.Email, f.text(action.PolicyParam))
		return s.goToTell(r, accountsPath+r.Name.Reveal(), noticePolicy), err
	}
	i := slices.IndexFunc(accountActs, func(act accountAct) bool { return act.Name == f.text("do") })
	if i < 0 {
		return action.Reply{}, errAct
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
	path := accountsPath + r.Name.Reveal()
	if act.Typed { // the account no longer has a page
		path = adminPath
	}
	return s.goToTell(r, path, act.notice()), err
}

func (a accountAct) notice() notice { return notice("account_" + a.Name) }

// act does an act to an account, and nothing where it would make no difference. l is set by an
// act that shows a link.
func (s *Server) act(r *action.Request, act accountAct, a record.Account) (l store.PasswordLink, err error) {
	switch fits := act.fits(a); {
	case act.do != nil && fits:
		err = act.do(s.store, r.Context(), r.Actor, a.Email)
	case act.mails && fits:
		err = s.mailPasswordLink(r, a.Email)
	case act.do == nil && fits:
		l, err = s.store.MakePasswordLink(r.Context(), r.Actor, a.Email)
	case act.do == nil:
		err = action.ErrNoLink
	}
	return l, err
}

// errAct refuses the name of an act that there is not.
const errAct = action.BadRequest("There is nothing of that name to do with an account.")
