package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/passkey"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/passkeytest"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

const origin = "https://push.example.com"

// A keyholder is a browser with a device, at a store.
type keyholder struct {
	*storetest.Fixture
	site    passkey.Site
	browser secret.Text // its own secret, for signing in alone
	device  *passkeytest.Device
	last    store.PasskeyAnswer

	given store.Factor        // beside the password, where the account has a factor
	first *passkeytest.Device // that has a passkey of the account, and proves it in place of given
}

func newKeyholder(t *testing.T, f *storetest.Fixture) *keyholder {
	t.Helper()
	site, ok := passkey.SiteOf(origin)
	if !ok {
		t.Fatal("there are no passkeys at", origin)
	}
	return &keyholder{Fixture: f, site: site, browser: secret.New("a browser"), device: passkeytest.New(t, origin)}
}

// add gives the account of a session the passkey of the device.
func (k *keyholder) add(session secret.Text, name string) (store.NewSession, []secret.Text, error) {
	if k.first != nil {
		k.Clock.Advance(time.Second)
		q, err := k.AskPasskey(ctx, session, k.site)
		if err != nil {
			return store.NewSession{}, nil, err
		}
		k.given = store.Factor{Passkey: store.PasskeyAnswer{Site: k.site, Challenge: q.Challenge, Text: secret.New(k.first.Get(q.Options))}}
	}
	q, err := k.NewPasskey(ctx, session, k.site)
	if err != nil {
		return store.NewSession{}, nil, err
	}
	k.Clock.Advance(time.Second)
	n, recovery, err := k.AddPasskey(ctx, anonymous, session, secret.New(right), k.given, name, store.PasskeyAnswer{Site: k.site, Challenge: q.Challenge, Text: secret.New(k.device.Create(q.Options))})
	if err == nil && k.first == nil {
		k.first = k.device
	}
	return n, recovery, err
}

// mustAdd is add for the first factor of an account. The session is the new one.
func (k *keyholder) mustAdd(t *testing.T, session *store.NewSession) (recovery []secret.Text) {
	t.Helper()
	n, recovery, err := k.add(session.Secret, "laptop")
	if err != nil || len(recovery) != store.RecoveryCodes || !n.MFA || n.TOTP {
		t.Fatalf("%d codes, %+v, %v", len(recovery), n.SessionInfo, err)
	}
	*session = n
	return recovery
}

// second signs in with the password and the passkey.
func (k *keyholder) second(t *testing.T) error {
	t.Helper()
	pending := storetest.SignIn(t, k.Fixture)
	if !pending.Pending {
		t.Fatal("the password is enough")
	}
	k.Clock.Advance(time.Second)
	q, err := k.AskPasskey(ctx, pending.Secret, k.site)
	if err != nil {
		return err
	}
	k.last = store.PasskeyAnswer{Site: k.site, Challenge: q.Challenge, Text: secret.New(k.device.Get(q.Options))}
	n, err := k.SignInPasskey(ctx, anonymous, pending.Secret, k.last)
	return inForce(n, err)
}

// alone signs in with the passkey.
func (k *keyholder) alone(*testing.T) error {
	k.Clock.Advance(time.Second)
	q := k.AskAnyPasskey(k.browser, k.site)
	k.last = store.PasskeyAnswer{Site: k.site, Challenge: q.Challenge, Text: secret.New(k.device.Get(q.Options))}
	n, err := k.SignInAlone(ctx, anonymous, k.browser, k.last)
	return inForce(n, err)
}

func inForce(n store.NewSession, err error) error {
	if err == nil && (n.Pending || n.Secret.IsZero() || n.Mark.IsZero()) {
		return fmt.Errorf("the session is %+v", n.SessionInfo)
	}
	return err
}

// both are the two ways to sign in with a passkey.
var both = map[string]func(*keyholder, *testing.T) error{"as second factor": (*keyholder).second, "alone": (*keyholder).alone}

func TestAPasskeySignsIn(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	old := n.Secret
	k := newKeyholder(t, f)
	k.device.Count = 1
	recovery := k.mustAdd(t, &n)
	if _, err := f.Resume(ctx, old); !errors.Is(err, record.ErrSession) {
		t.Errorf("the session from before: %v", err)
	}
	for name, signIn := range both {
		for range 2 {
			if err := signIn(k, t); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	list, err := f.Passkeys(ctx, n.Secret)
	if err != nil || len(list) != 1 || list[0].Name != "laptop" || !list[0].UsedAt.After(list[0].CreatedAt) {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, recovery[3]); err != nil {
		t.Errorf("a recovery code: %v", err)
	}
	if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, secret.New("123456")); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("a code without an app: %v", err)
	}
}

// What a browser, or a client in its place, may not sign in with.
func TestAForgedPasskeyIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		forge func(*keyholder)
		want  error
		at    string // only this way to sign in
	}{
		"a page of another site":            {func(k *keyholder) { k.device.Origin = "https://push.example.com.evil.example" }, record.ErrCredentials, ""},
		"a page of the site without TLS":    {func(k *keyholder) { k.device.Origin = "http://push.example.com" }, record.ErrCredentials, ""},
		"a page of the site's parent":       {func(k *keyholder) { k.device.Origin = "https://example.com" }, record.ErrCredentials, ""},
		"a device that signs for another":   {func(k *keyholder) { k.device.Site = "evil.example" }, record.ErrCredentials, ""},
		"another challenge":                 {func(k *keyholder) { k.device.Challenge = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }, record.ErrCredentials, ""},
		"the making of a passkey":           {func(k *keyholder) { k.device.Ceremony = "webauthn.create" }, record.ErrCredentials, ""},
		"no user was there":                 {func(k *keyholder) { k.device.Flags = passkeytest.Verified }, record.ErrCredentials, ""},
		"the user was not verified":         {func(k *keyholder) { k.device.Flags = passkeytest.Present }, record.ErrCredentials, "alone"},
		"verification is not a must":        {func(k *keyholder) { k.device.Flags = passkeytest.Present }, nil, "as second factor"},
		"a handle of no account":            {func(k *keyholder) { k.device.Handle = make([]byte, 24) }, record.ErrCredentials, "alone"},
		"a handle of another instance":      {func(k *keyholder) { k.device.Handle[20] ^= 1 }, record.ErrCredentials, "alone"},
		"a short handle":                    {func(k *keyholder) { k.device.Handle = []byte("x") }, record.ErrCredentials, "alone"},
		"no handle":                         {func(k *keyholder) { k.device.Handle = nil }, record.ErrCredentials, "alone"},
		"another passkey's ID":              {func(k *keyholder) { k.device.ID = []byte("another") }, record.ErrCredentials, ""},
		"the count goes back":               {func(k *keyholder) { k.device.Count = 4 }, record.ErrCredentials, ""},
		"the count stands still":            {func(k *keyholder) { k.device.Count = 6 }, record.ErrCredentials, ""},
		"the count is gone":                 {func(k *keyholder) { k.device.Count = 0 }, record.ErrCredentials, ""},
		"the same device, as it always was": {func(*keyholder) {}, nil, ""},
	} {
		for way, signIn := range both {
			if c.at != "" && c.at != way {
				continue
			}
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				f := storetest.New(t, unhurried)
				storetest.AddMember(t, f, email)
				n := storetest.SignIn(t, f)
				k := newKeyholder(t, f)
				k.device.Count = 7
				k.mustAdd(t, &n)
				c.forge(k)
				if err := signIn(k, t); !errors.Is(err, c.want) {
					t.Errorf("%v, not %v", err, c.want)
				}
			})
		}
	}
}

func TestAnAnswerOfAPasskeyIsGoodOnce(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	k := newKeyholder(t, f) // its device does not count, as most that copy passkeys
	k.mustAdd(t, &n)
	env.OK(t, k.alone(t))
	if _, err := f.SignInAlone(ctx, anonymous, k.browser, k.last); !errors.Is(err, record.ErrSession) {
		t.Errorf("the same answer again: %v", err)
	}
	if _, err := f.SignInAlone(ctx, anonymous, secret.New("another browser"), k.last); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("from another browser: %v", err)
	}
	pending := storetest.SignIn(t, f)
	if _, err := f.SignInPasskey(ctx, anonymous, pending.Secret, k.last); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("as second factor: %v", err)
	}
	asked, err := f.AskPasskey(ctx, pending.Secret, k.site)
	env.OK(t, err)
	answer := store.PasskeyAnswer{Site: k.site, Challenge: asked.Challenge, Text: secret.New(k.device.Get(asked.Options))}
	if _, err := f.SignInPasskey(ctx, anonymous, storetest.SignIn(t, f).Secret, answer); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("for another pending session: %v", err)
	}
	if _, err := f.SignInAlone(ctx, anonymous, k.browser, answer); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("a second factor alone: %v", err)
	}
	f.Clock.Advance(5 * time.Minute)
	if _, err := f.SignInPasskey(ctx, anonymous, pending.Secret, answer); !errors.Is(err, record.ErrSession) {
		t.Errorf("after five minutes: %v", err)
	}
	if err := k.second(t); err != nil {
		t.Errorf("in time: %v", err)
	}
}

func TestAPasskeyIsOfOneAccount(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	k := newKeyholder(t, f)
	k.mustAdd(t, &n)
	eve := storetest.AddMember(t, f, "eve@example.com")
	hers, err := f.SignIn(ctx, anonymous, eve.Email, secret.New(right))
	env.OK(t, err)
	e := newKeyholder(t, f)
	if _, _, err := e.add(hers.Secret, "phone"); err != nil {
		t.Fatal(err)
	}
	own := e.device.Handle
	if slices.Equal(own, k.device.Handle) || strings.Contains(string(own), eve.Email) {
		t.Errorf("handles: %x and %x", own, k.device.Handle)
	}
	e.device.Handle = k.device.Handle // her passkey for the account of ann
	for way, signIn := range both {
		if err := signIn(e, t); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("%s: %v", way, err)
		}
	}
	e.device.Handle = own
	if err := e.alone(t); err != nil {
		t.Errorf("for her own: %v", err)
	}
	if _, err := f.AskPasskey(ctx, secret.New("no session"), k.site); !errors.Is(err, record.ErrSession) {
		t.Errorf("without a session: %v", err)
	}
}

func TestAPasskeyThatIsGoneSignsInNoMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end   func(*storetest.Fixture, store.NewSession, store.Factor) error
		alone error
	}{
		"removed": {func(f *storetest.Fixture, n store.NewSession, given store.Factor) error {
			list, err := f.Passkeys(ctx, n.Secret)
			if err != nil || len(list) != 1 {
				return fmt.Errorf("%+v, %w", list, err)
			}
			if err := f.RemovePasskey(ctx, anonymous, n.Secret, secret.New("wrong"), given, list[0].ID); !errors.Is(err, record.ErrCredentials) {
				return fmt.Errorf("with a wrong password: %w", err)
			}
			if err := f.RemovePasskey(ctx, anonymous, n.Secret, secret.New(right), store.Factor{}, list[0].ID); !errors.Is(err, record.ErrCredentials) {
				return fmt.Errorf("without a factor: %w", err)
			}
			return f.RemovePasskey(ctx, anonymous, n.Secret, secret.New(right), given, list[0].ID)
		}, record.ErrCredentials},
		"reset by command": {func(f *storetest.Fixture, _ store.NewSession, _ store.Factor) error {
			return f.ResetFactors(ctx, storetest.Operator, email)
		}, record.ErrCredentials},
		"disabled": {func(f *storetest.Fixture, _ store.NewSession, _ store.Factor) error {
			return f.SetDisabled(ctx, storetest.Operator, email, true)
		}, record.ErrCredentials},
		"account removed": {func(f *storetest.Fixture, _ store.NewSession, _ store.Factor) error {
			return f.RemoveAccount(ctx, storetest.Operator, email)
		}, record.ErrCredentials},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t, unhurried)
			storetest.AddMember(t, f, email)
			n := storetest.SignIn(t, f)
			k := newKeyholder(t, f)
			recovery := k.mustAdd(t, &n)
			pending := storetest.SignIn(t, f)
			q, err := f.AskPasskey(ctx, pending.Secret, k.site)
			env.OK(t, err)
			env.OK(t, c.end(f, n, store.Factor{Code: recovery[1]}))
			f.Clock.Advance(time.Second)
			if err := k.alone(t); !errors.Is(err, c.alone) {
				t.Errorf("alone: %v", err)
			}
			answer := store.PasskeyAnswer{Site: k.site, Challenge: q.Challenge, Text: secret.New(k.device.Get(q.Options))}
			if _, err := f.SignInPasskey(ctx, anonymous, pending.Secret, answer); err == nil {
				t.Error("it is a second factor")
			}
			if _, err := f.SignInCode(ctx, anonymous, pending.Secret, recovery[0]); err == nil {
				t.Error("a recovery code is good")
			}
		})
	}
}

func TestFactorsComeAndGoOneByOne(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	key, recovery := storetest.EnableTOTP(t, f, &n)
	k := newKeyholder(t, f)
	if _, _, err := k.add(n.Secret, "laptop"); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("a second factor without the first: %v", err)
	}
	f.Clock.Advance(time.Minute)
	k.given.Code = storetest.Code(t, f, key, 0)
	if got, codes, err := k.add(n.Secret, "laptop"); err != nil || codes != nil || !got.Secret.IsZero() {
		t.Fatalf("a second factor ends sessions or has new codes: %d, %v", len(codes), err)
	}
	if _, _, err := k.add(n.Secret, "again"); !errors.Is(err, record.ErrExists) {
		t.Errorf("the same passkey: %v", err)
	}
	if i := wantResume(t, f, n, nil); !i.MFA || !i.TOTP || i.RecoveryCodes != store.RecoveryCodes {
		t.Errorf("%+v", i)
	}
	f.Clock.Advance(time.Minute)
	env.OK(t, f.DisableTOTP(ctx, anonymous, n.Secret, secret.New(right), store.Factor{Code: storetest.Code(t, f, key, 0)}))
	if i := wantResume(t, f, n, nil); !i.MFA || i.TOTP || i.RecoveryCodes != store.RecoveryCodes {
		t.Errorf("%+v", i)
	}
	f.Clock.Advance(time.Minute)
	if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, storetest.Code(t, f, key, 0)); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("the app that is gone: %v", err)
	}
	if _, err := f.SignInCode(ctx, anonymous, storetest.SignIn(t, f).Secret, recovery[0]); err != nil {
		t.Errorf("a recovery code: %v", err)
	}
	list, err := f.Passkeys(ctx, n.Secret)
	env.OK(t, err)
	for _, want := range []error{nil, record.ErrNotFound} {
		if err := f.RemovePasskey(ctx, anonymous, n.Secret, secret.New(right), store.Factor{Code: recovery[1]}, list[0].ID); !errors.Is(err, want) {
			t.Errorf("%v, not %v", err, want)
		}
	}
	if i := wantResume(t, f, n, nil); i.MFA || i.RecoveryCodes != 0 || storetest.SignIn(t, f).Pending {
		t.Errorf("%+v", i)
	}
}

func TestAnAccountHasSomePasskeysWithNames(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	k := newKeyholder(t, f)
	var invalid *record.InvalidError
	for _, name := range []string{"", " ", "a\x00b", "\xff", strings.Repeat("x", record.MaxLabel+1)} {
		if _, _, err := k.add(n.Secret, name); !errors.As(err, &invalid) || invalid.Fields["name"] == nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	k.mustAdd(t, &n)
	for i := range record.MaxPasskeys {
		k.device = passkeytest.New(t, origin)
		if _, _, err := k.add(n.Secret, fmt.Sprint(" phone ", i)); (err == nil) != (i < record.MaxPasskeys-1) {
			t.Errorf("number %d: %v", i, err)
		}
	}
	list, err := f.Passkeys(ctx, n.Secret)
	if err != nil || len(list) != record.MaxPasskeys || list[1].Name != "phone 0" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestOnlyAPasskeyThatWasAskedForIsAdded(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(*keyholder){
		"a page of another site":      func(k *keyholder) { k.device.Origin = "https://evil.example" },
		"a device for another site":   func(k *keyholder) { k.device.Site = "evil.example" },
		"another challenge":           func(k *keyholder) { k.device.Challenge = "AAAA" },
		"the use of a passkey":        func(k *keyholder) { k.device.Ceremony = "webauthn.get" },
		"no user was there":           func(k *keyholder) { k.device.Flags = 0 },
		"an ID that is much too long": func(k *keyholder) { k.device.ID = make([]byte, 1024) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t, unhurried)
			storetest.AddMember(t, f, email)
			n := storetest.SignIn(t, f)
			k := newKeyholder(t, f)
			forge(k)
			var invalid *record.InvalidError
			if _, _, err := k.add(n.Secret, "x"); !errors.As(err, &invalid) || invalid.Fields["passkey"] == nil {
				t.Errorf("%v", err)
			}
			if wantResume(t, f, n, nil).MFA {
				t.Error("it was added")
			}
		})
	}
}

// A refused passkey is in the instance log, with the reason if there may be a copy.
func TestACopiedPasskeyIsAnEvent(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	a := storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	k := newKeyholder(t, f)
	k.device.Count = 7
	k.mustAdd(t, &n)
	for way, signIn := range both {
		k.device.Count = 6
		if err := signIn(k, t); !errors.Is(err, record.ErrCredentials) {
			t.Errorf("%s: %v", way, err)
		}
	}
	copies := 0
	for _, e := range eventsAfter(t, f, 0) {
		if e.Kind == record.AdminSignInRefused && e.Account == a.ID && strings.Contains(e.Detail, "copy") {
			copies++
		}
	}
	if copies != len(both) {
		t.Errorf("%d events", copies)
	}
}

// A client may try only so often, and locks out no one else.
func TestPasskeysAreTriedWithinLimits(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) { s.SignIns = store.SignInLimits{PerClient: 5, PerAccount: 2} })
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	k := newKeyholder(t, f)
	k.mustAdd(t, &n)
	try := func(client, browser string) error {
		_, err := f.SignInAlone(ctx, store.Actor{Client: client}, secret.New(browser), store.PasskeyAnswer{Site: k.site})
		return err
	}
	for i, want := range []error{record.ErrCredentials, record.ErrCredentials, record.ErrLocked} {
		if err := try("192.0.2.1", "x"); !errors.Is(err, want) {
			t.Errorf("try %d: %v", i, err)
		}
	}
	for i, want := range []error{record.ErrCredentials, record.ErrCredentials, record.ErrCredentials, record.ErrLocked} {
		if err := try("192.0.2.1", fmt.Sprint(i)); !errors.Is(err, want) {
			t.Errorf("with cookie %d: %v", i, err)
		}
	}
	if err := k.alone(t); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
}
