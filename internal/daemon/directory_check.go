package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"pushbox/internal/directory"
	"pushbox/store"
	"pushbox/store/record"
)

// Bounds of a check.
const (
	findTime  = 30 * time.Second // for one person
	mostFails = 3                // users in a row without an answer of the directory, before a check ends
	goneFor   = 15 * time.Minute // between two checks that do not find a person, at least, before the account is disabled
)

// fewPeople is how many people at most a check disables, whatever part of all they are.
const fewPeople = 3

// A doubt is why a check did not find that a person may still sign in.
type doubt struct {
	email string
	why   string
	gone  time.Time // since when each check finds the person gone; zero: the last one does not
	kept  bool      // the account is the last administrator's, so it stays enabled
}

func (d doubt) String() string {
	ends := "the account does not change"
	switch {
	case d.kept:
		ends = "the account stays enabled, because it is the only administrator"
	case !d.gone.IsZero():
		ends = "the account is disabled if this is still the case after " + d.gone.Add(goneFor).UTC().Format(time.RFC3339)
	}
	return d.email + ": " + d.why + "; " + ends
}

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

type personOf struct {
	account record.Account
	record.Identity
}

// toAsk lists the users of active accounts, those first that the last check did not reach.
func (d *directoryLink) toAsk(ctx context.Context) (all []personOf, err error) {
	accounts, err := d.store.Accounts(ctx)
	for _, a := range accounts {
		for _, i := range a.Identities.List() {
			if i.Issuer == ldapIssuer && a.Active() {
				all = append(all, personOf{a, i})
			}
		}
	}
	next := slices.IndexFunc(all, func(p personOf) bool { return p.account.ID > d.last })
	return slices.Concat(all[max(next, 0):], all[:max(next, 0)]), err
}

// check asks the directory about each account, until it does not answer for some users in a row.
// The next check begins after them, so that they do not block it. If the answer about a user is
// unclear, the account does not change. If the user is gone, another check disables the account
// goneFor later, so that a short failure does not disable accounts. If the directory lacks more
// than half of many users, check disables none, since that is probably a mistake in the settings.
func (d *directoryLink) check(ctx context.Context) error {
	people, err := d.toAsk(ctx)
	if err != nil {
		return err
	}
	d.forgetOthers(people)
	line := d.people.Line()
	defer line.Close()
	asked, fails, gone := 0, 0, []personOf(nil)
	for _, p := range people {
		if fails == mostFails {
			break
		}
		asked, d.last = asked+1, p.account.ID
		x, err := d.find(ctx, line, p.Identity)
		var unclear *directory.PersonError
		switch {
		case errors.As(err, &unclear):
			d.note(p, unclear.Why, false)
		case err != nil:
			fails++
			continue
		case x.Denied:
			gone = append(gone, p)
		default:
			d.note(p, "", false)
			err = d.store.Recheck(ctx, x)
		}
		if fails = 0; err != nil && unclear == nil {
			return err
		}
	}
	if len(gone) > fewPeople && 2*len(gone) > asked {
		err := fmt.Errorf("the directory lacks %d of %d users, or they are in no allowed group: no account was disabled; check base, filter and allowed_groups", len(gone), asked)
		d.distrust(gone, err)
		return err
	}
	d.distrust(nil, nil)
	return d.disable(ctx, line, gone)
}

// disable disables the accounts of those people who have been gone for long enough.
func (d *directoryLink) disable(ctx context.Context, line *directory.Line, gone []personOf) error {
	for _, p := range gone {
		x, err := d.find(ctx, line, p.Identity) // the check may have taken long
		if err != nil || !x.Denied || d.now().Sub(d.note(p, x.Why, true)) < goneFor {
			continue
		}
		switch err := d.store.Recheck(ctx, x); {
		case errors.Is(err, record.ErrLastAdmin):
			d.keep(p)
		case err != nil:
			return err
		default:
			d.note(p, "", false)
			d.logOf(p).Str("why", x.Why).Msg("an account was disabled, because its user is no longer in the directory")
		}
	}
	return nil
}

func (d *directoryLink) logOf(p personOf) *zerolog.Event {
	return d.log.Warn().Uint64("account_id", uint64(p.account.ID))
}

// note keeps why a check did not find that a person may still sign in, empty if it did, and logs
// it if that is news. It returns since when the person is gone.
func (d *directoryLink) note(p personOf, why string, gone bool) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if why == "" {
		delete(d.doubts, p.Identity)
		return time.Time{}
	}
	before := d.doubts[p.Identity]
	now := doubt{email: p.account.Email, why: why}
	if gone {
		now.gone, now.kept = before.gone, before.kept
		if now.gone.IsZero() {
			now.gone = d.now()
		}
	}
	d.doubts[p.Identity] = now
	switch {
	case why == before.why:
	case gone:
		d.logOf(p).Str("why", why).Msg("a user is no longer in the directory: the account is disabled if a check finds the same 15 minutes later")
	default:
		d.logOf(p).Str("why", why).Msg("the directory does not say whether a person has left: the account does not change")
	}
	return now.gone
}

func (d *directoryLink) keep(p personOf) {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.doubts[p.Identity]
	if !one.kept {
		d.logOf(p).Msg("the directory no longer knows the last administrator; the account stays enabled")
	}
	one.kept = true
	d.doubts[p.Identity] = one
}

// distrust keeps why a check disabled no account; nil if it could. That it found those people gone
// does not count.
func (d *directoryLink) distrust(gone []personOf, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = why
	for _, p := range gone {
		delete(d.doubts, p.Identity)
	}
}

// forgetOthers forgets the doubts of all other people.
func (d *directoryLink) forgetOthers(people []personOf) {
	asked := make(map[record.Identity]bool, len(people))
	for _, p := range people {
		asked[p.Identity] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.doubts, func(i record.Identity, _ doubt) bool { return !asked[i] })
}

func (d *directoryLink) unsure() (all []string) {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.doubts {
		all = append(all, one.String())
	}
	slices.Sort(all)
	if d.fault != nil {
		all = append([]string{d.fault.Error()}, all...)
	}
	return all
}

// find asks the directory for a person again. An error is logged already, but a
// *directory.PersonError.
func (d *directoryLink) find(ctx context.Context, line *directory.Line, i record.Identity) (store.External, error) {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	p, err := line.Find(ctx, i.Subject)
	d.noteState(ctx, err)
	x := d.external(p)
	switch {
	case errors.Is(err, directory.ErrGone):
		x = store.External{Identity: i, Provider: ldapName, Denied: true, Why: err.Error()}
	case errors.Is(err, directory.ErrNotAllowed):
		x = store.External{Identity: i, Provider: ldapName, Denied: true, Why: notAllowed}
	default:
		return x, err
	}
	return x, nil
}
