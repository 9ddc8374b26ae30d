package store_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// strict is a policy that differs from the general settings in everything.
func strict() store.Policy {
	t := storetest.Terms()[record.Text]
	t.Days, t.Views = store.Range{Default: 2, Min: 1, Max: 3}, store.Range{Default: 4, Min: 1, Max: 6}
	return store.Policy{
		Name: "strict", Groups: []string{"staff"},
		Terms: map[record.Kind]store.Terms{record.Text: t, record.File: t},
		Files: store.FileLimits{MaxCount: 2, MaxSize: 1000},
		Room:  record.Room{Pushes: 2},
		Rules: store.Rules{Passphrase: true, NoMail: true},
	}
}

// hasPolicies is a setup with that policy, and with others.
func hasPolicies(s *storetest.Setup) {
	sendsMail(s)
	second := strict()
	second.Name, second.Groups = "second", []string{"other", "staff"}
	byHand, sealed := store.Policy{Name: "by-hand", Terms: storetest.Terms()}, store.Policy{Name: "sealed", Terms: storetest.Terms()}
	sealed.Encryption = true
	s.Policies = []store.Policy{strict(), second, byHand, sealed}
}

// governed is an account that has a policy.
func governed(t *testing.T, f *storetest.Fixture, email, policy string) store.Actor {
	t.Helper()
	by := f.Account(email)
	env.OK(t, f.SetPolicy(ctx, storetest.Operator, email, policy))
	return by
}

// wrongIn names the fields that an error is about; "other" is another error.
func wrongIn(err error) string {
	invalid := (*record.InvalidError)(nil)
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &invalid):
		return "other"
	}
	return strings.Join(slices.Sorted(maps.Keys(invalid.Fields)), " ")
}

func TestAPolicyBoundsThePushesOfItsAccounts(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, boundsPushesByPolicy)
}

func boundsPushesByPolicy(t *testing.T, engine func(*storetest.Setup)) {
	f := storetest.New(t, engine, hasPolicies)
	ann, bob := governed(t, f, email, "strict"), f.Account("bob@example.com")
	for name, c := range map[string]struct {
		change func(*store.NewPush)
		want   string
	}{
		"as it should be":   {func(*store.NewPush) {}, ""},
		"no passphrase":     {func(in *store.NewPush) { in.Passphrase = secret.Text{} }, store.FieldPassphrase},
		"the most days":     {func(in *store.NewPush) { in.Days = new(3) }, ""},
		"a day more":        {func(in *store.NewPush) { in.Days = new(4) }, store.FieldDays},
		"the longest time":  {func(in *store.NewPush) { in.Lifetime = 3 * day }, ""},
		"a longer one":      {func(in *store.NewPush) { in.Lifetime = 3*day + 1 }, store.FieldDuration},
		"the most views":    {func(in *store.NewPush) { in.Views = new(6) }, ""},
		"a view more":       {func(in *store.NewPush) { in.Views = new(7) }, store.FieldViews},
		"another kind":      {func(in *store.NewPush) { in.Kind, in.Payload = record.URL, secret.New("https://example.com") }, store.FieldKind},
		"mail":              {func(in *store.NewPush) { in.Mail = mailing("a@example.net") }, store.FieldMailTo},
		"all that is wrong": {func(in *store.NewPush) { in.Passphrase, in.Views = secret.Text{}, new(7) }, store.FieldViews + " " + store.FieldPassphrase},
	} {
		in := store.NewPush{Kind: record.Text, Payload: secret.New("x"), Passphrase: secret.New("y")}
		c.change(&in)
		p, err := f.CreatePush(ctx, ann, in)
		if got := wrongIn(err); got != c.want {
			t.Errorf("%s: %q (%v), not %q", name, got, err, c.want)
		}
		if c.want == "" {
			if in.Days == nil && in.Lifetime == 0 && (p.Days != 2 || in.Views == nil && p.ViewLimit != 4) {
				t.Errorf("%s: %d days, %d views", name, p.Days, p.ViewLimit)
			}
			if _, err := f.DeletePush(ctx, ann, p.Token); err != nil {
				t.Fatal(err)
			}
		}
		for who, by := range map[string]store.Actor{"another account": bob, "an anonymous client": storetest.Anonymous} {
			if in.Mail != nil && by.Account == 0 {
				continue
			}
			if _, err := f.CreatePush(ctx, by, in); err != nil {
				t.Errorf("%s, by %s: %v", name, who, err)
			}
		}
	}
}

func TestAPolicyBoundsFilesAndRoom(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, boundsFilesAndRoomByPolicy)
}

func boundsFilesAndRoomByPolicy(t *testing.T, engine func(*storetest.Setup)) {
	f := storetest.New(t, engine, hasPolicies)
	ann, bob := governed(t, f, email, "strict"), f.Account("bob@example.com")
	policy, err := f.PolicyOf(ctx, ann)
	if err != nil || policy.Name != "strict" {
		t.Fatal(policy, err)
	}
	add := func(sizes ...int) error {
		u := f.NewUpload(policy)
		for _, n := range sizes {
			if err := u.Add(ctx, strings.NewReader(strings.Repeat("x", n))); err != nil {
				return errors.Join(err, u.Close(ctx))
			}
		}
		return u.Close(ctx)
	}
	if err := add(1000, 1000); err != nil {
		t.Errorf("as many and as large as may be: %v", err)
	}
	if err := add(1001); !errors.Is(err, record.ErrFileSize) {
		t.Errorf("a byte more: %v", err)
	}
	if err := add(1, 1, 1); err == nil {
		t.Error("a file more is taken")
	}
	send := func(by store.Actor) (store.PushInfo, error) {
		return f.CreatePush(ctx, by, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Passphrase: secret.New("y")})
	}
	for n, of := range []record.RoomOf{0, 0, record.RoomOfAccount} {
		if err := f.HasRoom(ctx, ann, 1); (err != nil) != (of != 0) {
			t.Errorf("asked for room for push %d: %v", n+1, err)
		}
		_, err := send(ann)
		wantRoom(t, "a push of the account", err, of)
		_, err = send(bob)
		wantRoom(t, "a push of another account", err, 0)
	}
	env.OK(t, f.SetPolicy(ctx, storetest.Operator, email, ""))
	_, err = send(ann)
	wantRoom(t, "without the policy", err, 0)
}

func TestAPolicyBoundsChangesOfAPush(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, hasPolicies)
	ann := f.Account(email)
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Days = new(30) })
	env.OK(t, f.SetPolicy(ctx, storetest.Operator, email, "strict"))
	for name, c := range map[string]struct {
		edit store.PushEdit
		want string
	}{
		"a name":         {store.PushEdit{Name: new(secret.New("n"))}, ""},
		"the most days":  {store.PushEdit{Days: new(3)}, ""},
		"a day more":     {store.PushEdit{Days: new(4)}, store.FieldDays},
		"the most views": {store.PushEdit{Views: new(6)}, ""},
		"a view more":    {store.PushEdit{Views: new(7)}, store.FieldViews},
	} {
		if _, err := f.EditPush(ctx, ann, p.Token, c.edit); wrongIn(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h, err := f.History(ctx, ann, p.Token, 1); err != nil || h.Days.Max != 3 || h.Views.Max != 6 {
		t.Errorf("the page has days %+v and views %+v, %v", h.Days, h.Views, err)
	}
	if _, err := f.MailPush(ctx, ann, p.Token, *mailing("a@example.net")); wrongIn(err) != store.FieldMailTo {
		t.Errorf("its link by mail: %v", err)
	}
}

func TestAPolicyRequiresEncryptionByTheSender(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, hasPolicies)
	ann := governed(t, f, email, "sealed")
	envelope, err := endtoend.NewKey().Seal(endtoend.Content{Text: secret.New("x")})
	env.OK(t, err)
	for payload, want := range map[string]string{envelope.Reveal(): "", "x": store.FieldPayload} {
		if _, err := f.CreatePush(ctx, ann, store.NewPush{Kind: record.Text, Payload: secret.New(payload)}); wrongIn(err) != want {
			t.Errorf("%v", err)
		}
	}
	if _, err := f.CreatePush(ctx, ann, store.NewPush{Kind: record.QR, Payload: secret.New("x")}); wrongIn(err) != store.FieldPayload {
		t.Errorf("a kind that cannot be encrypted: %v", err)
	}
	asked := store.NewRequest{Text: secret.New("x")}
	if _, err := f.CreateRequest(ctx, ann, asked); wrongIn(err) != store.FieldP256 {
		t.Errorf("a request for texts that are not encrypted: %v", err)
	}
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	env.OK(t, err)
	asked.P256 = key.PublicKey().Bytes()
	if _, err := f.CreateRequest(ctx, ann, asked); err != nil {
		t.Errorf("a request for texts that are: %v", err)
	}
}

func TestAnswersHaveThePolicyOfTheAccountThatAsks(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, boundsAnswersByPolicy)
}

func boundsAnswersByPolicy(t *testing.T, engine func(*storetest.Setup)) {
	f := storetest.New(t, engine, hasPolicies)
	ann := governed(t, f, email, "strict")
	if _, err := f.CreateRequest(ctx, ann, store.NewRequest{Text: secret.New("x"), AnswerDays: new(4)}); wrongIn(err) != store.FieldAnswerDays {
		t.Errorf("more days than the policy allows: %v", err)
	}
	r, err := f.CreateRequest(ctx, ann, store.NewRequest{Text: secret.New("x"), MaxAnswers: new(9)})
	env.OK(t, err)
	answer := func() (store.PushInfo, error) {
		return f.CreatePush(ctx, storetest.Anonymous, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Request: r.Token})
	}
	for n, want := range []error{nil, nil, record.ErrNoAnswers} {
		p, err := answer()
		if !errors.Is(err, want) || err == nil && (p.Days != 2 || p.ViewLimit != 4) {
			t.Errorf("answer %d: %v, %d days, %d views", n+1, err, p.Days, p.ViewLimit)
		}
	}
}

func TestGroupsDecideWhichPolicyAnAccountHas(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, decidesPolicyByGroups)
}

func decidesPolicyByGroups(t *testing.T, engine func(*storetest.Setup)) {
	f := storetest.New(t, engine, hasPolicies)
	in := func(groups ...string) func(*store.External) {
		return func(x *store.External) { x.Groups = groups }
	}
	has := func(what, want string) {
		t.Helper()
		a, err := f.AccountByEmail(ctx, email)
		if err != nil || a.Policy != want {
			t.Errorf("%s: %q, not %q, %v", what, a.Policy, want, err)
		}
	}
	signInAs(t, f, in("nobody", "staff"))
	has("a group of two policies", "strict")
	if got, want := lastKinds(t, f, 2), []string{"policy_change strict, by Office", "sign_in by Office"}; !slices.Equal(got, want) {
		t.Errorf("the log ends with %q", got)
	}
	before, _ := f.LastAdminEvent(ctx)
	env.OK(t, f.Recheck(ctx, person(in("staff"))))
	if after, _ := f.LastAdminEvent(ctx); after != before {
		t.Error("the same policy again is an event")
	}
	signInAs(t, f, in("other"))
	has("another group", "second")
	env.OK(t, f.Recheck(ctx, person(in())))
	has("no group", "")
	env.OK(t, f.SetPolicy(ctx, storetest.Operator, email, "by-hand"))
	signInAs(t, f, in("staff"))
	has("given by hand", "by-hand")
	signInAs(t, f)
	has("given by hand, no group", "by-hand")
	env.OK(t, f.SetPolicy(ctx, storetest.Operator, email, "strict"))
	signInAs(t, f)
	has("one with groups that was given by hand", "")
}

func TestAPolicyThatTheSettingsLackIsNone(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, hasPolicies)
	ann := governed(t, f, email, "strict")
	if err := f.SetPolicy(ctx, storetest.Operator, email, "unknown"); wrongIn(err) != store.FieldPolicy {
		t.Errorf("one that the settings lack: %v", err)
	}
	if err := f.SetPolicy(ctx, ann, email, ""); !errors.Is(err, record.ErrDenied) {
		t.Errorf("by its user: %v", err)
	}
	if err := f.SetPolicy(ctx, storetest.Operator, "nobody@example.com", "strict"); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("of no account: %v", err)
	}
	if lost, err := f.LostPolicies(ctx); err != nil || lost != nil {
		t.Errorf("%q, %v", lost, err)
	}
	f.Configure(store.Options{Terms: storetest.Terms(), Policies: []store.Policy{{Name: "other"}}})
	if lost, err := f.LostPolicies(ctx); err != nil || !slices.Equal(lost, []string{"strict"}) {
		t.Errorf("%q, %v", lost, err)
	}
	if _, err := f.CreatePush(ctx, ann, store.NewPush{Kind: record.URL, Payload: secret.New("https://example.com")}); err != nil {
		t.Errorf("what holds for all: %v", err)
	}
	f.Configure(store.Options{Terms: storetest.Terms(), Rules: store.Rules{Passphrase: true}})
	for who, by := range map[string]store.Actor{"an account": ann, "an anonymous client": storetest.Anonymous} {
		if _, err := f.CreatePush(ctx, by, store.NewPush{Kind: record.Text, Payload: secret.New("x")}); wrongIn(err) != store.FieldPassphrase {
			t.Errorf("a rule for all, by %s: %v", who, err)
		}
	}
}
