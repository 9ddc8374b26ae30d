package store_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/humanize"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// eventsAfter lists the events after the given number.
func eventsAfter(t *testing.T, f *storetest.Fixture, after uint64) []store.AdminEventInfo {
	t.Helper()
	list, err := f.AdminEvents(ctx, time.Time{}, after, record.MaxAdminEvents)
	env.OK(t, err)
	return list
}

// lineOf is an event without its number and its time.
func lineOf(e store.AdminEventInfo) string {
	who := [...]string{store.Client: "client", store.Operator: "operator", store.System: "system", store.Admin: "admin"}[e.By.Role]
	return fmt.Sprintf("%s: %s %d from %s %s, account %d %s, subject %d, %s", e.Kind, who, e.By.Account, e.By.IP, e.By.UserAgent, e.Account, e.Email, e.Subject, e.Detail)
}

// Each kind of event comes from the change that it tells, with the actor.
func TestEachChangeOfTheInstanceIsAnEvent(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	f := k.Fixture
	seen := map[record.AdminKind]bool{}
	last := uint64(0)
	wait := time.Duration(0)
	// want fails the test unless exactly these events happened since the last call.
	want := func(err error, events ...string) {
		t.Helper()
		env.OK(t, err)
		var got []string
		for _, e := range eventsAfter(t, f, last) {
			got = append(got, lineOf(e))
			seen[e.Kind], last = true, e.Number
			if !e.At.Equal(f.Clock.Now()) {
				t.Errorf("%s: at %v", e.Kind, e.At)
			}
		}
		if !slices.Equal(got, events) {
			t.Errorf("the log says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(events, "\n"))
		}
		wait += time.Minute
		f.Clock.Advance(time.Minute)
	}
	by := store.Actor{Client: "192.0.2.7", IP: "192.0.2.7", UserAgent: "Browser/1.0"}
	const ann, hers = "ann@example.com", "account 1 ann@example.com, subject 0, "
	const she = "client 1 from 192.0.2.7 Browser/1.0, " + hers
	const pass = "correct horse battery"
	want(nil, "keys_create: system 0 from  , account 0 , subject 0, ")
	_, err := f.AddAccount(ctx, by, ann, secret.New(pass))
	want(err, "account_create: client 0 from 192.0.2.7 Browser/1.0, "+hers)

	n, err := f.SignIn(ctx, by, ann, secret.New(pass))
	want(err, "sign_in: "+she)
	setup, err := f.NewTOTP(ctx, n.Secret)
	want(err)
	n, recovery, err := f.EnableTOTP(ctx, by, n.Secret, secret.New(pass), store.Factor{}, setup.Secret, storetest.Code(t, f, setup.Secret, 0))
	want(err, "second_factor_add: "+she)
	pending, err := f.SignIn(ctx, by, ann, secret.New(pass))
	want(err, "first_factor: "+she)
	_, err = f.SignInCode(ctx, by, pending.Secret, storetest.Code(t, f, setup.Secret, 0))
	want(err, "sign_in: "+she+"with a second factor")
	pending, err = f.SignIn(ctx, by, ann, secret.New(pass))
	want(err, "first_factor: "+she)
	_, err = f.SignInCode(ctx, by, pending.Secret, secret.New("no code"))
	want(refusedAs(err, record.ErrCredentials), "sign_in_refused: client 0 from 192.0.2.7 Browser/1.0, "+hers)
	other, err := f.SignInCode(ctx, by, pending.Secret, recovery[0])
	want(err, "sign_in: "+she+"with a recovery code")
	want(f.EndSession(ctx, by, n.Secret, other.ID), "session_end: "+she)
	recovery, err = f.NewRecoveryCodes(ctx, by, n.Secret, secret.New(pass), store.Factor{Code: recovery[1]})
	want(err, "recovery_codes: "+she)
	holder := newKeyholder(t, f)
	q, err := f.NewPasskey(ctx, n.Secret, holder.site)
	want(err)
	_, _, err = f.AddPasskey(ctx, by, n.Secret, secret.New(pass), store.Factor{Code: recovery[0]}, "laptop", store.PasskeyAnswer{Site: holder.site, Challenge: q.Challenge, Text: secret.New(holder.device.Create(q.Options))})
	want(err, "passkey_add: "+she+"laptop")
	q = f.AskAnyPasskey(holder.browser, holder.site)
	alone, err := f.SignInAlone(ctx, by, holder.browser, store.PasskeyAnswer{Site: holder.site, Challenge: q.Challenge, Text: secret.New(holder.device.Get(q.Options))})
	want(err, "sign_in: "+she+"with a passkey alone")
	list, err := f.Passkeys(ctx, alone.Secret)
	want(err)
	want(f.RemovePasskey(ctx, by, n.Secret, secret.New(pass), store.Factor{Code: recovery[1]}, list[0].ID), "passkey_remove: "+she+"laptop")
	want(f.DisableTOTP(ctx, by, n.Secret, secret.New(pass), store.Factor{Code: recovery[2]}), "second_factor_remove: "+she)
	n, err = f.ChangePassword(ctx, by, n.Secret, secret.New(pass), secret.New(pass+" 2"), false)
	want(err, "password_change: "+she)
	want(f.SignOut(ctx, by, n.Secret), "sign_out: "+she)
	want(f.SignOut(ctx, by, n.Secret))

	const operator = "operator 0 from  , "
	_, err = f.SignIn(ctx, by, ann, secret.New(pass))
	want(refusedAs(err, record.ErrCredentials), "sign_in_refused: client 0 from 192.0.2.7 Browser/1.0, "+hers)
	want(f.SetPassword(ctx, storetest.Operator, ann, secret.New(pass), false), "password_change: "+operator+hers)
	want(f.ResetFactors(ctx, storetest.Operator, ann)) // there is none
	want(f.SetDisabled(ctx, storetest.Operator, ann, true), "account_disable: "+operator+hers)
	want(f.SetDisabled(ctx, storetest.Operator, ann, true)) // it is
	want(f.SetDisabled(ctx, storetest.Operator, ann, false), "account_enable: "+operator+hers)

	n, err = f.SignIn(ctx, by, ann, secret.New(pass))
	want(err, "sign_in: "+she)
	want(f.SetWishes(ctx, by, n.Secret, store.Wishes{Name: "Ann"}), "account_edit: "+she)
	want(f.SetWishes(ctx, by, n.Secret, store.Wishes{Name: " Ann "})) // it is

	want(f.RenameAccount(ctx, storetest.Operator, ann, "Eve@example.com"), "account_rename: "+operator+"account 1 eve@example.com, subject 0, it was "+ann)
	want(f.RenameAccount(ctx, storetest.Operator, "eve@example.com", "eve@example.com")) // it has it
	want(f.RenameAccount(ctx, storetest.Operator, "eve@example.com", ann), "account_rename: "+operator+hers+"it was eve@example.com")
	_, err = f.ExpirePushes(ctx, storetest.Operator, ann)
	want(err, "pushes_expire: "+operator+hers+"0 pushes")

	const eve, theirs = "eve@example.net", "account 2 eve@example.net, subject 0, "
	const them = "client 2 from 192.0.2.7 Browser/1.0, " + theirs
	_, err = f.SignUp(ctx, by, eve, secret.New(pass))
	want(err, "account_create: client 0 from 192.0.2.7 Browser/1.0, "+theirs)
	newcomer, err := f.SignIn(ctx, by, eve, secret.New(pass))
	want(err, "sign_in: "+them)
	want(f.MailCode(ctx, by, newcomer.Secret, ""))
	wrongCode := secret.New(otherThan(letters(t, f)[0].Code))
	for range record.CodeTries - 1 {
		want(refusedAs(f.ConfirmAddress(ctx, by, newcomer.Secret, wrongCode), record.ErrCode))
	}
	want(refusedAs(f.ConfirmAddress(ctx, by, newcomer.Secret, wrongCode), record.ErrCode), "code_refused: "+them)
	want(f.MailCode(ctx, by, newcomer.Secret, ""))
	want(f.ConfirmAddress(ctx, by, newcomer.Secret, letters(t, f)[0].Code), "address_confirm: "+them)
	want(f.ConfirmAccount(ctx, storetest.Operator, eve)) // it is

	token, err := f.CreateToken(ctx, storetest.Operator, ann, store.TokenTerms{Label: "laptop"})
	want(err, "token_create: "+operator+"account 1 ann@example.com, subject 1, laptop")
	want(f.RevokeToken(ctx, storetest.Operator, token.ID), "token_revoke: "+operator+"account 1 ann@example.com, subject 1, ")
	_, _, err = f.Authenticate(ctx, by, token.Secret)
	want(refusedAs(err, record.ErrToken), "token_refused: client 0 from 192.0.2.7 Browser/1.0, account 0 , subject 0, ")

	const hook = "account 1 ann@example.com, subject 1, "
	h, err := f.AddHook(ctx, storetest.Operator, ann, store.NewHook{URL: secret.New("https://hooks.example.com"), Events: []record.Event{record.EventView, record.EventExpire}})
	want(err, "webhook_add: "+operator+hook+"view, expire")
	want(f.DisableHook(ctx, store.Actor{Role: store.System}, h.ID, true), "webhook_disable: system 0 from  , "+hook)
	want(f.DisableHook(ctx, storetest.Operator, h.ID, false), "webhook_enable: "+operator+hook)
	want(f.RemoveHook(ctx, storetest.Operator, h.ID), "webhook_remove: "+operator+hook)
	want(f.RemoveAccount(ctx, storetest.Operator, ann), "account_remove: "+operator+hers, "account_removed: "+operator+hers)

	want(f.SetAdmin(ctx, storetest.Operator, eve, true, false), "admin_grant: "+operator+theirs)
	want(f.SetAdmin(ctx, storetest.Operator, eve, true, false)) // it is
	want(f.EndAccess(ctx, storetest.Operator, eve, true), "access_end: "+operator+theirs+"and its API tokens and webhooks ended")
	want(f.SetAdmin(ctx, storetest.Operator, eve, false, true), "admin_revoke: "+operator+theirs)
	link, err := f.MakePasswordLink(ctx, storetest.Operator, eve)
	want(err, "password_link: "+operator+theirs)
	want(f.SetPasswordByLink(ctx, by, link.Code, secret.New(pass+" 3"), false), "password_change: "+them+"by a link")
	_, err = f.SignInAs(ctx, by, store.External{Identity: record.Identity{Issuer: "i", Subject: "s"}, Provider: "Office", Email: link.Email, Verified: true, Link: true})
	want(err, "identity_link: system 0 from 192.0.2.7 Browser/1.0, "+theirs+"by Office", "sign_in: "+them+"by Office")
	want(f.EndSessionsOf(ctx, record.Identity{Issuer: "i", Subject: "s"}, "", f.Clock.Now(), "Office"), "provider_sign_out: system 0 from  , "+theirs+"by Office")
	want(f.AskForPassword(ctx, by, eve, "https://push.example.com", ""), "password_link: client 0 from 192.0.2.7 Browser/1.0, "+theirs+"by mail")
	want(f.MailPasswordLink(ctx, storetest.Operator, eve, "https://push.example.com", ""), "password_link: "+operator+theirs+"by mail")
	want(f.Unlink(ctx, storetest.Operator, eve), "identity_unlink: "+operator+theirs)
	want(f.Unlink(ctx, storetest.Operator, eve)) // it has none
	want(f.AskForPassword(ctx, by, "unknown@example.com", "https://push.example.com", ""))
	f.Configure(store.Options{Terms: storetest.Terms(), Policies: []store.Policy{{Name: "finance", Groups: []string{"money"}}}})
	want(f.SetPolicy(ctx, storetest.Operator, eve, "finance"), "policy_change: "+operator+theirs+"finance")
	want(f.SetPolicy(ctx, storetest.Operator, eve, "finance")) // it has it
	want(f.SetPolicy(ctx, storetest.Operator, eve, ""), "policy_change: "+operator+theirs+"none")

	const whole = "account 0 , subject 0, "
	r, err := f.RotateKey(ctx, storetest.Operator, true, quiet)
	want(err, "key_rotate: "+operator+whole+r.OldID+" by "+r.ID, "keys_renew: system 0 from  , "+whole+"3 dropped")
	b, err := f.Backup(ctx, store.Actor{Role: store.System}, "", func(int64, int64) {})
	want(err, "backup: system 0 from  , "+whole+humanize.Size(b.Size)+", key "+b.Key)
	if err := os.Remove(b.Path); err != nil {
		t.Error(err)
	}
	was, is, err := f.Compact(ctx, storetest.Operator, func(int64, int64) {})
	want(err, "compact: "+operator+whole+humanize.Size(was)+" before, "+humanize.Size(is)+" after")
	want(f.NoteReload(ctx, storetest.Operator, false, []string{"brand.title", "log.level"}), "reload: "+operator+whole+"brand.title, log.level")
	want(f.NoteReload(ctx, storetest.Operator, true, nil), "reload_refused: "+operator+whole)
	want(f.NoteImport(ctx, storetest.Operator, "1 account, 2 pushes"), "import: "+operator+whole+"1 account, 2 pushes")
	_, err = f.PurgeAnonymous(ctx, storetest.Operator, store.Purge{LargerThan: 1 << 40})
	want(err, "purge: "+operator+whole+"0 pushes, 0 bytes")
	_, err = f.Restore(ctx, true)
	want(err, "restore: operator 0 from  pushbox restore --keep-live, "+whole+"0 pushes, 0 live in the backup")

	f.Clock.Advance(31*day - wait)
	_, err = f.Sweep(ctx)
	want(err, "keys_renew: system 0 from  , "+whole+"1 dropped")
	seen[record.AdminMoreRefused] = true // TestRefusalsAreBounded
	for _, kind := range record.AdminKinds() {
		if !seen[kind] {
			t.Errorf("nothing is an event of kind %s", kind)
		}
	}
}

// refusedAs returns nil if err is want.
func refusedAs(err, want error) error {
	if err == nil || err.Error() != want.Error() {
		return fmt.Errorf("got %w, want %w", err, want)
	}
	return nil
}

// An attacker who is refused again and again fills neither the log nor the disk.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	const perClient, inAll = store.RefusalEventsPerClient, store.RefusalEvents
	refused := func(client, times int) {
		t.Helper()
		by := store.Actor{Client: fmt.Sprint("192.0.2.", client)}
		for range times {
			if _, _, err := f.Authenticate(ctx, by, secret.New("no token")); refusedAs(err, record.ErrToken) != nil {
				t.Fatal(err)
			}
		}
	}
	// count returns how many refusals are events since the last call, and what is told of the rest.
	last := uint64(0)
	count := func() (n int, rest string) {
		t.Helper()
		for _, e := range eventsAfter(t, f, last) {
			switch e.Kind {
			case record.AdminTokenRefused:
				n++
			case record.AdminMoreRefused:
				rest += e.Detail + " by role " + fmt.Sprint(e.By.Role) + "."
			}
			last = e.Number
		}
		return n, rest
	}
	want := func(what string, events int, rest string) {
		t.Helper()
		if n, more := count(); n != events || more != rest {
			t.Errorf("%s: %d events and %q, want %d and %q", what, n, more, events, rest)
		}
	}
	refused(1, perClient)
	want("as many as a client may have", perClient, "")
	refused(1, 1)
	want("one more", 0, "")
	for client := 2; client <= inAll/perClient; client++ {
		refused(client, perClient)
	}
	want("as many as there may be", inAll-perClient, "")
	refused(100, 1)
	want("one more of another client", 0, "")
	f.Clock.Advance(time.Hour - time.Second)
	f.SweepAll()
	want("a moment before an hour is over", 0, "")
	f.Clock.Advance(time.Second)
	f.SweepAll()
	f.SweepAll()
	want("after an hour", 0, "2 by role 2.")
	refused(1, perClient+3)
	want("of the next hour", perClient, "")
	f.Reopen()
	want("after a restart", 0, "3 by role 2.")
	f.Reopen()
	want("after another one", 0, "")
}

// Whatever a client types may be a secret in the wrong field.
func TestARefusalTellsNothingOfWhatWasSent(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	const typed = "typed-by-a-client"
	by := store.Actor{Client: "192.0.2.7", IP: "192.0.2.7", Referrer: secret.New("https://example.com/p/" + typed)}
	n := storetest.SignIn(t, f)
	for what, try := range map[string]func() error{
		"an address": func() error { _, err := f.SignIn(ctx, by, typed+"@example.com", secret.New(right)); return err },
		"a password": func() error { _, err := f.SignIn(ctx, by, email, secret.New(typed)); return err },
		"an old one": func() error {
			_, err := f.ChangePassword(ctx, by, n.Secret, secret.New(typed), secret.New(typed), false)
			return err
		},
		"a token":   func() error { _, _, err := f.Authenticate(ctx, by, secret.New(typed)); return err },
		"too often": func() error { _, err := f.SignIn(ctx, by, typed, secret.New(typed)); return err },
	} {
		if try() == nil {
			t.Errorf("%s: it was not refused", what)
		}
	}
	list := eventsAfter(t, f, 0)
	for _, e := range list {
		if text := fmt.Sprintf("%+v", e); strings.Contains(text, typed) {
			t.Errorf("event %d: %s", e.Number, text)
		}
	}
	if len(list) < 5 {
		t.Errorf("there are %d events", len(list))
	}
}

// A client that does not wait for the answer is noted like any other.
func TestARefusalIsNotedThoughTheClientHasLeft(t *testing.T) {
	t.Parallel()
	leave, cancel := context.WithCancel(ctx)
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { return leaver{e, cancel} }
	})
	if _, _, err := f.Authenticate(leave, anonymous, secret.New("no token")); refusedAs(err, record.ErrToken) != nil {
		t.Error(err)
	}
	if list := eventsAfter(t, f, 1); len(list) != 1 || list[0].Kind != record.AdminTokenRefused {
		t.Errorf("the log has %+v", list)
	}
}

// A leaver is an engine whose caller leaves once a token was looked up.
type leaver struct {
	record.Engine
	leave func()
}

func (e leaver) View(ctx context.Context, read func(record.View) error) error {
	return e.Engine.View(ctx, func(v record.View) error { return read(leaverView{v, e.leave}) })
}

type leaverView struct {
	record.View
	leave func()
}

func (v leaverView) Get(of *record.Table, key []byte) (record.Record, error) {
	if of == record.Tokens.Table {
		defer v.leave()
	}
	return v.View.Get(of, key)
}

func TestEventsAreListedFromATimeOn(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	began := f.Clock.Now()
	for range 1200 { // more than are read at a time
		f.Clock.Advance(time.Second)
		env.OK(t, f.NoteReload(ctx, storetest.Operator, false, nil))
	}
	for _, c := range []struct {
		since       time.Duration
		after       uint64
		limit       int
		first, last uint64
	}{
		{-time.Hour, 0, 5000, 1, 1201},
		{0, 0, 5000, 1, 1201},
		{time.Millisecond, 0, 5000, 2, 1201},
		{1000 * time.Second, 0, 5000, 1001, 1201},
		{0, 1, 3, 2, 4},
		{0, 1198, 3, 1199, 1201},
		{1000 * time.Second, 3, 700, 1001, 1201},
		{0, 3, 700, 4, 703},
		{time.Hour, 0, 5000, 0, 0},
		{0, 1201, 5000, 0, 0},
		{0, 0, 0, 0, 0},
	} {
		list, err := f.AdminEvents(ctx, began.Add(c.since), c.after, c.limit)
		env.OK(t, err)
		first, last := uint64(0), uint64(0)
		if len(list) > 0 {
			first, last = list[0].Number, list[len(list)-1].Number
		}
		if first != c.first || last != c.last || len(list) > 0 && uint64(len(list)) != last-first+1 {
			t.Errorf("%+v: %d events from %d to %d", c, len(list), first, last)
		}
	}
}

// An address stays with the events that name it; others show the one of today.
func TestEventsHaveTheAddressOfTheirAccount(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account(email)
	token, err := f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{})
	env.OK(t, err)
	env.OK(t, f.RevokeToken(ctx, storetest.Operator, token.ID))
	emails := func() (list []string) {
		for _, e := range eventsAfter(t, f, 1) {
			list = append(list, e.Email)
		}
		return list
	}
	if got := emails(); !reflect.DeepEqual(got, []string{email, email, email}) {
		t.Errorf("of an account that exists: %q", got)
	}
	env.OK(t, f.RemoveAccount(ctx, storetest.Operator, email))
	if got := emails(); !reflect.DeepEqual(got, []string{email, email, "", email, email}) {
		t.Errorf("of an account that is gone: %q", got)
	}
}

func TestTheLogIsInBackupsAndGoesOnAfterARestore(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account(email)
	before := eventsAfter(t, f, 0)
	back := restored(t, f, backUp(t, f), false, store.Restored{})
	after := eventsAfter(t, back, 0)
	if n := len(before); len(after) != n+1 || !reflect.DeepEqual(after[:n], before) || after[n].Kind != record.AdminRestore {
		t.Errorf("%d events became %+v", n, after)
	}
}

// An event that its key does not open is named by a check and keeps a backup from being
// believed.
func TestAnEventThatDoesNotOpenIsNamed(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*record.AdminEvent){
		"it is damaged":          func(e *record.AdminEvent) { e.Sealed[len(e.Sealed)-1]++ },
		"it says something else": func(e *record.AdminEvent) { e.Digest[0]++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t)
			f.Abandon()
			e := storetest.Told(f.Engine())
			spoil(&e)
			env.OK(t, cold.AddAdminEvent(ctx, f.Engine(), e))
			problems, err := f.Store.Check(ctx)
			if err != nil || !slices.Equal(problems, []string{"event 2: it cannot be decrypted"}) {
				t.Errorf("the check found %q, %v", problems, err)
			}
			if list, err := f.AdminEvents(ctx, time.Time{}, 0, 9); len(list) != 1 || err == nil || !strings.Contains(err.Error(), "event 2 cannot be decrypted") {
				t.Errorf("the list: %d events, %v", len(list), err)
			}
			if _, err := f.Backup(ctx, storetest.Operator, "", func(int64, int64) {}); err == nil || !strings.Contains(err.Error(), "event 2: it cannot be decrypted") {
				t.Errorf("a backup: %v", err)
			}
		})
	}
}
