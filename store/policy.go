package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// Rules are requirements of pushes beyond the Terms of their kind.
type Rules struct {
	Passphrase bool // each push must have one
	Encryption bool // the sender must encrypt them
	NoMail     bool // their links must not be mailed

	TypedReveal bool // people type a number to open them
}

// A Policy has the limits and rules of an account's pushes.
type Policy struct {
	Name   string                // empty: the general settings
	Groups []string              // of a provider: their members get the policy when they sign in; none: administrators assign it
	Terms  map[record.Kind]Terms // a kind without terms is disabled
	Files  FileLimits
	Room   record.Room // that the account may have; 0: no limit

	Unconfirmed bool // the address of the account is not confirmed: its pushes count for its client
	Rules
}

// Policies lists the policies that accounts can have.
func (s *Store) Policies() []Policy { return s.options().Policies }

// Policy returns the policy of that name, or the general settings if there is none.
func (s *Store) Policy(name string) Policy {
	o := s.options()
	if i := o.policy(name); i >= 0 {
		return o.Policies[i]
	}
	return Policy{Terms: o.Terms, Files: o.Files, Room: o.Space.Room.Account, Rules: o.Rules}
}

// LostPolicies lists the policies of accounts that the settings do not define.
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

// policy returns the index of a policy in the list; -1 if no policy has that name.
func (o *Options) policy(name string) int {
	return slices.IndexFunc(o.Policies, func(p Policy) bool { return p.Name == name })
}

// PolicyOf returns the policy of the actor's account. Anonymous clients have the general settings.
func (s *Store) PolicyOf(ctx context.Context, by Actor) (Policy, error) {
	if by.Account == 0 || len(s.Policies()) == 0 && s.options().Space.Room.Client == (record.Room{}) { // all accounts have the same policy
		return s.Policy(""), nil
	}
	a, err := cold.Account(ctx, s.engine, by.Account)
	return s.policyFor(a), instead(err, record.ErrNotFound, nil) // the following change refuses a removed account
}

// policyFor returns the policy of an account. An unconfirmed account has no more room than an
// anonymous client: else a client could sign up to avoid its bounds.
func (s *Store) policyFor(a record.Account) Policy {
	p := s.Policy(a.Policy)
	if p.Unconfirmed = a.Unconfirmed; a.Unconfirmed {
		p.Room = atMost(p.Room, s.options().Space.Room.Client)
	}
	return p
}

// check adds to bad what a new push lacks by the rules. They do not apply to an answer: only the
// owner of its request gets its link, and the request says whether it is encrypted.
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

// checkMail refuses mail with a link if the rules do.
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
		return invalidField(FieldPolicy, "is not a policy of the settings")
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

// setPolicy gives an account another policy, or none. how ends the event's detail.
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

// followGroups gives an account the first policy that has one of the person's groups. If no policy
// has one, a policy with groups is taken away. A policy without groups stays, because an
// administrator assigned it.
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

// atMost returns the lower of two limits; 0 means no limit.
func atMost(r record.Room, o record.Room) record.Room {
	if r.Pushes == 0 || o.Pushes != 0 && o.Pushes < r.Pushes {
		r.Pushes = o.Pushes
	}
	if r.Bytes == 0 || o.Bytes != 0 && o.Bytes < r.Bytes {
		r.Bytes = o.Bytes
	}
	return r
}

// holder returns the Holder for the record of a push. It is the client also for an unconfirmed
// account, so that a client cannot avoid its bounds with new accounts.
func (s *Store) holder(by Actor, policy Policy) record.Holder {
	if by.Account != 0 && !policy.Unconfirmed || by.Local || by.Client == "" {
		return record.Holder{}
	}
	return s.ring.Load().MAC("anonymous client " + by.Client) // no url_token has a space
}

// HasRoom returns a *RoomError if a push with files of that size would be refused now, so that an
// upload can be stopped early. CreatePush decides.
func (s *Store) HasRoom(ctx context.Context, by Actor, bytes int64) error {
	policy, err := s.PolicyOf(ctx, by)
	if err != nil {
		return err
	}
	of := record.Push{Owner: by.Account, Holder: s.holder(by, policy)}
	if of.RoomOf() == record.RoomOfAnonymous { // no client is known whose room it could be
		return nil
	}
	return s.hasRoom(ctx, of, record.Room{Pushes: 1, Bytes: bytes}, policy.Room)
}

// hasRoom returns a *RoomError if another push of that Owner and Holder with that size would be
// refused now. most is their limit: see Entry.Most.
func (s *Store) hasRoom(ctx context.Context, of record.Push, more, most record.Room) error {
	most = s.opts.Load().Space.Room.Most(of, most)
	if most == (record.Room{}) {
		return nil
	}
	has, err := s.engine.Rooms(ctx, []record.Push{of})
	if err == nil && !has[0].Plus(more).Within(most) {
		err = &record.RoomError{Of: of.RoomOf()}
	}
	return err
}

// AccountRooms returns the room of those accounts that have a live push, or files that can
// still be downloaded.
func (s *Store) AccountRooms(ctx context.Context, of []record.AccountID) (map[record.AccountID]record.Room, error) {
	senders := make([]record.Push, len(of))
	for i, id := range of {
		senders[i].Owner = id
	}
	has, err := s.engine.Rooms(ctx, senders)
	if err != nil {
		return nil, err
	}
	rooms := make(map[record.AccountID]record.Room)
	for i, r := range has {
		if r != (record.Room{}) {
			rooms[of[i]] = r
		}
	}
	return rooms, nil
}

// A Purge selects live pushes without an account.
type Purge struct {
	OlderThan  time.Duration // created longer ago than this
	LargerThan int64         // with more bytes than this
	DryRun     bool          // only count them
}

// PurgeAnonymous removes the pushes of a Purge, with their files and audit logs, and returns the
// room that they used. Their links end at once. If it is interrupted, the pushes that it removed
// stay removed. ErrDenied for a client.
func (s *Store) PurgeAnonymous(ctx context.Context, by Actor, in Purge) (gone record.Room, err error) {
	if !by.administers() {
		return gone, record.ErrDenied
	}
	before := s.time.Read().Ends.Add(-in.OlderThan)
	for ps, err := range s.scan(ctx) {
		if err != nil {
			return gone, err
		}
		var chosen []record.Push
		for _, p := range ps {
			if takes := p.Room(); p.Owner == 0 && takes.Bytes > in.LargerThan && !p.CreatedAt.After(before) {
				chosen, gone = append(chosen, p), gone.Plus(takes)
			}
		}
		if in.DryRun || len(chosen) == 0 {
			continue
		}
		if err := s.purge(ctx, chosen); err != nil {
			return gone, err
		}
	}
	if in.DryRun {
		return gone, nil
	}
	err = s.freeOrphans(ctx)
	return gone, errors.Join(err, s.as(by).note(ctx, record.AdminPurge, matter{detail: fmt.Sprintf("%d pushes, %d bytes", gone.Pushes, gone.Bytes)}))
}
