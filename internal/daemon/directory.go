package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/directory"
	"pushbox/internal/instance"
	"pushbox/internal/secret"
	"pushbox/server"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// The directory in identities and in the instance log.
const (
	ldapIssuer = "ldap"
	ldapName   = "the directory"
)

// Reasons why a person may not sign in, in addition to the errors of the directory.
const notAllowed = "the person is in no group of allowed_groups"

// A directoryLink lets users of an LDAP directory sign in, and disables the accounts of users that
// have left it.
type directoryLink struct {
	people *directory.Directory
	cfg    config.LDAP
	store  *store.Store
	log    zerolog.Logger
	away   atomic.Bool // the last question had no answer
	now    func() time.Time

	last record.AccountID // that the check before asked for; the next one begins behind it

	mu     sync.Mutex
	fault  error // why the last check disabled no account, although people were gone; nil: it could
	doubts map[record.Identity]doubt
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
	return &directoryLink{people: people, cfg: cfg, store: s, log: log, now: time.Now, doubts: make(map[record.Identity]doubt)}, nil
}

// CheckDirectory checks the names and filters of the settings of a directory, if there is one. It
// reads no files and asks nothing.
func CheckDirectory(cfg config.LDAP) error {
	if !cfg.Enabled() {
		return nil
	}
	_, err := newDirectory(directory.Options{LDAP: cfg})
	return err
}

func newDirectory(o directory.Options) (*directory.Directory, error) {
	d, err := directory.New(o)
	if err != nil {
		return nil, fmt.Errorf("the setting ldap.%w", err)
	}
	return d, nil
}

// OpenDirectory returns the directory of the settings. It reads the files that they name,
// and asks nothing. groups lists others than those of the settings that people may be in.
func OpenDirectory(cfg config.LDAP, groups func() []string) (*directory.Directory, error) {
	o := directory.Options{LDAP: cfg, OtherGroups: groups}
	var err error
	if o.BindPassword, err = instance.Secret(cfg.BindPassword, cfg.BindPasswordFile, "the setting ldap.bind_password_file"); err != nil {
		return nil, err
	}
	if o.Roots, err = certs.Roots(cfg.CAFile, "the setting ldap.ca_file"); err != nil {
		return nil, err
	}
	return newDirectory(o)
}

func (d *directoryLink) options(o *server.Options) {
	if d != nil {
		o.Directory = d.signIn
	}
}

// signIn asks the directory whose login it is, and then for the password. The errors are
// record.ErrCredentials and action.ErrAway.
func (d *directoryLink) signIn(login string, password secret.Text) store.Elsewhere {
	return func(ctx context.Context) (whose record.Identity, check func(context.Context) (store.External, error), err error) {
		e, err := d.people.Look(ctx, login)
		d.noteState(ctx, err)
		if err != nil {
			return whose, nil, action.ErrAway
		}
		if e.ID != "" {
			whose = identityOf(e.ID)
		}
		return whose, func(ctx context.Context) (store.External, error) { return d.checkPassword(ctx, e, password) }, nil
	}
}

func identityOf(id string) record.Identity { return record.Identity{Issuer: ldapIssuer, Subject: id} }

func (d *directoryLink) checkPassword(ctx context.Context, e directory.Entry, password secret.Text) (store.External, error) {
	p, err := d.people.SignIn(ctx, e, password)
	d.noteState(ctx, err)
	var refused *directory.RefusedError
	switch {
	case errors.Is(err, directory.ErrNotAllowed):
		x := d.external(p)
		x.Denied, x.Why = true, notAllowed
		return x, nil
	case errors.As(err, &refused):
		return store.External{}, &record.RefusedError{Why: "by " + ldapName + ": " + refused.Why}
	case errors.Is(err, directory.ErrCredentials):
		return store.External{}, record.ErrCredentials
	case err != nil:
		return store.External{}, action.ErrAway
	}
	return d.external(p), nil
}

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

func (d *directoryLink) noteState(ctx context.Context, err error) {
	var unavailable *directory.UnavailableError
	switch away := errors.As(err, &unavailable); {
	case away && ctx.Err() == nil && !d.away.Swap(true):
		d.log.Warn().Err(err).Msg("users of the directory cannot sign in")
	case err == nil && d.away.Swap(false): // other errors may come without a question
		d.log.Info().Msg("the directory answers again")
	}
}
