package store

import (
	"context"
	"slices"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// Rules are what pushes must have beyond the Terms of their kind.
type Rules struct {
	Passphrase bool // each has one
	Encryption bool // the sender encrypts them
	NoMail     bool // no mail has their links
}

// A Policy says what the pushes of an account may be.
type Policy struct {
	Name   string                // empty: it is what holds for all
	Groups []string              // of a provider: their people get the policy when they sign in; none: administrators give it
	Terms  map[record.Kind]Terms // a kind without terms is disabled
	Files  FileLimits
	Room   record.Room // that the account may have; 0: no limit

	Unconfirmed bool // the address of the account is not: its pushes count for its client
	Rules
}

// Policies lists the policies that accounts can have.
func (s *Store) Policies() []Policy { return s.options().Policies }

// Policy returns the policy of that name. If there is none, it returns what holds for all.
func (s *Store) Policy(name string) Policy {
	o := s.options()
	if i := o.policy(name); i >= 0 {
		return o.Policies[i]
	}
	return Policy{Terms: o.Terms, Files: o.Files, Room: o.Space.Room.Account, Rules: o.Rules}
}

// LostPolicies lists the policies of accounts that the settings do not have.
func (s *Store) LostPolicies(ctx context.Context) (names []string, err error) {
	accounts, err := s.Accounts(ctx)
	for _, a := range accounts {
		if a.Policy != "" && s.options().policy(a.Policy) < 0 && !slices.Contains(names, a.Policy) {
			names = append(names, a.Policy)
		}
	}
	return names, err
}

// PolicyGroups lists the groups of all policies.
func (s *Store) PolicyGroups() (all []string) {
	for _, p := range s.Policies() {
		all = append(all, p.Groups...)
	}
	return all
}

// policy returns the place of a policy in the list; -1 if there is none of that name.
func (o *Options) policy(name string) int {
	return slices.IndexFunc(o.Policies, func(p Policy) bool { return p.Name == name })
}

// PolicyOf returns the policy of the actor's account. What holds for all holds also for
// anonymous clients.
func (s *Store) PolicyOf(ctx context.Context, by Actor) (Policy, error) {
	if by.Account == 0 || len(s.Policies()) == 0 && s.options().Space.Room.Client == (record.Room{}) { // all have the same
		return s.Policy(""), nil
	}
	a, err := cold.Account(ctx, s.engine, by.Account)
	return s.policyFor(a), instead(err, record.ErrNotFound, nil) // the change that follows refuses an account that is gone
}

// policyFor is the policy of an account. One that is not confirmed has no more room than an
// anonymous client: else signing up would lift the bounds of those.
func (s *Store) policyFor(a record.Account) Policy {
	p := s.Policy(a.Policy)
	if p.Unconfirmed = a.Unconfirmed; a.Unconfirmed {
		p.Room = atMost(p.Room, s.options().Space.Room.Client)
	}
	return p
}

// check adds to bad what the rules ask of a new push beyond the terms of its kind. They ask
// nothing of an answer: only the owner of its request gets its link, and the request says
// whether it is encrypted.
func (r Rules) check(p record.Push, in NewPush, bad *record.InvalidError) {
	if p.Kind == 0 || !in.Request.IsZero() { // such pushes are disabled, or it is an answer
		return
	}
	if r.Passphrase && !p.Protected {
		bad.Add(FieldPassphrase, "is required by this server's rules")
	}
	if r.Encryption && !p.ClientEncrypted {
		bad.Add(FieldPayload, "must be encrypted before it is sent, by this server's rules: use the page, or pushbox push --end-to-end")
	}
}

// checkMail refuses mail with a link where the rules do.
func (r Rules) checkMail(to []string, bad *record.InvalidError) {
	if r.NoMail && len(to) > 0 {
		bad.Add(FieldMailTo, "must be empty: by this server's rules, no mail has links")
	}
}

// SetPolicy gives an account the policy of that name, or none if the name is empty. If the
// policy has groups, the next sign-in at a provider decides anew.
//
// Errors: *InvalidError if the settings have none of that name; ErrNotFound; ErrDenied for a client.
func (s *Store) SetPolicy(ctx context.Context, by Actor, email, name string) error {
	if name != "" && s.options().policy(name) < 0 {
		return invalidField(FieldPolicy, "is none of the policies of the settings")
	}
	a, err := s.account(ctx, email)
	switch {
	case !by.administers():
		return record.ErrDenied
	case err != nil:
		return err
	}
	return s.setPolicy(ctx, by, a, name, "")
}

// setPolicy gives an account another policy, or none. how is the end of the event's detail.
func (s *Store) setPolicy(ctx context.Context, by Actor, a record.Account, name, how string) error {
	return s.keeping(ctx, func(ctx context.Context) error {
		detail := name
		if name == "" {
			detail = "none"
		}
		event := s.as(by).event(record.AdminPolicyChange, about(a).with(detail+how))
		_, err := s.as(by).changeAccount(ctx, a.ID, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			a.Policy = name
			return a, record.SessionChange{}, event, nil
		})
		return err
	})
}

// followGroups gives an account the first policy that has one of the person's groups. Where
// none has, a policy with groups is taken away. One that has none stays: an administrator
// gave it.
func (s *Store) followGroups(ctx context.Context, by Actor, a record.Account, x External) error {
	o := s.options()
	next, now := "", o.policy(a.Policy)
	if now >= 0 && len(o.Policies[now].Groups) == 0 || now < 0 && a.Policy != "" {
		next = a.Policy
	}
	if now < 0 || len(o.Policies[now].Groups) > 0 {
		fits := func(p Policy) bool {
			return slices.ContainsFunc(p.Groups, func(g string) bool { return slices.Contains(x.Groups, g) })
		}
		if i := slices.IndexFunc(o.Policies, fits); i >= 0 {
			next = o.Policies[i].Name
		}
	}
	if next == a.Policy {
		return nil
	}
	by.Role = System
	return s.setPolicy(ctx, by, a, next, ", "+x.by())
}
