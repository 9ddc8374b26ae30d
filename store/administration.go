package store

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A Role says on whose authority an Actor acts.
type Role uint8

// The roles. The numbers are stored.
const (
	Client   Role = iota // a client of the API or the pages: for its Account, or anonymously
	Operator             // the operator, by a command on the server's machine
	System               // pushbox itself
	Admin                // the user of an administrator's account, on the pages or by the API
)

// administers reports whether the actor may change the instance and what belongs to any
// account.
func (a Actor) administers() bool { return a.Role != Client }

// Kind names what an actor is in the instance log: operator, system, admin, account or
// anonymous.
func (a Actor) Kind() string {
	switch {
	case a.Role == Operator:
		return "operator"
	case a.Role == System:
		return "system"
	case a.Role == Admin:
		return "admin"
	case a.Account != 0:
		return "account"
	default:
		return "anonymous"
	}
}

// proved returns the actor once a password or a session proved its account.
func (a Actor) proved(id record.AccountID) Actor {
	a.Account = id
	return a
}

// isOwn reports whether an administrator acts on their own account. That is refused, so that an
// attacker with a stolen session cannot bypass the password and the second factor.
func (a Actor) isOwn(of record.Account) bool { return a.Role == Admin && a.Account == of.ID }

// An administration changes accounts, API tokens, sessions, webhooks and the key ring for an actor,
// and writes the instance log. No other part of the store calls these methods of the engine, so
// this file alone decides who may make such changes. Each change writes an event unless it is
// Untold.
type administration struct {
	store *Store
	by    Actor
}

// as returns the administration of an actor.
func (s *Store) as(by Actor) administration { return administration{s, by} }

// may returns ErrDenied unless the actor may change what belongs to an account; owner 0
// is the instance.
func (a administration) may(owner record.AccountID) error {
	if a.by.administers() || owner != 0 && a.by.Account == owner {
		return nil
	}
	return record.ErrDenied
}

// event returns an event that the actor causes now.
func (a administration) event(k record.AdminKind, m matter) record.AdminEvent {
	return a.store.sealAdminEvent(a.store.ring.Load(), a.by, k, m)
}

// createAccount is for every actor: the server decides who may sign up.
func (a administration) createAccount(ctx context.Context, one record.Account) (record.AccountID, error) {
	return a.createAccountBy(ctx, one, "")
}

// createAccountBy is createAccount with a detail of the event.
func (a administration) createAccountBy(ctx context.Context, one record.Account, how string) (record.AccountID, error) {
	return sealing(ctx, a.store, func(ctx context.Context) (record.AccountID, error) {
		return cold.CreateAccount(ctx, a.store.engine, one, a.event(record.AdminAccountCreate, matter{email: one.Email, detail: how}))
	})
}

func (a administration) createFirstAccount(ctx context.Context, one record.Account) (record.AccountID, error) {
	return sealing(ctx, a.store, func(ctx context.Context) (record.AccountID, error) {
		return cold.CreateFirstAccount(ctx, a.store.engine, one, a.event(record.AdminAccountCreate, matter{email: one.Email}))
	})
}

// lastAdminTries bounds the searches for another administrator. A search repeats only if the
// account that it found has lost the role meanwhile.
const lastAdminTries = 8

func (a administration) changeAccount(ctx context.Context, id record.AccountID, session record.SessionDigest, r record.AccountRule) (record.AccountChange, error) {
	return sealing(ctx, a.store, func(ctx context.Context) (record.AccountChange, error) {
		if err := a.may(id); err != nil {
			return record.AccountChange{}, err
		}
		defer a.store.watchers.forget(id)
		c, err := cold.ChangeAccount(ctx, a.store.engine, id, session, r)
		for tries := 0; errors.Is(err, record.ErrLastAdmin) && tries < lastAdminTries; tries++ { // or none was named: the engine looks at one account alone
			other, findErr := a.store.adminBeside(ctx, id)
			if findErr != nil {
				return record.AccountChange{}, findErr
			}
			c, err = cold.ChangeAccount(ctx, a.store.engine, id, session, func(one record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
				next, change, e, err := r(one)
				change.OtherAdmin = other
				return next, change, e, err
			})
		}
		return c, err
	})
}

func (a administration) removeAccount(ctx context.Context, one record.Account) error {
	return a.store.keeping(ctx, func(ctx context.Context) error {
		if err := a.may(0); err != nil {
			return err
		}
		return cold.RemoveAccount(ctx, a.store.engine, one.ID, a.event(record.AdminAccountRemoved, about(one)))
	})
}

func (a administration) removeSession(ctx context.Context, owner record.Account, id record.SessionID, k record.AdminKind) error {
	return a.store.keeping(ctx, func(ctx context.Context) error {
		if err := a.may(owner.ID); err != nil {
			return err
		}
		return cold.RemoveSession(ctx, a.store.engine, owner.ID, id, a.event(k, about(owner)))
	})
}

// createToken is for administrators: a client proves its account first, in CreateOwnToken.
func (a administration) createToken(ctx context.Context, email string, t record.APIToken) (record.TokenID, error) {
	return sealing(ctx, a.store, func(ctx context.Context) (record.TokenID, error) {
		if err := a.may(0); err != nil {
			return 0, err
		}
		return cold.CreateToken(ctx, a.store.engine, t, a.event(record.AdminTokenCreate, matter{t.Owner, email, 0, tokenSays(t)}))
	})
}

// removeToken returns ErrNotFound also for a token of another account.
func (a administration) removeToken(ctx context.Context, id record.TokenID) error {
	return a.store.keeping(ctx, func(ctx context.Context) error {
		owner := a.by.Account
		switch {
		case a.by.administers():
			owner = 0
		case owner == 0:
			return record.ErrNotFound
		}
		return cold.RemoveToken(ctx, a.store.engine, owner, id, a.event(record.AdminTokenRevoke, matter{subject: uint64(id)}))
	})
}

func (a administration) createHook(ctx context.Context, email string, h record.Hook) (record.HookID, error) {
	return sealing(ctx, a.store, func(ctx context.Context) (record.HookID, error) {
		if err := a.may(h.Owner); err != nil {
			return 0, err
		}
		return cold.CreateHook(ctx, a.store.engine, h, a.event(record.AdminWebhookAdd, matter{h.Owner, email, 0, eventNames(h.Events)}))
	})
}

// eventNames lists the names of events.
func eventNames(s record.EventSet) string {
	var names []string
	for _, e := range s.Events() {
		names = append(names, e.String())
	}
	return strings.Join(names, ", ")
}

func (a administration) setHook(ctx context.Context, h record.Hook) error {
	return a.store.keeping(ctx, func(ctx context.Context) error {
		if err := a.may(h.Owner); err != nil {
			return err
		}
		k := record.AdminWebhookEnable
		if h.Disabled {
			k = record.AdminWebhookDisable
		}
		return cold.SetHook(ctx, a.store.engine, h, a.event(k, aboutHook(h)))
	})
}

func (a administration) removeHook(ctx context.Context, h record.Hook) error {
	return a.store.keeping(ctx, func(ctx context.Context) error {
		if err := a.may(h.Owner); err != nil {
			return err
		}
		return cold.RemoveHook(ctx, a.store.engine, h.Owner, h.ID, a.event(record.AdminWebhookRemove, aboutHook(h)))
	})
}

// setKeyRing makes a key ring durable, sealed under root. The event has kind k.
func (a administration) setKeyRing(ctx context.Context, root seal.RootKey, r *seal.Ring, k record.AdminKind, detail string) error {
	if err := a.may(0); err != nil {
		return err
	}
	return a.store.engine.SetKeyRing(ctx, r.Sealed(root), r, a.store.sealAdminEvent(r, a.by, k, matter{detail: detail}))
}

// note adds an event for an action that was completed elsewhere. If there is no room for the event,
// the action still counts: a full disk must not keep an administrator from a backup.
func (a administration) note(ctx context.Context, k record.AdminKind, m matter) error {
	return a.store.keeping(ctx, func(ctx context.Context) error {
		return instead(cold.AddAdminEvent(ctx, a.store.engine, a.event(k, m)), record.ErrFull, nil)
	})
}

// about returns the matter of an event about an account.
func about(one record.Account) matter { return matter{account: one.ID, email: one.Email} }

// aboutHook returns the matter of an event about a webhook that exists.
func aboutHook(h record.Hook) matter { return matter{account: h.Owner, subject: uint64(h.ID)} }

// with returns a copy of the matter with a detail.
func (m matter) with(detail string) matter {
	m.detail = detail
	return m
}

// maxAccountsRead is how many account IDs one call of FindAccounts passes at most.
const maxAccountsRead = 20 * listBatch

// FindAccounts lists accounts whose addresses contain words, newest first: up to PageSize
// of those with a lower ID than before, or of all if before is 0. It reads a bounded number
// of accounts, so it may find fewer. rest is the before of the next call; 0 if there are no
// more accounts.
func (s *Store) FindAccounts(ctx context.Context, words string, before record.AccountID) (found []record.Account, rest record.AccountID, err error) {
	last, err := cold.LastAccount(ctx, s.engine)
	if err != nil {
		return nil, 0, err
	}
	if before == 0 || before > last {
		before = last + 1
	}
	words = accountKey(words)
	for range maxAccountsRead / listBatch {
		if before <= 1 {
			return found, 0, nil
		}
		after := before - min(before, listBatch+1)
		list, err := cold.Accounts(ctx, s.engine, after, int(before-1-after))
		if err != nil {
			return nil, 0, err
		}
		for _, a := range slices.Backward(list) { // where IDs are missing, the list continues past before
			if a.ID >= before || !strings.Contains(a.Email, words) {
				continue
			}
			if len(found) == PageSize {
				return found, found[PageSize-1].ID, nil
			}
			found = append(found, a)
		}
		before = after + 1
	}
	return found, before, nil
}

// An Actor identifies the client or the process that acts, for permissions and the audit log.
type Actor struct {
	Role      Role
	Account   record.AccountID // of a Client; 0: anonymous
	Client    string           // the key of limits: an IPv4 address or an IPv6 /64
	Marks     []secret.Text    // that the browser got from a Store: see NewSession.Mark and PushInfo.Mark
	Local     bool             // a program on this machine: its pushes do not count against a client's room
	Addr      netip.Addr       // for pushes that are limited to networks; zero: it is not known
	IP        string           // for logs, which may not have all of the address
	UserAgent string
	Referrer  secret.Text // it may hold a link

	ReceiptCode secret.Text // the code of the receipt of the present push
	Mailbox     Mailbox     // for a present push that names its recipient
}

// MaxTallied is how many pushes, and how many events, Activity reads at most.
const MaxTallied = 50_000

// Activity has the numbers of pushes and events on each of the last days, which begin at midnight
// UTC. They are counted from records. A push without an account leaves no record once it has ended,
// so only pushes of accounts count.
type Activity struct {
	First            time.Time // the first day
	Created, Ended   []int     // pushes made by accounts here, without imported ones; nil: too many to count
	SignIns, Refused []int     // nil: there are too many events to count
}

// Activity counts what happened in the last days. longest is the longest time limit of a push.
func (s *Store) Activity(ctx context.Context, days int, longest time.Duration) (a Activity, err error) {
	a.First = s.time.Read().Now.UTC().Truncate(record.Day).Add(-time.Duration(days-1) * record.Day)
	if err := s.tallyPushes(ctx, &a, days, longest); err != nil {
		return a, err
	}
	return a, s.tallySignIns(ctx, &a, days)
}

// count adds one to the day of a time.
func (a *Activity) count(days []int, at time.Time) {
	if i := int(at.Sub(a.First) / record.Day); !at.Before(a.First) && i < len(days) {
		days[i]++
	}
}

// tallyPushes reads the pushes that can have been live since the first day. Their IDs begin
// with the time of their creation.
func (s *Store) tallyPushes(ctx context.Context, a *Activity, days int, longest time.Duration) error {
	var after record.ID
	binary.BigEndian.PutUint64(after[:8], uint64(a.First.Add(-longest).UnixMilli())<<16)
	created, ended := make([]int, days), make([]int, days)
	for read := 0; ; {
		ps, err := s.engine.Scan(ctx, after, listBatch)
		if err != nil {
			return err
		}
		for _, p := range ps {
			after = p.ID
			if p.Owner == 0 {
				continue
			}
			a.count(created, p.CreatedAt)
			if !p.Live() {
				a.count(ended, p.ExpiredAt)
			}
		}
		if read += len(ps); read > MaxTallied {
			return nil
		}
		if len(ps) < listBatch {
			a.Created, a.Ended = created, ended
			return nil
		}
	}
}

// tallySignIns reads the instance log from its end. It opens no event.
func (s *Store) tallySignIns(ctx context.Context, a *Activity, days int) error {
	last, err := cold.LastAdminEvent(ctx, s.engine)
	if err != nil {
		return err
	}
	done, refused := make([]int, days), make([]int, days)
	for before := last + 1; ; {
		after := before - min(before, listBatch+1)
		list, err := cold.AdminEvents(ctx, s.engine, after, int(before-1-after))
		if err != nil {
			return err
		}
		for _, e := range list {
			switch e.Kind {
			case record.AdminSignIn:
				a.count(done, e.At)
			case record.AdminSignInRefused:
				a.count(refused, e.At)
			}
		}
		if after == 0 || len(list) == 0 || list[0].At.Before(a.First) {
			a.SignIns, a.Refused = done, refused
			return nil
		}
		if before = after + 1; last-after > MaxTallied {
			return nil
		}
	}
}
