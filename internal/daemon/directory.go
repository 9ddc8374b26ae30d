package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/directory"
	"pushbox/internal/instance"
	"pushbox/internal/secret"
	"pushbox/server"
	"pushbox/store"
)

// The directory in identities and in the instance log.
const (
	ldapIssuer = "ldap"
	ldapName   = "the directory"
)

// Bounds of a check.
const (
	findTime  = 30 * time.Second // for one person
	mostFails = 3                // people in a row for whom the directory does not answer, before a check ends
)

// fewPeople is how many people at most a check disables, whatever part of all they are.
const fewPeople = 3

// A directoryLink lets people sign in whom an LDAP directory knows, and disables the accounts
// of those whom it does not know any more.
type directoryLink struct {
	people *directory.Directory
	cfg    config.LDAP
	store  *store.Store
	log    zerolog.Logger
	away   atomic.Bool // the last question had no answer
}

// newDirectoryLink returns nil if the settings name no directory.
func newDirectoryLink(cfg config.LDAP, s *store.Store, log zerolog.Logger) (*directoryLink, error) {
	if !cfg.Enabled() {
		return nil, nil
	}
	people, err := OpenDirectory(cfg, s.PolicyGroups)
	if err != nil {
		return nil, err
	}
	return &directoryLink{people: people, cfg: cfg, store: s, log: log}, nil
}

// CheckDirectory checks the names and filters of the settings of a directory, if there is one. It
// reads no files and asks nothing.
func CheckDirectory(cfg config.LDAP) error {
	if !cfg.Enabled() {
		return nil
	}
	_, err := newDirectory(directoryOptions(cfg))
	return err
}

func newDirectory(o directory.Options) (*directory.Directory, error) {
	d, err := directory.New(o)
	if err != nil {
		return nil, fmt.Errorf("the setting ldap.%w", err)
	}
	return d, nil
}

func directoryOptions(cfg config.LDAP) directory.Options {
	return directory.Options{
		URL: cfg.URL, BindDN: cfg.BindDN, BindPassword: cfg.BindPassword, Base: cfg.Base, Filter: cfg.Filter,
		LoginAttributes: cfg.LoginAttributes, IDAttribute: cfg.IDAttribute, EmailAttribute: cfg.EmailAttribute,
		GroupBase: cfg.GroupBase, MemberAttributes: cfg.MemberAttributes, AllowedGroups: cfg.AllowedGroups, AdminGroups: cfg.AdminGroups,
	}
}

// OpenDirectory returns the directory of the settings. It reads the files that they name,
// and asks nothing. groups lists others than those of the settings that people may be in.
func OpenDirectory(cfg config.LDAP, groups func() []string) (*directory.Directory, error) {
	o := directoryOptions(cfg)
	o.OtherGroups = groups
	var err error
	if cfg.BindPasswordFile != "" {
		if o.BindPassword, err = instance.ReadSecretFile(cfg.BindPasswordFile); err != nil {
			return nil, fmt.Errorf("the setting ldap.bind_password_file: %w", err)
		}
	}
	if cfg.CAFile != "" {
		if o.Roots, err = certs.ReadRoots(cfg.CAFile, false); err != nil {
			return nil, fmt.Errorf("the setting ldap.ca_file: %w", err)
		}
	}
	return newDirectory(o)
}

// options lets people sign in by the directory.
func (d *directoryLink) options(o *server.Options) {
	if d != nil {
		o.Directory = d.signIn
	}
}

// signIn asks the directory whose login it is, and then for the password. The errors are
// store.ErrCredentials and server.ErrAway.
func (d *directoryLink) signIn(login string, password secret.Text) store.Elsewhere {
	return func(ctx context.Context) (whose store.Identity, check func(context.Context) (store.External, error), err error) {
		e, err := d.people.Look(ctx, login)
		d.noteState(ctx, err)
		if err != nil {
			return whose, nil, server.ErrAway
		}
		if e.ID != "" {
			whose = identityOf(e.ID)
		}
		return whose, func(ctx context.Context) (store.External, error) { return d.checkPassword(ctx, e, password) }, nil
	}
}

// identityOf is the identity of a person of the directory.
func identityOf(id string) store.Identity { return store.Identity{Issuer: ldapIssuer, Subject: id} }

func (d *directoryLink) checkPassword(ctx context.Context, e directory.Entry, password secret.Text) (store.External, error) {
	p, err := d.people.SignIn(ctx, e, password)
	d.noteState(ctx, err)
	var refused *directory.RefusedError
	switch {
	case errors.Is(err, directory.ErrNotAllowed):
		x := d.external(p)
		x.Denied, x.Why = true, "the person is in none of allowed_groups"
		return x, nil
	case errors.As(err, &refused):
		return store.External{}, &store.RefusedError{Why: "by " + ldapName + ": " + refused.Why}
	case errors.Is(err, directory.ErrCredentials):
		return store.External{}, store.ErrCredentials
	case err != nil:
		return store.External{}, server.ErrAway
	}
	return d.external(p), nil
}

// external is what the directory and the settings say of a person.
func (d *directoryLink) external(p directory.Person) store.External {
	x := store.External{
		Identity: identityOf(p.ID), Provider: ldapName,
		Email: p.Email, Verified: true, Groups: p.Groups, Link: d.cfg.LinkByEmail, Create: d.cfg.CreateAccounts,
	}
	if len(d.cfg.AdminGroups) > 0 {
		x.Admin = &p.Admin
	}
	return x
}

// noteState logs when the directory stops answering, and when it answers again.
func (d *directoryLink) noteState(ctx context.Context, err error) {
	var unavailable *directory.UnavailableError
	switch away := errors.As(err, &unavailable); {
	case away && ctx.Err() == nil && !d.away.Swap(true):
		d.log.Warn().Err(err).Msg("people whom the directory knows cannot sign in")
	case err == nil && d.away.Swap(false): // other errors may come without a question
		d.log.Info().Msg("the directory answers again")
	}
}

// follow asks the directory for the people who signed in by it, until ctx ends.
func (d *directoryLink) follow(ctx context.Context) error {
	if d == nil {
		return nil
	}
	tick := time.NewTicker(d.cfg.CheckEvery)
	defer tick.Stop()
	for {
		if err := d.check(ctx); err != nil && ctx.Err() == nil {
			d.log.Error().Err(err).Msg("the accounts of the directory could not be checked")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// check asks the directory once for each account. A person for whom it does not answer stays as
// they are, and no account is disabled if it lacks more than half of many people, which is
// rather a mistake in the settings.
func (d *directoryLink) check(ctx context.Context) error {
	accounts, err := d.store.Accounts(ctx)
	if err != nil {
		return err
	}
	line := d.people.Line()
	defer line.Close()
	asked, fails, gone := 0, 0, []store.Identity(nil)
	for _, a := range accounts {
		for _, i := range a.Identities.List() {
			if i.Issuer != ldapIssuer || !a.Active() || fails == mostFails {
				continue
			}
			asked++
			x, err := d.find(ctx, line, i)
			switch {
			case err != nil:
				fails++
				continue
			case x.Denied:
				gone = append(gone, i)
			default:
				err = d.store.Recheck(ctx, x)
			}
			if fails = 0; err != nil {
				return err
			}
		}
	}
	if len(gone) > fewPeople && 2*len(gone) > asked {
		return fmt.Errorf("the directory lacks %d of %d people, or they are in no allowed group: no account was disabled; check base, filter and allowed_groups", len(gone), asked)
	}
	for _, i := range gone {
		x, err := d.find(ctx, line, i) // the check may have taken long
		if err != nil || !x.Denied {
			continue
		}
		if err := d.store.Recheck(ctx, x); errors.Is(err, store.ErrLastAdmin) {
			d.log.Warn().Msg("the directory does not know the last administrator any more; the account stays enabled")
		} else if err != nil {
			return err
		}
	}
	return nil
}

// find asks the directory for a person again. An error is logged already.
func (d *directoryLink) find(ctx context.Context, line *directory.Line, i store.Identity) (store.External, error) {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	p, err := line.Find(ctx, i.Subject)
	d.noteState(ctx, err)
	if errors.Is(err, directory.ErrGone) || errors.Is(err, directory.ErrNotAllowed) {
		return store.External{Identity: i, Provider: ldapName, Denied: true}, nil
	}
	return d.external(p), err
}
