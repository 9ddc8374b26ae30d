package cold_test

import (
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestTokens(t *testing.T) {
	suite{
		"tokens are kept and found with their account": keepsTokens,
		"tokens are listed by ID":                      listsTokens,
		"a token records when it was used":             touchesTokens,
		"a removed token is not found":                 removesTokens,
	}.run(t)
}

func keepsTokens(t *testing.T, e record.Engine) {
	owner := account(t, e, "a@example.org")
	want := conformance.APIToken(1, owner)
	id, err := cold.CreateToken(t.Context(), e, want, conformance.Told)
	must(t, err)
	want.ID = id
	got, a, err := cold.Token(t.Context(), e, want.Digest)
	must(t, err)
	same(t, "token", got, want)
	same(t, "its account", a, record.Account{ID: owner, Email: "a@example.org", PasswordHash: "$argon2id$", CreatedAt: epoch})

	got, a, err = cold.Token(t.Context(), e, conformance.APIToken(2, owner).Digest)
	wantErr(t, err, record.ErrNotFound)
	same(t, "token that is not there", got, record.APIToken{})
	same(t, "its account", a, record.Account{})
	_, err = cold.CreateToken(t.Context(), e, conformance.APIToken(2, owner+1), conformance.Told)
	wantErr(t, err, record.ErrNotFound)
	_, err = cold.CreateToken(t.Context(), e, conformance.APIToken(1, owner), conformance.Told)
	wantErr(t, err, record.ErrExists)
}

func listsTokens(t *testing.T, e record.Engine) {
	owner, other := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	var all []record.APIToken
	for n := range 6 {
		a := conformance.APIToken(200-n, []record.AccountID{owner, other}[n%2])
		id, err := cold.CreateToken(t.Context(), e, a, conformance.Told)
		must(t, err)
		if a.ID = id; a.Owner == owner {
			all = append(all, a)
		}
	}
	for _, c := range []struct {
		after record.TokenID
		limit int
		want  []record.APIToken
	}{
		{0, 10, all},
		{0, 2, all[:2]},
		{all[0].ID, 1, all[1:2]},
		{all[0].ID + 1, 10, all[1:]},
		{all[2].ID, 10, nil},
		{1<<64 - 1, 10, nil},
		{0, 0, nil},
	} {
		list, err := cold.Tokens(t.Context(), e, owner, c.after, c.limit)
		must(t, err)
		same(t, "tokens", list, c.want)
	}
	list, err := cold.Tokens(t.Context(), e, other+1, 0, 10)
	must(t, err)
	same(t, "number of a stranger's tokens", len(list), 0)
}

func touchesTokens(t *testing.T, e record.Engine) {
	a := conformance.APIToken(1, account(t, e, "a@example.org"))
	id, err := cold.CreateToken(t.Context(), e, a, conformance.Told)
	must(t, err)
	for range 2 {
		must(t, cold.TouchToken(t.Context(), e, a.Digest, epoch.Add(time.Minute)))
	}
	a.ID, a.LastUsedAt = id, epoch.Add(time.Minute)
	got, _, err := cold.Token(t.Context(), e, a.Digest)
	must(t, err)
	same(t, "token", got, a)
	must(t, cold.TouchToken(t.Context(), e, conformance.APIToken(2, 0).Digest, epoch))
	_, _, err = cold.Token(t.Context(), e, conformance.APIToken(2, 0).Digest)
	wantErr(t, err, record.ErrNotFound)
}

func removesTokens(t *testing.T, e record.Engine) {
	owner, other := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	var ids []record.TokenID
	for n := range 3 {
		id, err := cold.CreateToken(t.Context(), e, conformance.APIToken(n, owner), conformance.Told)
		must(t, err)
		ids = append(ids, id)
	}
	for _, c := range []struct {
		owner record.AccountID
		id    record.TokenID
		want  error
	}{
		{0, ids[0], nil},
		{0, ids[0], record.ErrNotFound},
		{owner, ids[0], record.ErrNotFound},
		{other, ids[1], record.ErrNotFound},
		{owner, ids[1], nil},
		{owner, ids[1], record.ErrNotFound},
		{0, ids[2] + 1, record.ErrNotFound},
	} {
		wantErr(t, cold.RemoveToken(t.Context(), e, c.owner, c.id, conformance.Told), c.want)
	}
	_, _, err := cold.Token(t.Context(), e, conformance.APIToken(1, 0).Digest)
	wantErr(t, err, record.ErrNotFound)
	list, err := cold.Tokens(t.Context(), e, owner, 0, 10)
	must(t, err)
	if len(list) != 1 || list[0].ID != ids[2] {
		t.Errorf("tokens left: %+v", list)
	}
}
