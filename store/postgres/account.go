package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

const accountColumns = "a.id, a.email, a.identities, a.value"

// scanAccount reads the columns of an account, which must agree, and its row.
func (s sealer) scanAccount(r pgx.Row) (a record.Account, stored []byte, err error) {
	var id int64
	var email []byte
	var identities [][]byte
	if err := r.Scan(&id, &email, &identities, &stored); err != nil {
		return a, nil, err
	}
	if err := s.read(tableAccount, uint64Key(uint64(id)), stored, &a); err != nil {
		return record.Account{}, nil, err
	}
	if uint64(a.ID) != uint64(id) {
		return record.Account{}, nil, mismatch(tableAccount, "id")
	}
	if a.Email != string(email) {
		return record.Account{}, nil, mismatch(tableAccount, "email")
	}
	if !slices.EqualFunc(identitiesOf(a), identities, bytes.Equal) {
		return record.Account{}, nil, mismatch(tableAccount, "identities")
	}
	return a, stored, nil
}

func (s sealer) listedAccount(r pgx.CollectableRow) (record.Account, error) {
	a, _, err := s.scanAccount(r)
	return a, err
}

// identitiesOf is the column identities of an account.
func identitiesOf(a record.Account) [][]byte {
	all := [][]byte{}
	for _, d := range a.Identities.Digests() {
		all = append(all, bytes.Clone(d[:]))
	}
	return all
}

// wantFree returns record.ErrIdentityTaken if an account other than id has an identity of a.
func wantFree(ctx context.Context, c *pgxpool.Conn, id record.AccountID, a record.Account) error {
	if a.Identities == "" {
		return nil
	}
	var taken bool
	err := c.QueryRow(ctx, "select exists (select from account where identities && $1 and id <> $2)", identitiesOf(a), int64(id)).Scan(&taken)
	if err == nil && taken {
		err = decide(record.ErrIdentityTaken)
	}
	return err
}

// account reads an account and its row, or returns record.ErrNotFound.
func (s sealer) account(ctx context.Context, c *pgxpool.Conn, id record.AccountID) (record.Account, []byte, error) {
	a, stored, err := s.scanAccount(c.QueryRow(ctx, "select "+accountColumns+" from account a where id = $1", int64(id)))
	if errors.Is(err, pgx.ErrNoRows) {
		err = decide(record.ErrNotFound)
	}
	return a, stored, err
}

// CreateAccount keeps a new account under a new ID, which it returns.
func (db *DB) CreateAccount(ctx context.Context, a record.Account, e record.AdminEvent) (record.AccountID, error) {
	return db.createAccount(ctx, a, e, "select exists (select from account where email = $1)", []byte(a.Email))
}

// CreateFirstAccount is CreateAccount if there is no account, else record.ErrExists.
func (db *DB) CreateFirstAccount(ctx context.Context, a record.Account, e record.AdminEvent) (record.AccountID, error) {
	return db.createAccount(ctx, a, e, "select exists (select from account)")
}

func (db *DB) createAccount(ctx context.Context, account record.Account, e record.AdminEvent, taken string, args ...any) (id record.AccountID, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	err = db.administer(ctx, func(ctx context.Context, c *pgxpool.Conn, a *change) error {
		var there bool
		if err := c.QueryRow(ctx, taken, args...).Scan(&there); err != nil {
			return err
		}
		if there {
			return decide(record.ErrExists)
		}
		if err := wantFree(ctx, c, 0, account); err != nil {
			return err
		}
		if id, err = a.addAccount(account); err != nil {
			return err
		}
		e.Account = id
		return a.tell(e)
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

// addAccount inserts an account whose address and identities are free under a new ID.
func (a *change) addAccount(account record.Account) (record.AccountID, error) {
	a.head.account++
	account.ID = record.AccountID(a.head.account)
	stored, err := a.seal(tableAccount, uint64Key(a.head.account), account)
	if err != nil {
		return 0, decide(err)
	}
	a.insert(tableAccount, [][2]string{{"id", "bigint"}, {"email", "bytea"}, {"identities", "bytea[]"}, {"value", "bytea"}}, int64(account.ID), []byte(account.Email), identitiesOf(account), stored)
	return account.ID, nil
}

// LastAccount returns the last ID that was given to an account; 0 in a new store.
func (db *DB) LastAccount(ctx context.Context) (record.AccountID, error) {
	h, err := db.headNow(ctx)
	return record.AccountID(h.account), err
}

// Account returns the account, or record.ErrNotFound.
func (db *DB) Account(ctx context.Context, id record.AccountID) (record.Account, error) {
	return one(ctx, db, sealer.listedAccount, "select "+accountColumns+" from account a where id = $1", int64(id))
}

// AccountByEmail returns the account with that address, or record.ErrNotFound.
func (db *DB) AccountByEmail(ctx context.Context, email string) (record.Account, error) {
	return one(ctx, db, sealer.listedAccount, "select "+accountColumns+" from account a where email = $1", []byte(email))
}

// AccountByIdentity returns the account with that identity, or record.ErrNotFound.
func (db *DB) AccountByIdentity(ctx context.Context, d record.IdentityDigest) (record.Account, error) {
	return one(ctx, db, sealer.listedAccount, "select "+accountColumns+" from account a where identities @> $1", [][]byte{d[:]})
}

// one is listed for a single row; record.ErrNotFound if there is none.
func one[T any](ctx context.Context, db *DB, each func(s sealer, r pgx.CollectableRow) (T, error), query string, args ...any) (v T, err error) {
	list, err := listed(ctx, db, each, query, args...)
	switch {
	case err != nil:
		return v, err
	case len(list) == 0:
		return v, record.ErrNotFound
	default:
		return list[0], nil
	}
}

// Accounts lists accounts by ID, from the first after the one given.
func (db *DB) Accounts(ctx context.Context, after record.AccountID, limit int) ([]record.Account, error) {
	first, ok := column(after)
	if !ok {
		limit = 0
	}
	return listed(ctx, db, sealer.listedAccount, "select "+accountColumns+" from account a where id > $1 order by id limit $2", first, limit)
}

// ChangeAccount applies r to the account and to its sessions; the ID stays as it is.
func (db *DB) ChangeAccount(ctx context.Context, id record.AccountID, by record.SessionDigest, r record.AccountRule) (done record.AccountChange, err error) {
	end, err := db.begin(ctx)
	if err != nil {
		return done, err
	}
	defer end()
	err = db.administer(ctx, func(ctx context.Context, c *pgxpool.Conn, a *change) (err error) {
		done, err = a.changeAccount(ctx, c, id, by, r)
		return err
	})
	if err != nil {
		return record.AccountChange{}, err
	}
	return done, nil
}

// changeAccount decides everything before it writes.
func (a *change) changeAccount(ctx context.Context, c *pgxpool.Conn, id record.AccountID, by record.SessionDigest, r record.AccountRule) (done record.AccountChange, err error) {
	if err := a.wantSession(ctx, c, id, by); err != nil {
		return done, err
	}
	old, _, err := a.account(ctx, c, id)
	if err != nil {
		return done, err
	}
	var change record.SessionChange
	var e record.AdminEvent
	var ruleErr error
	if err := record.CatchPanic(func() { done.Account, change, e, ruleErr = r(old) }); err != nil || ruleErr != nil {
		return done, decide(cmp.Or(err, ruleErr))
	}
	done.Account.ID = old.ID
	if done.Account.Email != old.Email {
		var taken bool
		if err := c.QueryRow(ctx, "select exists (select from account where email = $1)", []byte(done.Account.Email)).Scan(&taken); err != nil {
			return done, err
		}
		if taken {
			return done, decide(record.ErrExists)
		}
	}
	if done.Account.Identities != old.Identities {
		if err := wantFree(ctx, c, id, done.Account); err != nil {
			return done, err
		}
	}
	if old.Administers() && !done.Account.Administers() && !change.EvenLast {
		if err := a.wantOtherAdmin(ctx, c, id, change.OtherAdmin); err != nil {
			return done, err
		}
	}
	gone, err := a.endedSessions(ctx, c, id, by, change)
	if err != nil {
		return done, err
	}
	if done.Account == old && len(gone) == 0 && change.Begin == nil && !change.EndTokens && change.Token == nil && change.Mail == nil {
		return done, nil
	}
	if err := a.sendMail(ctx, c, change.Mail); err != nil {
		return done, err
	}
	if change.EndTokens {
		a.write("delete from token where owner = $2::bigint", int64(id))
	}
	if change.Token != nil {
		if e.Subject, err = a.createToken(ctx, c, *change.Token, change.EndTokens); err != nil {
			return done, err
		}
		done.Token = record.TokenID(e.Subject)
	}
	if done.Account != old {
		if err := a.putAccount(done.Account); err != nil {
			return done, err
		}
	}
	if change.Successor != nil {
		if e.Account, err = a.addAccount(*change.Successor); err != nil {
			return done, err
		}
	}
	if done.Session, err = a.replaceSessions(id, gone, change.Begin); err != nil {
		return done, err
	}
	if change.Untold {
		a.planned = true
		return done, nil
	}
	return done, a.tell(e)
}

// wantOtherAdmin returns record.ErrLastAdmin unless another account than id administers.
func (a *change) wantOtherAdmin(ctx context.Context, c *pgxpool.Conn, id, other record.AccountID) error {
	found, _, err := a.account(ctx, c, other)
	if errors.Is(err, record.ErrNotFound) || err == nil && (other == id || !found.Administers()) {
		return decide(record.ErrLastAdmin)
	}
	return err
}

func (a *change) putAccount(account record.Account) error {
	stored, err := a.seal(tableAccount, uint64Key(uint64(account.ID)), account)
	if err != nil {
		return decide(err)
	}
	a.write("update account set email = $2::bytea, identities = $3::bytea[], value = $4::bytea where id = $5::bigint", []byte(account.Email), identitiesOf(account), stored, int64(account.ID))
	return nil
}

// RemoveAccount removes an account with its tokens, sessions, requests, webhooks and quota. Its
// row is locked first, so that no push and no request is created for it meanwhile.
func (db *DB) RemoveAccount(ctx context.Context, id record.AccountID, e record.AdminEvent) error {
	done, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return db.administer(ctx, func(ctx context.Context, c *pgxpool.Conn, a *change) error {
		if _, _, err := a.account(ctx, c, id); err != nil {
			return err
		}
		owner := int64(id)
		a.before = append(a.before, func(b *pgx.Batch) { b.Queue("select from account where id = $1 for update", owner) })
		a.onlyIf, a.onlyOn, a.refuse = "not exists (select from push where owner = $6::bigint and owner <> 0)", []any{owner}, decide(record.ErrExists)
		for _, table := range []string{tableToken, tableSession, tableRequest, tableHook} {
			a.write(fmt.Sprintf("delete from %s where owner = $2::bigint", table), owner)
		}
		a.write("delete from quota where of = $2::bytea", record.Quota{Of: id}.Key())
		a.write("delete from room where key = $2::bytea", accountRoom(id))
		a.write("delete from account where id = $2::bigint", owner)
		return a.tell(e)
	})
}
