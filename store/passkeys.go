package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/passkey"
	"pushbox/internal/secret"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// Passkeys lists the passkeys of the account of a session, oldest first. ErrSession.
func (s *Store) Passkeys(ctx context.Context, session secret.Text) ([]PasskeyInfo, error) {
	c, err := s.signedIn(ctx, Actor{}, session)
	if err != nil {
		return nil, err
	}
	all, err := c.account.PasskeyList()
	if err != nil {
		return nil, err
	}
	infos := make([]PasskeyInfo, len(all))
	for i, p := range all {
		d, err := s.openPasskey(c.account.ID, p)
		if err != nil {
			return nil, err
		}
		infos[i] = PasskeyInfo{p.ID, d.name, p.Created, p.Used}
	}
	return infos, nil
}

// NewPasskey asks the browser of a session for a new passkey. ErrSession.
func (s *Store) NewPasskey(ctx context.Context, session secret.Text, site passkey.Site) (PasskeyRequest, error) {
	c, err := s.signedIn(ctx, Actor{}, session)
	if err != nil {
		return PasskeyRequest{}, err
	}
	known, err := s.passkeyRefs(c.account)
	if err != nil {
		return PasskeyRequest{}, err
	}
	return s.request(toAdd, c.session.Digest, func(challenge []byte) string {
		return site.Creation(challenge, passkey.User{Handle: s.handle(c.account.ID), Name: c.account.Email}, known)
	}), nil
}

// AskPasskey asks the browser of a session, pending or not, for a passkey of its account as
// second factor. The request is zero if the account has none. ErrSession.
func (s *Store) AskPasskey(ctx context.Context, session secret.Text, site passkey.Site) (PasskeyRequest, error) {
	c, err := s.caller(ctx, Actor{}, session)
	if err != nil {
		return PasskeyRequest{}, err
	}
	known, err := s.passkeyRefs(c.account)
	if err != nil || len(known) == 0 {
		return PasskeyRequest{}, err
	}
	return s.request(toProve, c.session.Digest, func(challenge []byte) string { return site.Request(challenge, known) }), nil
}

// AskAnyPasskey asks a browser for any passkey of the site. The browser gets a secret that stands
// in for a session.
func (s *Store) AskAnyPasskey(browser secret.Text, site passkey.Site) PasskeyRequest {
	return s.request(toSignIn, seal.Digest(browser), func(challenge []byte) string { return site.Request(challenge, nil) })
}

func (s *Store) request(purpose string, holder record.SessionDigest, options func(challenge []byte) string) PasskeyRequest {
	challenge := s.challenge(purpose, holder, s.time.Read().Now.UnixMilli())
	return PasskeyRequest{fmt.Sprintf("%x", challenge), options(challenge)}
}

func (s *Store) passkeyRefs(a record.Account) (refs []passkey.Ref, err error) {
	all, err := a.PasskeyList()
	for _, p := range all {
		d, err := s.openPasskey(a.ID, p)
		if err != nil {
			return nil, err
		}
		refs = append(refs, d.ref)
	}
	return refs, err
}

// AddPasskey gives the account of a session a passkey, under a name that its user chose. It needs
// the same proof as EnableTOTP. If it is the first factor beside the password, the account also
// gets recovery codes, and its sessions end: n is the new one. Else n and recovery are zero.
//
// Errors: as those of ChangePassword, ErrCredentials also for a wrong factor; *InvalidError for the name, for an answer that is not
// valid or came too late, or if the account has MaxPasskeys; ErrExists if it has this one.
func (s *Store) AddPasskey(ctx context.Context, by Actor, session, password secret.Text, f Factor, name string, in PasskeyAnswer) (n NewSession, recovery []secret.Text, err error) {
	n, err = sealing(ctx, s, func(ctx context.Context) (n NewSession, err error) {
		n, recovery, err = s.addPasskey(ctx, by, session, password, f, strings.TrimSpace(name), in)
		return n, err
	})
	return n, recovery, err
}

func (s *Store) addPasskey(ctx context.Context, by Actor, session, password secret.Text, f Factor, name string, in PasskeyAnswer) (n NewSession, recovery []secret.Text, err error) {
	if err := checkPasskeyName(name); err != nil {
		return NewSession{}, nil, err
	}
	c, use, err := s.provenTwice(ctx, by, session, password, f, record.Account.MFA)
	if err != nil {
		return NewSession{}, nil, err
	}
	challenge, _, err := s.readChallenge(in.Challenge, toAdd, c.session.Digest)
	if err != nil {
		return NewSession{}, nil, invalidField("passkey", "came too late, or is for another session")
	}
	made, err := in.Site.Made(in.Text, challenge)
	if err != nil {
		return NewSession{}, nil, invalidField("passkey", "does not match the request")
	}
	one := record.Passkey{ID: passkeyID(made.ID), Key: made.Key, Count: made.Count, Created: c.at.Now}
	one.Sealed = s.sealPasskey(c.account.ID, one, passkeyDetails{name, made.Ref})
	return s.addFactor(ctx, c, record.AdminPasskeyAdd, name, func(a *record.Account) error {
		if err := use(a); err != nil {
			return err
		}
		return addPasskeyTo(a, one)
	})
}

func addPasskeyTo(a *record.Account, one record.Passkey) error {
	all, at, err := findPasskey(*a, one.ID)
	switch {
	case err != nil:
		return err
	case at >= 0:
		return record.ErrExists
	case len(all) >= record.MaxPasskeys:
		return invalidField("passkeys", fmt.Sprintf("are too many: an account may have %d", record.MaxPasskeys))
	}
	a.SetPasskeyList(append(all, one))
	return nil
}

func checkPasskeyName(name string) error {
	var bad record.InvalidError
	switch {
	case name == "":
		bad.Add("name", "is missing")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		bad.Add("name", "has characters that cannot be shown")
	}
	checkLength("name", len(name), record.MaxLabel, &bad)
	return bad.Err()
}

// RemovePasskey removes a passkey of the account of a session. The recovery codes go with the last
// factor beside the password. It needs the same proof as DisableTOTP and has the same errors;
// ErrNotFound if the account has no such passkey.
func (s *Store) RemovePasskey(ctx context.Context, by Actor, session, password secret.Text, f Factor, id record.PasskeyID) error {
	c, use, err := s.provenTwice(ctx, by, session, password, f, record.Account.MFA)
	if err != nil {
		return err
	}
	all, at, err := findPasskey(c.account, id)
	if err != nil || at < 0 {
		return cmp.Or(err, record.ErrNotFound)
	}
	d, err := s.openPasskey(c.account.ID, all[at])
	if err != nil {
		return err
	}
	_, err = s.changeOwn(ctx, c, record.AdminPasskeyRemove, d.name, func(a *record.Account) (record.SessionChange, error) {
		if err := use(a); err != nil {
			return record.SessionChange{}, err
		}
		all, at, err := findPasskey(*a, id)
		if err == nil && at >= 0 {
			a.SetPasskeyList(slices.Delete(all, at, at+1))
		}
		return record.SessionChange{}, err
	})
	return err
}

// SignInPasskey is SignInCode with a passkey in place of the code. ErrSession also if the answer
// came too late or was used before.
func (s *Store) SignInPasskey(ctx context.Context, by Actor, pending secret.Text, in PasskeyAnswer) (NewSession, error) {
	return s.signInSecond(ctx, by, pending, Factor{Passkey: in})
}

// SignInAlone begins a session by a passkey alone, which names the account. It counts as two
// factors, since its device has verified the user. An account with a sign-in provider is refused:
// the provider decides whether its user may sign in. browser is the secret that AskAnyPasskey got.
//
// Errors: ErrCredentials; *LockedError after too many tries; ErrSession if the answer came too
// late or was used before; ErrBusy; ErrClock while the clock is in doubt.
func (s *Store) SignInAlone(ctx context.Context, by Actor, browser secret.Text, in PasskeyAnswer) (n NewSession, err error) {
	var a record.Account
	holder := seal.Digest(browser)
	who := trier{by.Client, by.Client, "browser without session " + string(holder[:])} // wrong passkeys do not lock an account
	err = s.attempt(ctx, who, func() (record.AccountID, error) {
		u, err := s.readUse(in, toSignIn, holder)
		if err != nil {
			return 0, err
		}
		if a, err = s.byHandle(ctx, u.Handle); err != nil {
			return 0, err
		}
		r, err := u.prove(a, true)
		if err != nil {
			return 0, err
		}
		n, err = s.startSession(ctx, by.proved(a.ID), a, record.SessionDigest{}, "with a passkey alone", nil, r)
		return a.ID, instead(err, record.ErrNotFound, record.ErrCredentials)
	})
	return n, s.refused(ctx, by, record.AdminSignInRefused, a, err)
}

// byHandle returns the account of a handle, or ErrCredentials.
func (s *Store) byHandle(ctx context.Context, handle []byte) (record.Account, error) {
	if len(handle) < 8 {
		return record.Account{}, record.ErrCredentials
	}
	id := record.AccountID(binary.BigEndian.Uint64(handle))
	if !bytes.Equal(handle, s.handle(id)) {
		return record.Account{}, record.ErrCredentials
	}
	a, err := cold.Account(ctx, s.engine, id)
	return a, instead(err, record.ErrNotFound, record.ErrCredentials)
}

// A passkeyUse is an answer to a challenge that the store made.
type passkeyUse struct {
	passkey.Use
	site      passkey.Site
	challenge []byte
	asked, at time.Time
}

// readUse reads an answer. ErrCredentials if it is malformed or the store did not make its
// challenge; ErrSession if it came too late.
func (s *Store) readUse(in PasskeyAnswer, purpose string, holder record.SessionDigest) (u passkeyUse, err error) {
	u.site, u.at = in.Site, s.time.Read().Now
	if u.challenge, u.asked, err = s.readChallenge(in.Challenge, purpose, holder); err != nil {
		return u, err
	}
	if u.Use, err = passkey.ReadUse(in.Text); err != nil {
		return u, record.ErrCredentials
	}
	return u, nil
}

// prove checks that a passkey of the account gave the answer, and with alone that its device
// verified the user. The rule uses the answer up.
func (u passkeyUse) prove(a record.Account, alone bool) (startRule, error) {
	known, at, err := findPasskey(a, passkeyID(u.ID))
	if err != nil || at < 0 {
		return nil, cmp.Or(err, record.ErrCredentials)
	}
	count, err := u.Check(u.site, u.challenge, known[at].Key, alone)
	if err != nil {
		return nil, record.ErrCredentials
	}
	return func(a record.Account) (record.Account, bool, error) {
		if alone && a.Identities != "" { // else a person whom the provider no longer knows would sign in
			return a, false, record.ErrCredentials
		}
		all, at, err := findPasskey(a, passkeyID(u.ID))
		switch {
		case err != nil:
			return a, false, err
		case !a.Active(), at < 0:
			return a, false, record.ErrCredentials
		case !u.asked.After(all[at].Used): // used before, or it may have been
			return a, false, record.ErrSession
		case count != 0 && count <= all[at].Count, count == 0 && all[at].Count != 0:
			return a, false, errCopied
		}
		all[at].Count, all[at].Used = count, record.Later(u.asked, u.at) // the clocks of servers with one database differ
		a.SetPasskeyList(all)
		return a, false, nil
	}, nil
}

// errCopied says that two devices seem to have the same passkey, although passkeys of its kind
// cannot be copied.
var errCopied = fmt.Errorf("%w: the passkey counts fewer uses than before, so there may be a copy", record.ErrCredentials)

// A Factor proves an account beside its password: a passkey if Passkey is set, else a code.
type Factor struct {
	Code    secret.Text
	Passkey PasskeyAnswer
}

// readFactor returns the rule that uses a factor up, and the factor's name for the instance log.
func (s *Store) readFactor(c caller, f Factor) (how string, r startRule, err error) {
	if f.Passkey.Text.IsZero() {
		p, err := s.readCode(c.account, f.Code)
		return p.name(), p.rule, err
	}
	u, err := s.readUse(f.Passkey, toProve, c.session.Digest)
	if err != nil {
		return "", nil, err
	}
	r, err = u.prove(c.account, false)
	return "with a passkey as second factor", r, err
}
