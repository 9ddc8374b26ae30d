package store_test

import (
	"cmp"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// maySend returns a function that reports whether an account may send mail to an address.
func maySend(t *testing.T, f *storetest.Fixture) func(by store.Actor, to string) bool {
	return func(by store.Actor, to string) bool {
		t.Helper()
		_, err := f.CreatePush(ctx, by, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Mail: mailing(to)})
		var quota *record.QuotaError
		if err != nil && (!errors.As(err, &quota) || quota.Of != record.QuotaOfAddressee || quota.RetryAfter <= 0 || quota.RetryAfter > 24*time.Hour) {
			t.Fatal(err)
		}
		return err == nil
	}
}

func TestAnAddressGetsOnlySoMuchMailADayFromAllAccounts(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail, func(s *storetest.Setup) { s.Mail.PerAddressee = 3 })
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	may := maySend(t, f)
	for i, by := range []store.Actor{ann, bob, ann} {
		if !may(by, []string{"Canary-Victim@example.net", "canary-victim@EXAMPLE.net", "a@example.net,canary-victim@example.net"}[i]) {
			t.Fatalf("mail %d is refused", i+1)
		}
		f.Reopen()
	}
	before := f.Waiting()
	if may(bob, "canary-victim@example.net") || may(ann, "b@example.net,canary-victim@example.net") {
		t.Error("there is a fourth mail")
	}
	if f.Waiting() != before {
		t.Errorf("%d wait, not %d", f.Waiting(), before)
	}
	if !may(bob, "b@example.net,canary-victim2@example.net") {
		t.Error("other addresses get none")
	}
	content, err := os.ReadFile(f.Path)
	env.OK(t, err)
	if strings.Contains(strings.ToLower(string(content)), "canary-victim") {
		t.Error("the file names a recipient")
	}
	f.Clock.Advance(24*time.Hour - time.Millisecond)
	if may(bob, "canary-victim@example.net") {
		t.Error("the day ends early")
	}
	f.Clock.Advance(time.Millisecond)
	if !may(bob, "canary-victim@example.net") {
		t.Error("the day does not end")
	}
}

func TestWithoutALimitAnAddressGetsAllMail(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	ann, may := f.Account("ann@example.com"), maySend(t, f)
	for range 10 {
		if !may(ann, "a@example.net") {
			t.Fatal("it is refused")
		}
	}
}

// quotaRows counts the counts of mail to addresses in a store. It removes those of before a
// day.
func quotaRows(t *testing.T, f *storetest.Fixture, before uint64) (n int) {
	t.Helper()
	var last record.Addressee
	for more := true; more; n++ {
		var err error
		at := last
		if last, more, err = cold.ClearQuotas(ctx, f.Engine(), last, 1, before); err != nil {
			t.Fatal(err)
		}
		if last == at {
			break
		}
	}
	return n
}

func TestASweepRemovesTheCountsOfThePast(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail, func(s *storetest.Setup) { s.Mail.PerAddressee = 3 })
	ann, may := f.Account("ann@example.com"), maySend(t, f)
	may(ann, "a@example.net,b@example.net")
	f.SweepAll()
	f.Clock.Advance(24*time.Hour - time.Millisecond)
	f.SweepAll()
	if n := quotaRows(t, f, 0); n != 2 {
		t.Errorf("on the same day there are %d", n)
	}
	f.Clock.Advance(time.Millisecond)
	may(ann, "b@example.net,c@example.net,d@example.net")
	f.SweepAll()
	if n := quotaRows(t, f, 0); n != 3 {
		t.Errorf("on the next day there are %d", n)
	}
}

// frozenBy has wrong passphrases freeze a new push of an account.
func frozenBy(t *testing.T, f *storetest.Fixture, owner store.Actor) store.PushInfo {
	t.Helper()
	p := storetest.Push(t, f, owner, func(in *store.NewPush) { in.Passphrase, in.Name = secret.New("right"), secret.New("name-marker") })
	wrong(t, f, p, 5)
	if got, err := f.Preview(ctx, p.Token); err != nil || !got.Frozen {
		t.Fatalf("it is not frozen: %v", err)
	}
	return p
}

// freezesAtFive lets five wrong passphrases freeze a push.
func freezesAtFive(o *storetest.Setup) {
	o.Guessing.PerPush, o.Guessing.PerClient, o.Guessing.PerLife = 0, 0, 5
}

func TestTheOwnerGetsOneMailAboutAFreeze(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail, freezesAtFive)
	ann := f.Account("ann@example.com")
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	wrong(t, f, p, 4)
	if n := f.Waiting(); n != 0 {
		t.Errorf("before the freeze %d wait", n)
	}
	wrong(t, f, p, 1)
	select {
	case <-f.OutboxChanged(record.ByMail):
	default:
		t.Error("the mailer is not woken")
	}
	for range 2 { // nor are there more of the same freeze
		if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.New("wrong"), nil); !errors.Is(err, record.ErrFrozen) {
			t.Errorf("it is %v", err)
		}
	}
	f.Reopen()
	got := letters(t, f)
	if len(got) != 1 || f.Waiting() != 1 || got[0].About != store.MailFreeze || got[0].To.Reveal() != "ann@example.com" || got[0].Push.ID != p.ID || !got[0].Push.Token.IsZero() || got[0].Sender != "" {
		t.Fatalf("it is %+v", got)
	}
	if _, err := f.ThawPush(ctx, ann, p.Token); err != nil {
		t.Fatal(err)
	}
	if got := letters(t, f); len(got) != 0 {
		t.Errorf("after the thaw there is %+v", got)
	}
	wrong(t, f, p, 5)
	if f.Waiting() != 2 {
		t.Errorf("after another freeze %d wait", f.Waiting())
	}
	if _, err := f.DeletePush(ctx, ann, p.Token); err != nil {
		t.Fatal(err)
	}
	if got := letters(t, f); len(got) != 0 {
		t.Errorf("after its end there is %+v", got)
	}
}

func TestAFreezeNeedsNoMail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*storetest.Setup)
		before int // mails of the owner
		signUp bool
		mails  int
		email  string // of the owner, instead of ann@example.com
	}{
		"mail is off":               {func(s *storetest.Setup) { s.Mail = store.MailOptions{} }, 0, false, 0, ""},
		"not confirmed":             {func(*storetest.Setup) {}, 0, true, 0, ""},
		"an address without mail":   {func(*storetest.Setup) {}, 0, false, 0, "änn@example.com"},
		"one left to the account":   {func(s *storetest.Setup) { s.Mail.PerAccount = 2 }, 1, false, 2, ""},
		"none left to the account":  {func(s *storetest.Setup) { s.Mail.PerAccount = 2 }, 2, false, 2, ""},
		"one left to the instance":  {func(s *storetest.Setup) { s.Mail.PerInstance = 2 }, 1, false, 2, ""},
		"none left to the instance": {func(s *storetest.Setup) { s.Mail.PerInstance = 2 }, 2, false, 2, ""},
		"one left to the address":   {func(s *storetest.Setup) { s.Mail.PerAddressee = 3 }, 2, false, 3, ""},
		"none left to the address":  {func(s *storetest.Setup) { s.Mail.PerAddressee = 2 }, 2, false, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t, sendsMail, freezesAtFive, test.change)
			var ann store.Actor
			if test.signUp {
				ann = signedUp(t, f, "ann@example.com").by
			} else {
				ann = f.Account(cmp.Or(test.email, "ann@example.com"))
			}
			for range test.before {
				storetest.Push(t, f, ann, func(in *store.NewPush) { in.Mail = mailing("ann@example.com") })
			}
			p := frozenBy(t, f, ann)
			if kinds := storetest.EntryKinds(t, f, ann, p); !strings.HasSuffix(kinds, "freeze ") {
				t.Errorf("the log is %s", kinds)
			}
			if n := f.Waiting(); n != test.mails || len(letters(t, f)) != test.mails {
				t.Errorf("%d wait: %+v", n, letters(t, f))
			}
			f.Reopen()
			if n := f.Waiting(); n != test.mails {
				t.Errorf("after a restart %d wait", n)
			}
		})
	}
}

func TestAFreezeNeedsNoRoomForItsMail(t *testing.T) {
	t.Parallel()
	var o store.Options
	f := storetest.New(t, sendsMail, freezesAtFive, func(s *storetest.Setup) { o = s.Options })
	ann := f.Account("ann@example.com")
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
	o.Space.MinFree = 1 << 60
	f.Configure(o)
	if _, err := f.MailPush(ctx, ann, p.Token, *mailing("a@example.net")); !errors.Is(err, record.ErrFull) {
		t.Fatalf("there is room: %v", err)
	}
	wrong(t, f, p, 5)
	if got, err := f.Preview(ctx, p.Token); err != nil || !got.Frozen || f.Waiting() != 0 {
		t.Errorf("it is frozen: %v, %d mails wait, %v", got.Frozen, f.Waiting(), err)
	}
}
