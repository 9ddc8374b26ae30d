package moving_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"pushbox/internal/moving"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store/storetest"
)

// madeHere returns a store in which an account with Ann's address was made.
func madeHere(t *testing.T) *storetest.Fixture {
	t.Helper()
	f := newStore(t)
	if _, err := f.Store.AddAccount(t.Context(), storetest.Operator, "ann@example.com", secret.New("another password")); err != nil {
		t.Fatal(err)
	}
	return f
}

// What was Ann's is not given to the account of a person who may only know her address.
func TestAnAccountThatWasMadeHereGetsNothing(t *testing.T) {
	t.Parallel()
	for _, dry := range []bool{true, false} {
		f := madeHere(t)
		o, said := options(t, "v2.sqlite.sql")
		o.DryRun = dry
		r := mustRun(t, f, o)
		if r.Accounts != (moving.Count{Came: 1, LeftOut: 1}) || r.Tokens.Total() != 0 || r.Pushes.LeftOut == 0 || r.Pushes.There != 0 {
			t.Errorf("dry %v: moved %+v", dry, r)
		}
		if text := strings.Join(said.leftOut, "\n"); !strings.Contains(text, "account 1: an account with its address was made here") || !strings.Contains(text, "its account was left out") {
			t.Errorf("dry %v: left out %q", dry, said.leftOut)
		}
	}
}

func TestAnAccountThatWasMadeHereJoinsIfTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	f := madeHere(t)
	o, said := options(t, "v2.sqlite.sql")
	o.Join = true
	if r := mustRun(t, f, o); r.Accounts != (moving.Count{Came: 1, There: 1}) || r.Tokens.Came != 1 || r.Pushes.LeftOut != 0 || len(said.leftOut) > 0 {
		t.Errorf("moved %+v; left out %q", r, said.leftOut)
	}
	a, err := f.Store.AccountByEmail(t.Context(), "ann@example.com")
	if err != nil || a.MFA() {
		t.Errorf("the account has the second factor of the dump: %v", err)
	}
	o.Join = false
	if _, err := o.Dump.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if r := mustRun(t, f, o); r.Accounts != (moving.Count{There: 1, LeftOut: 1}) {
		t.Errorf("without the flag again: %+v", r)
	}
}

func TestAnAccountThatCouldNotBeUsedDoesNotCome(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(testdata + "v2.sqlite.sql")
	env.OK(t, err)
	for change, came := range map[string]int{
		"0,NULL,NULL,NULL":           2, // nothing had to be confirmed
		"0,NULL,'sent','waits',NULL": 1,
		"0,NULL,'2026-08-01 10:02:30','was','2026-08-01 10:03:00'": 2,
	} {
		const before = "VALUES(2,0,NULL,NULL,NULL,NULL,"
		to := "VALUES(2," + change + ","
		if strings.Count(change, ",") == 3 {
			to = "VALUES(2," + change + ",NULL,"
		}
		changed := bytes.Replace(text, []byte(before), []byte(strings.Replace(to, "'sent'", "'2026-08-01 10:02:30'", 1)), 1)
		f := newStore(t)
		o, said := options(t, "v2.sqlite.sql")
		o.Dump = bytes.NewReader(changed)
		if r := mustRun(t, f, o); r.Accounts.Came != came || r.Accounts.LeftOut != 2-came {
			t.Errorf("%s: moved %+v; left out %q", change, r, said.leftOut)
		}
	}
}
