package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

const hookURL = "https://hooks.example.com/a-secret-path"

// addHook adds a webhook to the account of an address.
func addHook(t *testing.T, f *storetest.Fixture, email string, events ...record.Event) store.HookInfo {
	t.Helper()
	h, err := f.AddHook(ctx, storetest.Operator, email, store.NewHook{URL: secret.New(hookURL), Events: events})
	env.OK(t, err)
	return h
}

// dueHooks asks for messages to webhooks.
func dueHooks(limit int) record.MessageQuery {
	return record.MessageQuery{Route: record.ByWebhook, Limit: limit}
}

// notices opens all that waits in the outbox.
func notices(t *testing.T, f *storetest.Fixture) (all []store.Notice, to []uint64) {
	t.Helper()
	due, _, err := f.DueMessages(ctx, dueHooks(1000))
	env.OK(t, err)
	if len(due) != f.Waiting() {
		t.Errorf("%d messages are due, %d wait", len(due), f.Waiting())
	}
	for _, m := range due {
		n, err := f.OpenNotice(ctx, m)
		env.OK(t, err)
		all, to = append(all, n), append(to, m.To)
	}
	return all, to
}

// told is what waits in the outbox, in short.
func told(t *testing.T, f *storetest.Fixture) string {
	t.Helper()
	all, to := notices(t, f)
	var short []string
	for i, n := range all {
		short = append(short, strings.TrimSpace(fmt.Sprintf("%d:%v %v", to[i], n.Event, n.Cause)))
	}
	return strings.Join(short, ", ")
}

func TestWebhooksAreToldOfWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) { s.Hooks.Instance = record.NewEventSet(record.EventExpire) })
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	addHook(t, f, "ann@example.com", record.EventView, record.EventFailedPassphrase)
	addHook(t, f, "ann@example.com", record.EventLastView)
	viewer := store.Actor{IP: "192.0.2.7", UserAgent: "curl", Client: "192.0.2.7"}
	p := storetest.Push(t, f, ann, func(in *store.NewPush) {
		in.Views, in.Name, in.Passphrase = ptr(2), secret.New("the name"), secret.New("open sesame")
	})
	if _, err := f.Retrieve(ctx, viewer, p.Token, secret.New("wrong"), nil); !errors.Is(err, record.ErrPassphrase) {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := f.Retrieve(ctx, viewer, p.Token, secret.New("open sesame"), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, by := range []store.Actor{anonymous, bob} {
		other := storetest.Push(t, f, by, nil)
		if _, err := f.Retrieve(ctx, viewer, other.Token, secret.Text{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	const want = "1:failed_passphrase, 1:view, 1:view, 2:last_view, 0:expire views"
	if got := told(t, f); got != want {
		t.Errorf("told is %s, not %s", got, want)
	}
	all, to := notices(t, f)
	ids := make(map[string]bool)
	for i, n := range all {
		ids[n.ID] = true
		own := to[i] != 0
		if n.Push != p.ID || n.Kind != record.Text || n.IP != viewer.IP || n.UserAgent != "curl" || n.ViewLimit != 2 || !n.At.Equal(f.Clock.Now()) {
			t.Errorf("%v says %+v", n.Event, n)
		}
		if (n.URLToken.Reveal() == p.Handle().String()) != own || (n.Name.Reveal() == "the name") != own || n.URLToken.IsZero() == own {
			t.Errorf("name and handle are told to webhook %d: %v, %q", to[i], !n.Name.IsZero(), n.URLToken.Reveal())
		}
	}
	if len(ids) != len(all) || !strings.HasPrefix(all[0].ID, "msg_") || all[1].Views != 1 || all[2].Views != 2 {
		t.Errorf("the messages are %+v", all)
	}
	f.Reopen()
	if got := told(t, f); got != want {
		t.Errorf("after a restart told is %s", got)
	}
}

func TestExpiryByTimeIsToldOnceAndWithoutAViewer(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	addHook(t, f, "ann@example.com", record.Events()...)
	p := storetest.Push(t, f, ann, nil)
	f.Clock.Advance(8 * 24 * time.Hour)
	if _, err := f.Retrieve(ctx, store.Actor{IP: "192.0.2.7"}, p.Token, secret.Text{}, nil); errors.Is(err, record.ErrClock) {
		f.Clock.Advance(time.Hour)
	}
	f.SweepAll()
	f.SweepAll()
	all, _ := notices(t, f)
	if len(all) != 1 || all[0].Event != record.EventExpire || all[0].Cause != store.CauseTime || all[0].IP != "" || !all[0].At.Equal(p.ExpiresAt) {
		t.Errorf("told is %+v", all)
	}
}

func TestAWebhookThatIsGoneIsToldNothing(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Views = ptr(100) })
	views := 0
	view := func(want int) {
		t.Helper()
		if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); err != nil {
			t.Fatal(err)
		}
		if got := f.Waiting() - views; got != want {
			t.Errorf("%d messages came of a view, not %d", got, want)
		}
		views = f.Waiting()
	}
	must := func(err error) {
		t.Helper()
		env.OK(t, err)
	}
	view(0)
	h := addHook(t, f, "ann@example.com", record.EventView)
	view(1)
	must(f.DisableHook(ctx, storetest.Operator, h.ID, true))
	view(0)
	if _, err := f.ActiveHook(t.Context(), h.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("a disabled webhook: %v", err)
	}
	must(f.DisableHook(ctx, storetest.Operator, h.ID, false))
	view(1)
	must(f.SetDisabled(ctx, storetest.Operator, "ann@example.com", true))
	view(0)
	if _, err := f.ActiveHook(t.Context(), h.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("a webhook of a disabled account: %v", err)
	}
	must(f.SetDisabled(ctx, storetest.Operator, "ann@example.com", false))
	f.Reopen()
	view(1)
	must(f.RemoveHook(ctx, storetest.Operator, h.ID))
	view(0)
	if err := f.RemoveHook(ctx, storetest.Operator, h.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("a webhook that is gone: %v", err)
	}
	again := addHook(t, f, "ann@example.com", record.EventView)
	must(f.RemoveAccount(ctx, storetest.Operator, "ann@example.com"))
	if _, err := f.Hook(t.Context(), again.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("a webhook of a removed account: %v", err)
	}
}

// A thief who knew the password may have added a webhook, whose messages have the links of all new
// pushes: it ends with the API tokens.
func TestWebhooksEndWithTheTokensThatANewPasswordEnds(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	storetest.AddMember(t, f, "bob@example.com")
	other := addHook(t, f, "bob@example.com", record.EventView)
	session := func() secret.Text {
		t.Helper()
		n, err := f.SignIn(ctx, storetest.Anonymous, email, secret.New(right))
		env.OK(t, err)
		return n.Secret
	}
	for what, set := range map[string]func(endTokens bool) error{
		"a change": func(end bool) error {
			_, err := f.ChangePassword(ctx, storetest.Anonymous, session(), secret.New(right), secret.New(right), end)
			return err
		},
		"a link": func(end bool) error {
			return f.SetPasswordByLink(ctx, storetest.Anonymous, linkFor(t, f, email).Code, secret.New(right), end)
		},
		"the operator": func(end bool) error {
			return f.SetPassword(ctx, storetest.Operator, email, secret.New(right), end)
		},
		"the end of access": func(end bool) error { return f.EndAccess(ctx, storetest.Operator, email, end) },
	} {
		h := addHook(t, f, email, record.EventView)
		for _, end := range []bool{false, true} {
			if err := set(end); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if _, err := f.ActiveHook(t.Context(), h.ID); errors.Is(err, record.ErrNotFound) != end {
				t.Errorf("%s that ends tokens %v: the webhook: %v", what, end, err)
			}
		}
	}
	f.Reopen()
	if _, err := f.ActiveHook(t.Context(), other.ID); err != nil {
		t.Errorf("a webhook of another account: %v", err)
	}
	if all, err := f.Hooks(ctx, email); err != nil || len(all) != 0 {
		t.Errorf("%d webhooks are left, %v", len(all), err)
	}
}

func TestAnAccountHasSixteenWebhooksAndNoMore(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account("ann@example.com")
	for range record.MaxHooks {
		addHook(t, f, "ann@example.com", record.EventView)
	}
	var bad *record.InvalidError
	if _, err := f.AddHook(ctx, storetest.Operator, "ann@example.com", store.NewHook{URL: secret.New(hookURL), Events: record.Events()}); !errors.As(err, &bad) || len(bad.Fields["webhooks"]) != 1 {
		t.Errorf("one more: %v", err)
	}
	list, err := f.Hooks(ctx, "ANN@example.com")
	if err != nil || len(list) != record.MaxHooks || list[0].URL.Reveal() != hookURL {
		t.Errorf("%d are listed, %v", len(list), err)
	}
}

func TestWhatNoWebhookCanBeIsRefused(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account("ann@example.com")
	long := hookURL + strings.Repeat("x", store.MaxHookURL-len(hookURL))
	if _, err := f.AddHook(ctx, storetest.Operator, "ann@example.com", store.NewHook{URL: secret.New(long), Events: record.Events()}); err != nil {
		t.Errorf("the longest address: %v", err)
	}
	for _, c := range []struct {
		url    string
		events []record.Event
		field  string
	}{
		{long + "x", record.Events(), "url"},
		{"ftp://hooks.example.com", record.Events(), "url"},
		{"https://", record.Events(), "url"},
		{"https://me:x@hooks.example.com", record.Events(), "url"},
		{"\x7f", record.Events(), "url"},
		{hookURL, nil, "events"},
	} {
		var bad *record.InvalidError
		if _, err := f.AddHook(ctx, storetest.Operator, "ann@example.com", store.NewHook{URL: secret.New(c.url), Events: c.events}); !errors.As(err, &bad) || len(bad.Fields[c.field]) == 0 {
			t.Errorf("%.40s %v: %v", c.url, c.events, err)
		}
	}
	var bad *record.InvalidError
	if _, err := f.AddHook(ctx, storetest.Operator, "ann@example.com", store.NewHook{URL: secret.New(hookURL), Form: record.FormText + 1, Events: record.Events()}); !errors.As(err, &bad) || len(bad.Fields["form"]) == 0 {
		t.Errorf("of an unknown form: %v", err)
	}
	if _, err := f.AddHook(ctx, storetest.Operator, "bob@example.com", store.NewHook{URL: secret.New(hookURL), Events: record.Events()}); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("of an unknown account: %v", err)
	}
}

func TestAWebhookKeepsItsForm(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Account("ann@example.com")
	for _, form := range record.HookForms() {
		h, err := f.AddHook(ctx, storetest.Operator, "ann@example.com", store.NewHook{URL: secret.New(hookURL), Form: form, Events: record.Events()})
		env.OK(t, err)
		for _, disabled := range []bool{true, false} { // which writes it again
			env.OK(t, f.DisableHook(ctx, storetest.Operator, h.ID, disabled))
		}
		got, err := f.ActiveHook(ctx, h.ID)
		env.OK(t, err)
		if parsed, ok := record.ParseHookForm(form.String()); got.Form != form || got.URL.Reveal() != hookURL || parsed != form || !ok {
			t.Errorf("%v became %v; its name is read as %v", form, got.Form, parsed)
		}
	}
	if _, ok := record.ParseHookForm(""); ok || record.HookForm(len(record.HookForms())).String() != "" {
		t.Error("a form without a name is known")
	}
}

func TestAFullOutboxRefusesNoView(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) { s.Hooks.Queue = 6 }) // one webhook may have half of it
	ann := f.Account("ann@example.com")
	addHook(t, f, "ann@example.com", record.EventView)
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Views = ptr(100) })
	look := func(times int) {
		t.Helper()
		for range times {
			if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(waiting int, dropped uint64) {
		t.Helper()
		if f.Waiting() != waiting || f.Dropped() != dropped {
			t.Errorf("%d wait, %d were dropped, not %d and %d", f.Waiting(), f.Dropped(), waiting, dropped)
		}
	}
	look(3)
	want(3, 0)
	look(2)
	want(3, 2)
	due, _, err := f.DueMessages(ctx, dueHooks(2))
	env.OK(t, err)
	env.OK(t, f.EndMessages(ctx, due))
	want(1, 2)
	look(3)
	want(3, 3)
	f.Reopen()
	want(3, 0)
	look(1)
	want(3, 1)
}

func TestAMessageIsGivenUpInTime(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	addHook(t, f, "ann@example.com", record.EventView)
	p := storetest.Push(t, f, ann, nil)
	for range 2 {
		if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	due, _, err := f.DueMessages(ctx, dueHooks(9))
	if err != nil || len(due) != 2 {
		t.Fatalf("%d are due, %v", len(due), err)
	}
	if again, err := f.RetryMessage(ctx, due[0], 24*time.Hour-time.Millisecond); err != nil || !again {
		t.Errorf("a retry within the time: %v, %v", again, err)
	}
	if _, wait, err := f.DueMessages(ctx, dueHooks(9)); err != nil || wait != time.Minute {
		t.Errorf("the next look is in %v, %v", wait, err)
	}
	f.Clock.Advance(24*time.Hour - time.Millisecond)
	if n, err := f.GiveUp(ctx, record.ByWebhook); n != 0 || err != nil {
		t.Errorf("%d were given up too early, %v", n, err)
	}
	due, _, err = f.DueMessages(ctx, dueHooks(9))
	if err != nil || len(due) != 2 {
		t.Fatalf("%d are due, %v", len(due), err)
	}
	if again, err := f.RetryMessage(ctx, due[1], time.Second); err != nil || again {
		t.Errorf("a retry beyond the time: %v, %v", again, err)
	}
	f.Clock.Advance(time.Millisecond)
	if n, err := f.GiveUp(ctx, record.ByWebhook); n != 1 || err != nil || f.Waiting() != 0 {
		t.Errorf("%d were given up, %d wait, %v", n, f.Waiting(), err)
	}
}

// A message has the link of its push only when it is opened, and only while the push is
// live.
func TestAMessageHasTheLinkOfALivePushAlone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Hooks.Instance, s.PurgeAfter = record.NewEventSet(record.EventView), 24*time.Hour
	})
	ann := f.Account("ann@example.com")
	addHook(t, f, "ann@example.com", record.EventView)
	p := storetest.Push(t, f, ann, nil)
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); err != nil {
		t.Fatal(err)
	}
	opened := func(when, want string) {
		t.Helper()
		all, to := notices(t, f)
		for i, n := range all {
			if to[i] == 0 && !n.URLToken.IsZero() {
				t.Errorf("%s: the webhook of the instance is told %q", when, n.URLToken.Reveal())
			}
			if to[i] != 0 && n.URLToken.Reveal() != want {
				t.Errorf("%s: it says %q, not %q", when, n.URLToken.Reveal(), want)
			}
		}
		if len(all) != 2 {
			t.Errorf("%s: %d messages wait", when, len(all))
		}
	}
	opened("live", p.Token.Reveal())
	if _, err := f.DeletePush(ctx, ann, p.Token); err != nil {
		t.Fatal(err)
	}
	opened("deleted", p.Handle().String())
	f.Clock.Advance(25 * time.Hour)
	f.SweepAll()
	if _, err := f.Preview(ctx, p.Token); !errors.Is(err, record.ErrNotFound) {
		t.Fatalf("it was not purged: %v", err)
	}
	opened("purged", p.Handle().String())
}

func TestWebhooksAndMessagesOutliveTheRenewalOfKeys(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) {
		s.Hooks.GiveUp = 10000 * time.Hour
	})
	ann := f.Account("ann@example.com")
	h := addHook(t, f, "ann@example.com", record.EventView)
	p := storetest.Push(t, f, ann, nil)
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := f.DeletePush(ctx, ann, p.Token); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		f.Clock.Advance(23 * time.Hour)
		f.SweepAll()
	}
	f.Reopen()
	if info, err := f.ActiveHook(t.Context(), h.ID); err != nil || info.Secret.Reveal() != h.Secret.Reveal() {
		t.Errorf("the webhook: %v", err)
	}
	if got := told(t, f); got != "1:view" {
		t.Errorf("told is %s", got)
	}
}

func TestAMessageOpensForItsWebhookAlone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	addHook(t, f, "ann@example.com", record.EventView)
	p := storetest.Push(t, f, ann, nil)
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); err != nil {
		t.Fatal(err)
	}
	due, _, err := f.DueMessages(ctx, dueHooks(9))
	env.OK(t, err)
	other := due[0]
	other.To++
	if _, err := f.OpenNotice(ctx, other); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("of another webhook: %v", err)
	}
	if v, ok := seal.SealedUnder(seal.DetailKeys, due[0].Sealed); !ok || v != 1 {
		t.Errorf("it is sealed under key %d, %v", v, ok)
	}
}

// A thief with a session and the password adds webhooks while the owner changes the password.
func TestNoWebhookIsAddedBesideANewPasswordAndOutlivesIt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	for range 20 {
		var sessions [2]secret.Text
		for i := range sessions {
			n, err := f.SignIn(ctx, storetest.Anonymous, email, secret.New(right))
			env.OK(t, err)
			sessions[i] = n.Secret
		}
		adding, done := make(chan struct{}), make(chan error, 1)
		go func() {
			begun := sync.OnceFunc(func() { close(adding) })
			defer begun()
			for range record.MaxHooks {
				_, err := f.AddOwnHook(ctx, storetest.Anonymous, sessions[0], secret.New(right), store.Factor{}, store.NewHook{URL: secret.New(hookURL), Events: []record.Event{record.EventView}})
				if err != nil {
					done <- err
					return
				}
				begun()
			}
			done <- nil
		}()
		<-adding
		if _, err := f.ChangePassword(ctx, storetest.Anonymous, sessions[1], secret.New(right), secret.New(right), true); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil && !errors.Is(err, record.ErrSession) && !errors.Is(err, record.ErrLocked) {
			t.Fatal(err)
		}
		if kept, err := f.Hooks(ctx, email); err != nil || len(kept) > 0 {
			t.Fatalf("%d webhooks outlived the password: %v", len(kept), err)
		}
		f.Clock.Advance(24 * time.Hour) // so that its changes are not counted together
	}
}
