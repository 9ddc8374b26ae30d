package cold_test

import (
	"errors"
	"fmt"
	"testing"

	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestAccounts(t *testing.T) {
	suite{
		"accounts are kept and found":                              keepsAccounts,
		"the last account that there was is known":                 knowsTheLastAccount,
		"accounts are listed by ID":                                listsAccounts,
		"a first account is kept only where there is none":         keepsTheFirstAccount,
		"a changed account keeps its ID":                           changesAccounts,
		"an account is found by its new address alone":             renamesAccounts,
		"an account is found by each of its identities":            findsIdentities,
		"an account takes the place of another one":                replacesAccounts,
		"the last account that administers stays":                  keepsTheLastAdmin,
		"an account that owns pushes is not removed":               keepsOwners,
		"a removed account is removed with all that belongs to it": removesAccounts,
		"the ID of a removed account is not used again":            givesOutNewIDs,
	}.run(t)
}

func keepsAccounts(t *testing.T, e record.Engine) {
	want := record.Account{Email: "a@example.org", PasswordHash: "$argon2id$x", CreatedAt: epoch, Disabled: true}
	id, err := cold.CreateAccount(t.Context(), e, want, conformance.Told)
	must(t, err)
	if id == 0 {
		t.Error("an account got the ID 0")
	}
	want.ID = id
	got, err := cold.Account(t.Context(), e, id)
	must(t, err)
	same(t, "account", got, want)
	got, err = cold.AccountByEmail(t.Context(), e, want.Email)
	must(t, err)
	same(t, "account", got, want)

	_, err = cold.CreateAccount(t.Context(), e, record.Account{Email: want.Email}, conformance.Told)
	wantErr(t, err, record.ErrExists)
	_, err = cold.Account(t.Context(), e, id+1)
	wantErr(t, err, record.ErrNotFound)
	for _, email := range []string{"", "a@example.or", "a@example.orgs"} {
		_, err = cold.AccountByEmail(t.Context(), e, email)
		wantErr(t, err, record.ErrNotFound)
	}
}

// identity is one of a provider.
func identity(subject string) record.Identity {
	return record.Identity{Issuer: "https://id.example.org", Subject: subject}
}

func findsIdentities(t *testing.T, e record.Engine) {
	want := func(subject string, id record.AccountID) {
		t.Helper()
		got, err := cold.AccountByIdentity(t.Context(), e, identity(subject).Digest())
		if id == 0 {
			wantErr(t, err, record.ErrNotFound)
			return
		}
		must(t, err)
		same(t, "account of "+subject, got.ID, id)
	}
	of := func(subjects ...string) (all record.Identities) {
		for _, s := range subjects {
			all = all.With(identity(s))
		}
		return all
	}
	a, err := cold.CreateAccount(t.Context(), e, record.Account{Email: "a@example.org", Identities: of("a", "b")}, conformance.Told)
	must(t, err)
	b := account(t, e, "b@example.org")
	want("a", a)
	want("b", a)
	want("c", 0)
	for _, taken := range []record.Identities{of("b"), of("c", "a")} {
		_, err = cold.CreateAccount(t.Context(), e, record.Account{Email: "c@example.org", Identities: taken}, conformance.Told)
		wantErr(t, err, record.ErrIdentityTaken)
		_, err = cold.ChangeAccount(t.Context(), e, b, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			a.Identities = taken
			return a, record.SessionChange{EvenLast: true}, conformance.Told, nil
		})
		wantErr(t, err, record.ErrIdentityTaken)
	}
	want("c", 0)
	same(t, "identities", conformance.Alter(t, e, a, func(a *record.Account) { a.Identities = of("c", "a") }).Identities, of("c", "a"))
	want("b", 0)
	want("c", a)
	conformance.Alter(t, e, b, func(a *record.Account) { a.Identities = of("b") })
	want("b", b)
	must(t, cold.RemoveAccount(t.Context(), e, a, conformance.Told))
	want("a", 0)
	conformance.Alter(t, e, b, func(b *record.Account) { b.Identities = of("a") })
	want("a", b)
	want("b", 0)
}

func knowsTheLastAccount(t *testing.T, e record.Engine) {
	want := func(id record.AccountID) {
		t.Helper()
		got, err := cold.LastAccount(t.Context(), e)
		must(t, err)
		same(t, "last account", got, id)
	}
	want(0)
	a := account(t, e, "a@example.org")
	want(a)
	b := account(t, e, "b@example.org")
	must(t, cold.RemoveAccount(t.Context(), e, b, conformance.Told))
	must(t, cold.RemoveAccount(t.Context(), e, a, conformance.Told))
	want(b)
}

func listsAccounts(t *testing.T, e record.Engine) {
	var all []record.AccountID
	for n := range 5 {
		all = append(all, account(t, e, fmt.Sprintf("%d@example.org", 9-n)))
	}
	must(t, cold.RemoveAccount(t.Context(), e, all[2], conformance.Told))
	for _, c := range []struct {
		after record.AccountID
		limit int
		want  []record.AccountID
	}{
		{0, 10, []record.AccountID{all[0], all[1], all[3], all[4]}},
		{0, 2, []record.AccountID{all[0], all[1]}},
		{all[1], 2, []record.AccountID{all[3], all[4]}},
		{all[2], 1, []record.AccountID{all[3]}},
		{all[4], 10, nil},
		{1<<64 - 1, 10, nil},
		{0, 0, nil},
	} {
		list, err := cold.Accounts(t.Context(), e, c.after, c.limit)
		must(t, err)
		var got []record.AccountID
		for _, a := range list {
			got = append(got, a.ID)
		}
		same(t, "IDs", got, c.want)
	}
}

func keepsTheFirstAccount(t *testing.T, e record.Engine) {
	first := record.Account{Email: "first@example.org", PasswordHash: "$argon2id$", CreatedAt: epoch}
	id, err := cold.CreateFirstAccount(t.Context(), e, first, conformance.Told)
	must(t, err)
	first.ID = id
	got, err := cold.AccountByEmail(t.Context(), e, first.Email)
	must(t, err)
	same(t, "account", got, first)
	for _, email := range []string{first.Email, "second@example.org"} {
		_, err = cold.CreateFirstAccount(t.Context(), e, record.Account{Email: email}, conformance.Told)
		wantErr(t, err, record.ErrExists)
	}
	_, err = cold.AccountByEmail(t.Context(), e, "second@example.org")
	wantErr(t, err, record.ErrNotFound)
	must(t, cold.RemoveAccount(t.Context(), e, id, conformance.Told))
	again, err := cold.CreateFirstAccount(t.Context(), e, record.Account{Email: "second@example.org"}, conformance.Told)
	must(t, err)
	if again <= id {
		t.Errorf("account %d came after %d", again, id)
	}
}

func changesAccounts(t *testing.T, e record.Engine) {
	id := account(t, e, "a@example.org")
	want := record.Account{
		ID: id, Email: "a@example.org", PasswordHash: "$other", CreatedAt: epoch, Removing: true,
		TOTP: "sealed secret", TOTPStep: 58_000_000, Recovery: "0123456789abcdef", SignedInAt: epoch,
		Passkeys: "0123456789abcdef\x03key\x07\x01\x02\x06sealed",
		Name:     "Ann", Language: "de", Mails: record.NewEventSet(record.EventLastView), Policy: "finance",
	}
	got := conformance.Alter(t, e, id, func(a *record.Account) {
		*a = want
		a.ID = 99
	})
	same(t, "changed account", got, want)
	same(t, "account that was left alone", conformance.Alter(t, e, id, func(*record.Account) {}), want)
	got, err := cold.AccountByEmail(t.Context(), e, "a@example.org")
	must(t, err)
	same(t, "account", got, want)
	refusal := errors.New("no")
	for _, c := range []struct {
		id   record.AccountID
		want error
	}{{id, refusal}, {id + 1, record.ErrNotFound}} {
		changed, err := cold.ChangeAccount(t.Context(), e, c.id, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			a.Disabled = true
			return a, record.SessionChange{Begin: conformance.Session(1, false)}, conformance.Told, refusal
		})
		wantErr(t, err, c.want)
		same(t, "change", changed, record.AccountChange{})
	}
	got, err = cold.Account(t.Context(), e, id)
	must(t, err)
	same(t, "account", got, want)
	wantSessions(t, e, id)
}

func renamesAccounts(t *testing.T, e record.Engine) {
	id, other := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	_, err := cold.ChangeAccount(t.Context(), e, id, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.Email = "b@example.org"
		return a, record.SessionChange{EvenLast: true}, conformance.Told, nil
	})
	wantErr(t, err, record.ErrExists)
	for email, want := range map[string]record.AccountID{"a@example.org": id, "b@example.org": other} {
		got, err := cold.AccountByEmail(t.Context(), e, email)
		must(t, err)
		same(t, "ID", got.ID, want)
	}
	conformance.Alter(t, e, id, func(a *record.Account) { a.Email = "c@example.org" })
	got, err := cold.AccountByEmail(t.Context(), e, "c@example.org")
	must(t, err)
	same(t, "ID", got.ID, id)
	_, err = cold.AccountByEmail(t.Context(), e, "a@example.org")
	wantErr(t, err, record.ErrNotFound)
	if again := account(t, e, "a@example.org"); again <= other {
		t.Errorf("account %d has the address that became free", again)
	}
}

func replacesAccounts(t *testing.T, e record.Engine) {
	id := account(t, e, "a@example.org")
	conformance.Alter(t, e, id, func(a *record.Account) {
		a.Identities = a.Identities.With(record.Identity{Issuer: "https://id.example.org", Subject: "7"})
	})
	begin(t, e, id, 1, false)
	next := record.Account{Email: "a@example.org", PasswordHash: "$new", CreatedAt: epoch, Policy: "finance"}
	replace := func(refusal error) error {
		_, err := cold.ChangeAccount(t.Context(), e, id, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			a.Email, a.Identities, a.Removing = "gone", "", true
			return a, record.SessionChange{Revoke: record.RevokeOthers, EndTokens: true, Successor: &next}, conformance.Told, refusal
		})
		return err
	}
	_, err := cold.CreateToken(t.Context(), e, conformance.APIToken(1, id), conformance.Told)
	must(t, err)
	refusal := errors.New("no")
	wantErr(t, replace(refusal), refusal)
	got, err := cold.AccountByEmail(t.Context(), e, "a@example.org")
	must(t, err)
	same(t, "ID", got.ID, id)
	must(t, replace(nil))
	got, err = cold.AccountByEmail(t.Context(), e, "a@example.org")
	must(t, err)
	if next.ID = got.ID; next.ID <= id {
		t.Errorf("account %d came after %d", next.ID, id)
	}
	same(t, "successor", got, next)
	old, err := cold.Account(t.Context(), e, id)
	must(t, err)
	if old.Email != "gone" || !old.Removing || old.Identities != "" {
		t.Errorf("the account before it is %+v", old)
	}
	wantSessions(t, e, id)
	_, _, err = cold.Token(t.Context(), e, conformance.APIToken(1, id).Digest)
	wantErr(t, err, record.ErrNotFound)
	events, err := cold.AdminEvents(t.Context(), e, 0, 100)
	must(t, err)
	same(t, "account of the event", events[len(events)-1].Account, next.ID)
	must(t, cold.RemoveAccount(t.Context(), e, id, conformance.Told))
	got, err = cold.AccountByEmail(t.Context(), e, "a@example.org")
	must(t, err)
	same(t, "successor", got, next)
}

func keepsTheLastAdmin(t *testing.T, e record.Engine) {
	first, second := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	conformance.Alter(t, e, first, func(a *record.Account) { a.Admin = true })
	for what, f := range map[string]func(*record.Account){
		"revoked":  func(a *record.Account) { a.Admin = false },
		"disabled": func(a *record.Account) { a.Disabled = true },
		"removed":  func(a *record.Account) { a.Removing = true },
	} {
		take := func(evenLast bool, other record.AccountID) error {
			_, err := cold.ChangeAccount(t.Context(), e, first, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
				f(&a)
				return a, record.SessionChange{EvenLast: evenLast, OtherAdmin: other}, conformance.Told, nil
			})
			return err
		}
		conformance.Alter(t, e, second, func(a *record.Account) { a.Admin, a.Disabled = true, true }) // it may do nothing
		for _, other := range []record.AccountID{0, first, second, second + 1} {
			wantErr(t, take(false, other), record.ErrLastAdmin)
		}
		if a, err := cold.Account(t.Context(), e, first); err != nil || !a.Administers() {
			t.Errorf("%s: it was refused, and the account is %+v, %v", what, a, err)
		}
		must(t, take(true, 0))
		whole := func(a *record.Account) { a.Admin, a.Disabled, a.Removing = true, false, false }
		conformance.Alter(t, e, first, whole)
		conformance.Alter(t, e, second, whole)
		wantErr(t, take(false, 0), record.ErrLastAdmin) // it does not look for another
		must(t, take(false, second))
		conformance.Alter(t, e, first, whole)
	}
}

func keepsOwners(t *testing.T, e record.Engine) {
	id := account(t, e, "a@example.org")
	_, err := cold.CreateToken(t.Context(), e, conformance.APIToken(1, id), conformance.Told)
	must(t, err)
	create(t, e, 1, id)
	wantErr(t, cold.RemoveAccount(t.Context(), e, id, conformance.Told), record.ErrExists)
	change(t, e, conformance.PushID(1), conformance.Release)
	wantErr(t, cold.RemoveAccount(t.Context(), e, id, conformance.Told), record.ErrExists)
	_, _, err = cold.Token(t.Context(), e, conformance.APIToken(1, id).Digest)
	must(t, err)
	change(t, e, conformance.PushID(1), conformance.Purge)
	must(t, cold.RemoveAccount(t.Context(), e, id, conformance.Told))
}

func removesAccounts(t *testing.T, e record.Engine) {
	goes, stays := account(t, e, "goes@example.org"), account(t, e, "stays@example.org")
	for n := range 6 {
		owner := []record.AccountID{goes, stays}[n%2]
		_, err := cold.CreateToken(t.Context(), e, conformance.APIToken(n, owner), conformance.Told)
		must(t, err)
		begin(t, e, owner, n+1, n > 3)
	}
	must(t, cold.RemoveAccount(t.Context(), e, goes, conformance.Told))
	wantErr(t, cold.RemoveAccount(t.Context(), e, goes, conformance.Told), record.ErrNotFound)
	_, err := cold.Account(t.Context(), e, goes)
	wantErr(t, err, record.ErrNotFound)
	_, err = cold.AccountByEmail(t.Context(), e, "goes@example.org")
	wantErr(t, err, record.ErrNotFound)
	for n := range 6 {
		_, _, err := cold.Token(t.Context(), e, conformance.APIToken(n, 0).Digest)
		if gone := n%2 == 0; (err != nil) != gone {
			t.Errorf("token %d: error %v", n, err)
		}
	}
	wantSessions(t, e, goes)
	wantSessions(t, e, stays, 6, 4, 2)
	_, _, err = cold.Session(t.Context(), e, digestOf(1))
	wantErr(t, err, record.ErrNotFound)
	list, err := cold.Tokens(t.Context(), e, goes, 0, 10)
	must(t, err)
	same(t, "number of tokens", len(list), 0)
}

func givesOutNewIDs(t *testing.T, e record.Engine) {
	first := account(t, e, "a@example.org")
	must(t, cold.RemoveAccount(t.Context(), e, first, conformance.Told))
	if second := account(t, e, "a@example.org"); second <= first {
		t.Errorf("account %d came after %d", second, first)
	}
}
