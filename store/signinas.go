package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pushbox/internal/email"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// An External describes a person who signed in at a provider, and what the settings allow that
// person.
type External struct {
	record.Identity
	Provider string   // its name, for the instance log
	Name     string   // the provider's name for its session: Session.ViaName; may be empty
	Email    string   // may be empty
	Verified bool     // the provider says that the address is the person's
	Groups   []string // the person's groups that a policy may name
	Admin    *bool    // whether the person is an administrator; nil: the provider does not decide that
	Strong   bool     // the provider asked for a second factor

	Denied bool   // the settings do not let the person in
	Why    string // why Denied is set, for the instance log
	Link   bool   // an account with the verified address may be linked to the person
	Create bool   // a person without an account gets one
}

// SignInAs begins a session for a person who signed in at a provider. The account is the one with
// the identity; else the one with the address, if it may be linked; else a new one. It is pending
// if the account has a second factor and the provider asked for none.
//
// An account whose address is not confirmed is never linked: another person may have made it and
// know its password. Nor is an account that already has an identity of this provider; nor one with
// a second factor, unless the provider asked for one. A provider cannot demote the last
// administrator.
//
// Errors: ErrCredentials if the person may not sign in; ErrFull; ErrClock while the clock is in
// doubt.
func (s *Store) SignInAs(ctx context.Context, by Actor, x External) (NewSession, error) {
	n, a, err := s.signInAs(ctx, by, x)
	return n, s.refusedOf(ctx, by, record.AdminSignInRefused, about(a).with(x.whom()), err)
}

// signInAs returns the account, too, if there is one.
func (s *Store) signInAs(ctx context.Context, by Actor, x External) (n NewSession, a record.Account, err error) {
	by = by.proved(0) // an earlier session of the browser does not matter
	a, err = s.accountFor(ctx, by, x)
	if err == nil && x.Admin != nil && *x.Admin != a.Admin {
		a, err = s.setRole(ctx, by, a, x)
	}
	if err == nil {
		err = s.followGroups(ctx, by, a, x)
	}
	if err == nil {
		n, err = s.startSession(ctx, by.proved(a.ID), a, record.SessionDigest{}, x.by(), x.note, x.rule)
	}
	return n, a, instead(err, record.ErrNotFound, record.ErrCredentials)
}

// An Elsewhere finds the identity of a login at a provider that checks passwords, such as a
// directory. The identity is zero if the login is unknown. check checks the password, also for an
// unknown login, so that timing does not reveal which logins exist.
type Elsewhere func(ctx context.Context) (whose record.Identity, check func(context.Context) (External, error), err error)

// SignInAt is SignIn for a person whose password a provider checks. With local, where the account
// of an address has a password here, that alone decides. A try that ends with ErrCredentials counts
// as a wrong password of the person whom the provider finds, whatever was typed, and of what was
// typed if it finds none. A slow provider delays only sign-ins that use it. ErrBusy if too many use
// it.
//
// Errors: those of SignIn, and any other of the provider.
func (s *Store) SignInAt(ctx context.Context, by Actor, login string, password secret.Text, local bool, at Elsewhere) (n NewSession, err error) {
	a, err := s.account(ctx, login)
	switch {
	case err == nil && local && a.PasswordHash != "":
		return s.SignIn(ctx, by, login, password)
	case err != nil && !errors.Is(err, record.ErrNotFound):
		return NewSession{}, err
	}
	var x External
	who, a, check, err := s.findElsewhere(ctx, by, a, login, at)
	if err == nil {
		err = s.attemptElsewhere(ctx, who, func() (_ record.AccountID, err error) {
			if x, err = check(ctx); err == nil {
				n, a, err = s.signInAs(ctx, by, x)
			}
			return a.ID, err
		})
	}
	return n, s.refusedOf(ctx, by, record.AdminSignInRefused, about(a).with(x.whom()), err)
}

// findElsewhere asks a provider for the identity of a login. It returns the trier of that person's
// password, and the account that has the identity. typed is the account whose address was typed.
func (s *Store) findElsewhere(ctx context.Context, by Actor, typed record.Account, login string, at Elsewhere) (who trier, a record.Account, check func(context.Context) (External, error), err error) {
	tries := s.triesOf(by.Client)
	if len(by.Marks) == 0 { // else the browser may be known to the account, which has separate tries for it
		err = s.guess.afterOthers(ctx, by.Client, func() error { return s.tries(ctx, limit.Look, record.LimitSignInsPerClient, tries) })
		if err != nil {
			return trier{}, typed, nil, err
		}
	}
	var whose record.Identity
	err = doQueued(ctx, s.guess.elsewhere, by.Client, func() (err error) {
		whose, check, err = at(ctx)
		return err
	})
	if errors.Is(err, record.ErrBusy) {
		return trier{}, typed, nil, err
	}
	if err != nil {
		_ = s.tries(context.WithoutCancel(ctx), limit.Count, record.LimitSignInsPerClient, tries) // the client gets the reason why the provider fails
		return trier{}, typed, nil, err
	}
	if whose == (record.Identity{}) {
		return s.trier(by, typed, accountKey(login)), typed, check, nil
	}
	a, err = cold.AccountByIdentity(ctx, s.engine, whose.Digest())
	if errors.Is(err, record.ErrNotFound) { // the first sign-in
		digest := whose.Digest()
		return trier{by.Client, by.Client, "identity " + string(digest[:])}, record.Account{}, check, nil
	}
	return s.trier(by, a, a.Email), a, check, err
}

// Recheck applies the present answer of a provider about a person with an account. If the provider
// denies the person, the account is disabled until an administrator enables it; else role and
// policy follow the answer. An identity without an account is no error.
//
// Errors: ErrLastAdmin if the account that is to be disabled is the last administrator's.
func (s *Store) Recheck(ctx context.Context, x External) error {
	a, err := cold.AccountByIdentity(ctx, s.engine, x.Digest())
	switch {
	case err != nil:
		return instead(err, record.ErrNotFound, nil)
	case !a.Active():
		return nil
	case x.Denied:
		return s.changeHooks(ctx, func(*subscriptions) error {
			_, err := s.changeBy(ctx, Actor{}, a, record.AdminAccountDisable, x.by()+": "+x.Why, func(a *record.Account) (record.SessionChange, error) {
				a.Disabled = true
				return record.SessionChange{Revoke: record.RevokeOthers}, nil
			})
			return err
		})
	case x.Admin != nil && *x.Admin != a.Admin:
		_, err = s.setRole(ctx, Actor{}, a, x)
	}
	if err == nil {
		err = s.followGroups(ctx, Actor{Role: System}, a, x)
	}
	return err
}

// rule is a startRule for an account that has the identity.
func (x External) rule(a record.Account) (record.Account, bool, error) {
	if !a.Active() || !a.Identities.Has(x.Identity) {
		return a, false, record.ErrCredentials
	}
	return a, a.MFA() && !x.Strong, nil
}

// note records the person's identity in a session.
func (x External) note(s *record.Session) { s.Via, s.ViaName, s.Strong = x.Identity, x.Name, x.Strong }

// by returns the detail of events.
func (x External) by() string { return "by " + x.Provider }

// refuse returns ErrCredentials with the cause.
func (x External) refuse(why string) error { return &record.RefusedError{Why: why} }

// whom returns the detail of refusals; empty if the provider named no person.
func (x External) whom() string {
	switch {
	case x.Provider == "":
		return ""
	case x.Subject == "":
		return x.by()
	default:
		return fmt.Sprintf("%s, subject %q", x.by(), x.Subject)
	}
}

// accountFor returns the account of the person, which it may link or create.
func (s *Store) accountFor(ctx context.Context, by Actor, x External) (record.Account, error) {
	if !x.Valid() {
		return record.Account{}, x.refuse("the subject is empty or too long")
	}
	a, err := cold.AccountByIdentity(ctx, s.engine, x.Digest())
	switch {
	case err == nil && x.Denied:
		return a, s.deny(ctx, by, a, x)
	case err == nil && !a.Active():
		return a, x.refuse("the account is disabled")
	case !errors.Is(err, record.ErrNotFound):
		return a, err
	case x.Denied:
		return record.Account{}, x.refuse(x.Why)
	case s.time.Read().Jumped:
		return record.Account{}, record.ErrClock
	}
	address := accountKey(x.Email)
	switch a, err = s.account(ctx, address); {
	case err == nil:
		return s.link(ctx, by, a, x)
	case !errors.Is(err, record.ErrNotFound):
		return record.Account{}, err
	case !email.IsAddress(address):
		return record.Account{}, x.refuse("the provider gives no e-mail address")
	case !email.IsClear(address):
		return record.Account{}, x.refuse("the e-mail address " + unclear)
	case !x.Create:
		return record.Account{}, x.refuse("the address has no account, and create_accounts is off")
	}
	a = record.Account{Email: address, CreatedAt: s.time.Read().Now, Unconfirmed: !x.Verified, Identities: record.Identities("").With(x.Identity)}
	a.ID, err = s.as(by).createAccountBy(ctx, a, x.by())
	if errors.Is(err, record.ErrExists) || errors.Is(err, record.ErrIdentityTaken) { // a concurrent request made the account
		return cold.AccountByIdentity(ctx, s.engine, x.Digest())
	}
	return a, err
}

// deny removes what an earlier sign-in gave to a person who may no longer sign in: the sessions,
// and the role if the provider decides that. It returns a *RefusedError.
func (s *Store) deny(ctx context.Context, by Actor, a record.Account, x External) error {
	if x.Admin != nil && a.Admin {
		x.Admin = new(bool)
		if _, err := s.setRole(ctx, by, a, x); err != nil {
			return err
		}
	}
	if err := s.endSessionsOf(ctx, a, record.ViaSelection{Of: x.Identity, By: s.time.Read().Now}, x.by()); err != nil {
		return err
	}
	return x.refuse(x.Why)
}

// link adds the identity to the account with the person's address, if that is allowed.
func (s *Store) link(ctx context.Context, by Actor, a record.Account, x External) (record.Account, error) {
	switch {
	case !x.Link:
		return a, x.refuse("the address has an account already, and link_by_email is off")
	case !x.Verified:
		return a, x.refuse("the address has an account already, and the provider has not verified the address")
	}
	return s.changeBy(ctx, by, a, record.AdminIdentityLink, x.by(), func(a *record.Account) (record.SessionChange, error) {
		switch {
		case !a.Active() || a.Email != accountKey(x.Email) || len(a.Identities.List()) >= record.MaxIdentities:
			return record.SessionChange{}, x.refuse("the account is disabled, or has too many identities")
		case a.Unconfirmed:
			return record.SessionChange{}, x.refuse("the address of the account is not confirmed")
		case a.Identities.Has(x.Identity):
			return record.SessionChange{}, nil
		case a.Identities.Without(x.Issuer) != a.Identities:
			return record.SessionChange{}, x.refuse("the account belongs to another person at the provider")
		case a.MFA() && !x.Strong: // else the link would be made before the second factor is given
			return record.SessionChange{}, x.refuse("the account has a second factor, and trust_mfa is off")
		}
		a.Identities = a.Identities.With(x.Identity)
		return record.SessionChange{}, nil
	})
}

// setRole gives the account the role that the provider decides.
func (s *Store) setRole(ctx context.Context, by Actor, a record.Account, x External) (record.Account, error) {
	kind := record.AdminRevoke
	if *x.Admin {
		kind = record.AdminGrant
	}
	changed, err := s.changeBy(ctx, by, a, kind, x.by(), func(a *record.Account) (record.SessionChange, error) {
		a.Admin = *x.Admin
		return record.SessionChange{}, nil
	})
	if errors.Is(err, record.ErrLastAdmin) {
		return a, nil
	}
	return changed, err
}

// changeBy changes an account on the word of a provider. The event has kind k and that
// detail.
func (s *Store) changeBy(ctx context.Context, by Actor, a record.Account, k record.AdminKind, detail string, change func(*record.Account) (record.SessionChange, error)) (record.Account, error) {
	by.Role = System
	return sealing(ctx, s, func(ctx context.Context) (record.Account, error) {
		event := s.as(by).event(k, about(a).with(detail))
		c, err := s.as(by).changeAccount(ctx, a.ID, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			sessions, err := change(&a)
			return a, sessions, event, err
		})
		return c.Account, err
	})
}

// EndSessionsOf ends sessions on the word of a provider: those of an identity, or with the
// provider's name for them, or with both. Sessions that began after that moment stay, so a repeated
// message does no harm. An identity without an account, or a name without a session, is no error.
// provider is the provider's name, for the instance log.
func (s *Store) EndSessionsOf(ctx context.Context, of record.Identity, name string, at time.Time, provider string) error {
	if of.Subject != "" {
		a, err := cold.AccountByIdentity(ctx, s.engine, of.Digest())
		if err != nil {
			return instead(err, record.ErrNotFound, nil)
		}
		return s.endSessionsOf(ctx, a, record.ViaSelection{Of: of, Name: name, By: at}, "by "+provider)
	}
	accounts, err := s.Accounts(ctx)
	for _, a := range accounts {
		for _, i := range a.Identities.List() {
			if err == nil && i.Issuer == of.Issuer {
				err = s.endSessionsOf(ctx, a, record.ViaSelection{Of: i, Name: name, By: at}, "by "+provider)
			}
		}
	}
	return err
}

// endSessionsOf ends the selected sessions of an account. If there are none it writes no event.
func (s *Store) endSessionsOf(ctx context.Context, a record.Account, v record.ViaSelection, detail string) error {
	list, err := cold.Sessions(ctx, s.engine, a.ID, MaxSessions+maxPending)
	if err != nil || !slices.ContainsFunc(list, v.Has) {
		return err
	}
	_, err = s.changeBy(ctx, Actor{}, a, record.AdminProviderSignOut, detail, func(*record.Account) (record.SessionChange, error) {
		return record.SessionChange{Revoke: record.RevokeVia, Via: v}, nil
	})
	return instead(err, record.ErrNotFound, nil)
}

// Unlink removes the identities of an account, so that no provider knows its user, and
// ends its sessions. An account that has no password needs a link that sets one, or its user
// signs in at a provider that may link its address again.
//
// Errors: ErrNotFound; ErrDenied for a client; ErrLastAdmin if the last administrator could no
// longer sign in.
func (s *Store) Unlink(ctx context.Context, by Actor, email string) error {
	_, err := s.changeAccount(ctx, by, email, record.AdminIdentityUnlink, record.SessionChange{Revoke: record.RevokeOthers}, func(a *record.Account) { a.Identities = "" })
	return err
}

// ByProxy is the issuer of identities that a header of a proxy names. Their subject is an
// address, so they end when the account gets another one.
const ByProxy = "proxy"
