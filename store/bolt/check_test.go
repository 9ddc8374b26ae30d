package bolt

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

const testEmail = "marker@example.org"

var (
	testDigest  = record.TokenDigest{0xd1, 31: 0x9e}
	testSession = record.SessionDigest{0xd1, 31: 0x9f}

	testIdentity = record.Identity{Issuer: "https://id.example.org", Subject: "1"}
	testPerson   = testIdentity.Digest()
)

// plant stores one push of an account, which has a token and a session.
func plant(t *testing.T, db *DB) {
	t.Helper()
	owner, err := cold.CreateAccount(t.Context(), db, record.Account{Email: testEmail, Identities: record.Identities("").With(testIdentity)}, conformance.Told)
	env.OK(t, err)
	p := planted()
	p.Owner = owner
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte("sealed"), record.Entry{Kind: record.EntryCreation})))
	if _, err := cold.CreateToken(t.Context(), db, record.APIToken{Digest: testDigest, Owner: owner, Scopes: record.AllScopes}, conformance.Told); err != nil {
		t.Fatal(err)
	}
	if _, err := cold.ChangeAccount(t.Context(), db, owner, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		return a, record.SessionChange{Begin: &record.Session{Digest: testSession}, Most: 1}, conformance.Told, nil
	}); err != nil {
		t.Fatal(err)
	}
	plantFiles(t, db)
}

// planted is the push that plant makes, as it is stored.
func planted() record.Push {
	p := testPush(1)
	p.Owner, p.Link = 1, []byte("sealed link")
	return p
}

func plantedKey() []byte {
	id := planted().ID
	return id[:]
}

// faults are changes past the engine, and the problems that a check reports for each.
var faults = map[string]struct {
	harm func(t *tx) error
	want []string
}{
	"none": {func(*tx) error { return nil }, nil},
	"a bucket of another program": {
		func(t *tx) error {
			t.writes++ // else the transaction is not committed
			_, err := t.bolt.CreateBucket([]byte("notes"))
			return err
		},
		[]string{`a bucket named "notes" does not belong to pushbox`},
	},
	"a payload gone": {
		func(t *tx) error { return t.deletePayload(planted().ID) },
		[]string{"push 0000: it is live and has no payload"},
	},
	"an entry gone": {
		func(t *tx) error { return t.delete(audit, auditKey(planted().ID, 0)) },
		[]string{"push 0000: it counts 1 audit entries, 0 are there"},
	},
	"entries too many, with a gap": {
		func(t *tx) error {
			view, _ := record.Entry{Kind: record.EntryView}.AppendBinary(nil)
			minor, _ := record.Entry{Kind: record.EntryFailedView}.AppendBinary(nil)
			return errors.Join(t.put(audit, auditKey(planted().ID, 2), view), t.put(audit, auditKey(planted().ID, 3), minor))
		},
		[]string{
			"push 0000: it counts 0 views, its audit log 1",
			"push 0000: it counts 1 audit entries, 3 are there",
			"push 0000: it counts 0 minor audit entries, 1 are there",
			"push 0000: its audit entries are not numbered without a gap",
		},
	},
	"a malformed entry": {
		func(t *tx) error { return t.put(audit, auditKey(planted().ID, 0), []byte("?")) },
		[]string{"push 0000: an audit entry is malformed"},
	},
	"no owner row": {
		func(t *tx) error { return t.delete(owners, ownerRow(planted())) },
		[]string{"push 0000: its index rows are not those it should have"},
	},
	"no expiry row": {
		func(t *tx) error { return t.delete(expiry, expiryRow(planted())) },
		[]string{"push 0000: its index rows are not those it should have"},
	},
	"an expiry row too many": {
		func(t *tx) error {
			p := planted()
			p.ExpiresAt = time.UnixMilli(99)
			return t.put(expiry, expiryRow(p), nil)
		},
		[]string{"push 0000: its index rows are not those it should have"},
	},
	"an owner row too many": {
		func(t *tx) error {
			return t.put(owners, append(ownerPrefix(1, false), ownerRow(planted())[9:]...), nil)
		},
		[]string{"push 0000: its index rows are not those it should have"},
	},
	"a record gone": {
		func(t *tx) error { return t.delete(pushes, plantedKey()) },
		[]string{
			"payloads: a row of push 0000, which does not exist",
			"audit: a row of push 0000, which does not exist",
			"owners: a row of push 0000, which does not exist",
			"expiry: a row of push 0000, which does not exist",
			"room: a sender has 0 pushes of 0 bytes, but a row counts 1 of 0",
		},
	},
	"a malformed record": {
		func(t *tx) error { return t.put(pushes, plantedKey(), []byte("?")) },
		[]string{"push 0000: its record is malformed", "room: a sender has 0 pushes of 0 bytes, but a row counts 1 of 0"},
	},
	"a row of room gone": {
		func(t *tx) error { return t.delete(room, accountRoom(1)) },
		[]string{"room: 1 senders have pushes, but no row counts them"},
	},
	"rows of room that are wrong": {
		func(t *tx) error {
			return errors.Join(t.put(room, accountRoom(1), roomValue(record.Room{Pushes: 7, Bytes: 9})), t.put(room, []byte{roomOfAnonymous}, []byte("?")))
		},
		[]string{"room: a sender has 1 pushes of 0 bytes, but a row counts 7 of 9", "room: a record is malformed"},
	},
	"keys of another length": {
		func(t *tx) error {
			var errs []error
			for _, b := range []bucket{pushes, payloads, audit, owners, expiry, chunks, orphans, grants, grantPushes, sessions, hooks, requests, outbox, quotas} {
				errs = append(errs, t.put(b, []byte("?"), nil))
			}
			return errors.Join(errs...)
		},
		[]string{
			"a push has a key of 1 bytes",
			"payloads: a key of 1 bytes instead of 26",
			"audit: a key of 1 bytes instead of 26",
			"owners: a key of 1 bytes instead of 31",
			"expiry: a key of 1 bytes instead of 31",
			"chunks: a key of 1 bytes instead of 28",
			"orphans: a key of 1 bytes instead of 22",
			"grants: a record is malformed",
			"grant_pushes: a key of 1 bytes instead of 54",
			"sessions: a record is malformed, or has the key of another record",
			"hooks: a record is malformed, or has the key of another record",
			"requests: a record is malformed, or has the key of another record",
			"outbox: a record is malformed, or has the key of another record",
			"quotas: a record is malformed, or has the key of another record",
		},
	},
	"malformed webhooks and messages": {
		func(t *tx) error {
			hook, _ := record.Hook{}.AppendBinary(nil)
			message, _ := record.Message{Route: record.ByWebhook}.AppendBinary(nil)
			return errors.Join(
				t.put(hooks, record.PairKey(1, 1), []byte("?")), t.put(hooks, record.PairKey(9, 2), hook),
				t.put(outbox, record.Message{Number: 1}.Key(), []byte("?")), t.put(outbox, record.Message{Number: 7}.Key(), message),
			)
		},
		[]string{
			"hooks: a record is malformed, or has the key of another record",
			"webhook 2: account 9, its owner, does not exist",
			"outbox: a record is malformed, or has the key of another record",
			"message 7: only 0 numbers were assigned",
		},
	},
	"requests that nothing leads to, and rows that lead to none": {
		func(t *tx) error {
			r := record.Request{ID: record.RequestID(plantedKey()), Owner: 9, MaxAnswers: 1}
			return errors.Join(
				t.put(requests, plantedKey()[:idLen], []byte("?")), t.tables().Put(record.Requests.Table, record.Request{ID: record.RequestID{1}, Owner: 9, MaxAnswers: 1}),
				t.put(requestOwners, record.RequestsByOwner.Keys(r)[0], nil),
			)
		},
		[]string{
			"requests: a record is malformed, or has the key of another record",
			"request aeaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: account 9, its owner, does not exist",
			"request_owners: a row leads to no record with that key",
		},
	},
	"malformed quotas": {
		func(t *tx) error {
			return errors.Join(t.put(quotas, uint64Key(0), []byte("?")), t.put(quotas, uint64Key(9), make([]byte, 16)))
		},
		[]string{"quotas: a record is malformed, or has the key of another record", "quota of account 9: account 9, its owner, does not exist"},
	},
	"an account gone": {
		func(t *tx) error { return t.delete(accounts, uint64Key(1)) },
		[]string{
			"push 0000: its owner does not exist",
			"emails: a row leads to no record with that key",
			"identities: a row leads to no record with that key",
			"token 1: account 1, its owner, does not exist",
			"session 1: account 1, its owner, does not exist",
		},
	},
	"a malformed account": {
		func(t *tx) error { return t.put(accounts, uint64Key(1), []byte("?")) },
		[]string{
			"accounts: a record is malformed, or has the key of another record",
			"emails: a row leads to no record with that key",
			"identities: a row leads to no record with that key",
		},
	},
	"an account under another key": {
		func(t *tx) error { return t.put(accounts, uint64Key(2), slices.Clone(t.get(accounts, uint64Key(1)))) },
		[]string{"accounts: a record is malformed, or has the key of another record"},
	},
	"an address gone": {
		func(t *tx) error { return t.delete(emails, []byte(testEmail)) },
		[]string{"account 1: its address does not lead to it"},
	},
	"an address too many": {
		func(t *tx) error { return t.put(emails, []byte("other."+testEmail), uint64Key(1)) },
		[]string{"emails: a row leads to no record with that key"},
	},
	"a malformed address": {
		func(t *tx) error { return t.put(emails, []byte("other."+testEmail), []byte("?")) },
		[]string{"emails: a row leads to no record with that key"},
	},
	"an identity gone": {
		func(t *tx) error { return t.delete(identities, testPerson[:]) },
		[]string{"account 1: its identity does not lead to it"},
	},
	"an identity too many": {
		func(t *tx) error { return t.put(identities, make([]byte, digestLen), uint64Key(1)) },
		[]string{"identities: a row leads to no record with that key"},
	},
	"a malformed identity": {
		func(t *tx) error { return t.put(identities, make([]byte, digestLen), []byte("?")) },
		[]string{"identities: a row leads to no record with that key"},
	},
	"a token gone": {
		func(t *tx) error { return t.delete(tokens, testDigest[:]) },
		[]string{
			"token_ids: a row leads to no record with that key",
			"token_owners: a row leads to no record with that key",
		},
	},
	"a malformed token": {
		func(t *tx) error { return t.put(tokens, testDigest[:], []byte("?")) },
		[]string{
			"tokens: a record is malformed, or has the key of another record",
			"token_ids: a row leads to no record with that key",
			"token_owners: a row leads to no record with that key",
		},
	},
	"a token under another digest": {
		func(t *tx) error { return t.put(tokens, make([]byte, 32), slices.Clone(t.get(tokens, testDigest[:]))) },
		[]string{"tokens: a record is malformed, or has the key of another record"},
	},
	"no row by ID": {
		func(t *tx) error { return t.delete(tokenIDs, uint64Key(1)) },
		[]string{"token 1: its ID does not lead to it"},
	},
	"no row by owner": {
		func(t *tx) error { return t.delete(tokenOwners, record.PairKey(1, 1)) },
		[]string{"token 1: its owner does not lead to it"},
	},
	"a session gone": {
		func(t *tx) error { return t.delete(sessions, testSession[:]) },
		[]string{"session_owners: a row leads to no record with that key"},
	},
	"a malformed session": {
		func(t *tx) error { return t.put(sessions, testSession[:], []byte("?")) },
		[]string{"sessions: a record is malformed, or has the key of another record", "session_owners: a row leads to no record with that key"},
	},
	"a session under another digest": {
		func(t *tx) error {
			return t.put(sessions, make([]byte, 32), slices.Clone(t.get(sessions, testSession[:])))
		},
		[]string{"session 1: its owner does not lead to it"},
	},
	"no row of a session": {
		func(t *tx) error { return t.delete(sessionOwners, record.PairKey(1, 1)) },
		[]string{"session 1: its owner does not lead to it"},
	},
	"a row of a session too many": {
		func(t *tx) error { return t.put(sessionOwners, record.PairKey(2, 1), slices.Clone(testSession[:])) },
		[]string{"session_owners: a row leads to no record with that key"},
	},
	"a row of a session that leads nowhere": {
		func(t *tx) error { return t.put(sessionOwners, record.PairKey(1, 2), []byte("?")) },
		[]string{"session_owners: a row leads to no record with that key"},
	},
}

func TestACheckFindsEachFaultAndRevealsNoSecret(t *testing.T) {
	t.Parallel()
	for name, c := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantProblems(t, c.harm, c.want)
		})
	}
}

// wantProblems damages a database and fails the test unless a check reports exactly
// these problems.
func wantProblems(t *testing.T, harm func(*tx) error, want []string) {
	t.Helper()
	db := newDB(t, Options{})
	plant(t, db)
	env.OK(t, db.do(t.Context(), 0, harm))
	name := strings.NewReplacer(
		"0000", planted().ID.String(), "1111", testPush(fileNumber).ID.String(),
		"2222", testPush(orphanNumber).ID.String(), "3333", testPush(noNumber).ID.String(),
	)
	got, want := problems(t, db), slices.Clone(want)
	for i := range want {
		want[i] = name.Replace(want[i])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("reported\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, p := range got {
		if strings.Contains(p, "marker") || strings.Contains(p, "6d61726b6572") || strings.Contains(p, "d100") || strings.Contains(p, "d101") {
			t.Errorf("it shows an address or a digest: %s", p)
		}
	}
}

func problems(t *testing.T, db *DB) (list []string) {
	t.Helper()
	env.OK(t, db.Check(t.Context(), func(p string) { list = append(list, p) }))
	return list
}

func TestACheckStopsWithItsContext(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	plant(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	env.OK(t, db.do(t.Context(), 0, func(t *tx) error { return t.put(pushes, []byte("?"), nil) }))
	reported := 0
	err := db.Check(ctx, func(string) { reported++; cancel() })
	if !errors.Is(err, context.Canceled) || reported != 1 {
		t.Errorf("%d problems, error %v", reported, err)
	}
	if err := createSize(t, db, 2, 1); err != nil {
		t.Errorf("the store stopped: %v", err)
	}
}

func TestChangesGoOnWhileRowsAreChecked(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	plant(t, db)
	env.OK(t, db.do(t.Context(), 0, func(t *tx) error { return t.delete(emails, []byte(testEmail)) }))
	env.OK(t, db.Check(t.Context(), func(string) {
		if err := createSize(t, db, 2, 1); err != nil {
			t.Errorf("create during a check: %v", err)
		}
	}))
}

func TestAKeyThatIsTooLongIsDamage(t *testing.T) {
	t.Parallel()
	for n, fits := range map[int]bool{0: true, maxKey: true, maxKey + 1: false} {
		k, err := cloneKey(audit, make([]byte, n))
		if fits && (err != nil || len(k) != n) || !fits && (!errors.Is(err, record.ErrCorrupt) || k != nil) {
			t.Errorf("%d bytes: %d are kept, %v", n, len(k), err)
		}
	}
}
