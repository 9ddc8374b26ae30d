package manage

import (
	"context"

	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// Groups of actions, in the order of the page.
const (
	GroupAccess = "access"  // what the account may do
	GroupSignIn = "sign_in" // how its owner signs in
	GroupDanger = "danger"  // what cannot be undone
)

// An AccountAct is an action of an administrator on an account. Its messages are account_do_NAME,
// account_do_NAME_hint, account_verb_NAME, and notice_account_NAME when it is done.
type AccountAct struct {
	Name   string
	Group  string
	Danger bool // it is done only after a confirmation
	Typed  bool // the address must be typed again
	Mails  bool // it sends mail
	Others bool // only for accounts of others, which the store enforces
	Fits   func(record.Account) bool
	Do     func(s *store.Store, ctx context.Context, by store.Actor, email string) error // nil: it makes a link that sets a password, and shows or mails it
}

// AccountActs are in the order of the page.
var AccountActs = []AccountAct{
	{
		Name: "enable", Group: GroupAccess, Fits: func(a record.Account) bool { return a.Disabled },
		Do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetDisabled(ctx, by, email, false)
		},
	},
	{
		Name: "confirm", Group: GroupAccess, Fits: func(a record.Account) bool { return a.Unconfirmed },
		Do: (*store.Store).ConfirmAccount,
	},
	{Name: "password", Group: GroupSignIn, Others: true, Fits: record.Account.Active},
	{Name: "mail", Group: GroupSignIn, Mails: true, Fits: record.Account.Active},
	{
		Name: "grant", Group: GroupAccess, Fits: func(a record.Account) bool { return !a.Admin },
		Do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetAdmin(ctx, by, email, true, false)
		},
	},
	{
		Name: "revoke", Group: GroupAccess, Fits: func(a record.Account) bool { return a.Admin },
		Do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetAdmin(ctx, by, email, false, false)
		},
	},
	{
		Name: "sign_out", Group: GroupSignIn, Fits: record.Account.Active,
		Do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.EndAccess(ctx, by, email, false)
		},
	},
	{
		Name: "tokens", Group: GroupSignIn, Danger: true, Fits: record.Account.Active,
		Do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.EndAccess(ctx, by, email, true)
		},
	},
	{
		Name: "mfa", Group: GroupSignIn, Danger: true, Others: true, Fits: record.Account.MFA,
		Do: (*store.Store).ResetFactors,
	},
	{
		Name: "unlink", Group: GroupSignIn, Danger: true, Fits: func(a record.Account) bool { return a.Identities != "" },
		Do: (*store.Store).Unlink,
	},
	{
		Name: "disable", Group: GroupDanger, Danger: true, Fits: record.Account.Active,
		Do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			return s.SetDisabled(ctx, by, email, true)
		},
	},
	{
		Name: "expire", Group: GroupDanger, Danger: true, Fits: func(record.Account) bool { return true },
		Do: func(s *store.Store, ctx context.Context, by store.Actor, email string) error {
			_, err := s.ExpirePushes(ctx, by, email)
			return err
		},
	},
	{
		Name: "remove", Group: GroupDanger, Danger: true, Typed: true, Fits: func(record.Account) bool { return true },
		Do: (*store.Store).RemoveAccount,
	},
}

// Do runs an act on an account, unless it would make no difference. An act that shows a link sets
// l.
func (s *Desk) Do(r *action.Request, act AccountAct, a record.Account) (l store.PasswordLink, err error) {
	switch fits := act.Fits(a); {
	case act.Do != nil && fits:
		err = act.Do(s.Store, r.Context(), r.Actor, a.Email)
	case act.Mails && fits:
		err = s.mailPasswordLink(r, a.Email)
	case act.Do == nil && fits:
		l, err = s.Store.MakePasswordLink(r.Context(), r.Actor, a.Email)
	case act.Do == nil:
		err = action.ErrNoLink
	}
	return l, err
}

// Invite makes an account without a password, and the link that sets one. With mail the link is
// mailed; if that fails, for example at the limit of mails, l has the link for the administrator.
func (s *Desk) Invite(r *action.Request, email string, admin, mail bool) (l store.PasswordLink, mailed bool, err error) {
	l, err = s.Store.Invite(r.Context(), r.Actor, email, admin)
	if err == nil && mail {
		mailed = s.mailPasswordLink(r, l.Email) == nil
	}
	return l, mailed, err
}

// mailPasswordLink mails a link that sets the password of an account, in the language of the
// administrator's page.
func (s *Desk) mailPasswordLink(r *action.Request, email string) error {
	language := ""
	if r.Locale != nil {
		language = r.Locale.Tag
	}
	return s.Store.MailPasswordLink(r.Context(), r.Actor, email, s.Config.BaseURL, language)
}
