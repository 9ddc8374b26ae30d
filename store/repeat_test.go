package store_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
	"pushbox/store/storetest/conformance"
)

// A key that a sender chose.
const aKey = "order-4711-0123456789abcdef"

// onceOnly is a create with a key, of a text.
func onceOnly(key, payload string) store.NewPush {
	return store.NewPush{
		Kind: record.Text, Payload: secret.New(payload), Name: secret.New("the name"), Views: ptr(3),
		Repeat: store.RepeatKey{Key: secret.New(key), Fields: sha256.Sum256([]byte(payload))},
	}
}

// makes creates a push, which must be a new one, or else the same as that one.
func makes(t *testing.T, f *storetest.Fixture, by store.Actor, in store.NewPush, same *store.PushInfo) store.PushInfo {
	t.Helper()
	p, err := f.CreatePush(ctx, by, in)
	env.OK(t, err)
	if p.Repeated != (same != nil) {
		t.Errorf("repeated: %t", p.Repeated)
	}
	if same != nil && (p.URLToken() != same.URLToken() || p.ID != same.ID || p.Name.Reveal() != same.Name.Reveal() || p.Mailed != same.Mailed) {
		t.Errorf("it is the push %s, not %s", p.ID, same.ID)
	}
	return p
}

func counts(t *testing.T, f *storetest.Fixture, pushes int) {
	t.Helper()
	if c := env.Must(f.Count(ctx))(t); c.Pushes != pushes {
		t.Errorf("there are %d pushes, not %d", c.Pushes, pushes)
	}
}

func TestACreateWithAKeyMakesOnePush(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine)
		ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
		first := makes(t, f, ann, onceOnly(aKey, "s3cret"), nil)
		makes(t, f, ann, onceOnly(aKey, "s3cret"), &first)
		counts(t, f, 1)
		if kinds := storetest.EntryKinds(t, f, ann, first); kinds != "creation " {
			t.Errorf("its log: %s", kinds)
		}
		if _, err := f.CreatePush(ctx, ann, onceOnly(aKey, "other")); wrongIn(err) != store.FieldRepeat {
			t.Errorf("with other fields: %v", err)
		}
		makes(t, f, ann, onceOnly(aKey+"x", "s3cret"), nil)
		makes(t, f, bob, onceOnly(aKey, "s3cret"), nil)
		makes(t, f, anonymous, onceOnly(aKey, "s3cret"), nil)
		other := store.Actor{Client: "203.0.113.4", IP: "203.0.113.4"}
		elsewhere := makes(t, f, other, onceOnly(aKey, "s3cret"), nil)
		makes(t, f, other, onceOnly(aKey, "s3cret"), &elsewhere)
		counts(t, f, 5)
		f.Reopen()
		makes(t, f, ann, onceOnly(aKey, "s3cret"), &first)
		counts(t, f, 5)
	})
}

// A repeat shows the push as it is now, and never brings one back.
func TestARepeatShowsThePushAsItIs(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { o.PurgeAfter = time.Hour })
	ann := f.Account("ann@example.com")
	first := makes(t, f, ann, onceOnly(aKey, "s3cret"), nil)
	storetest.Retrieve(t, f, anonymous, first)
	if p := makes(t, f, ann, onceOnly(aKey, "s3cret"), &first); p.Views != 1 || !p.Live() {
		t.Errorf("after a view: %d views, live %t", p.Views, p.Live())
	}
	_, err := f.DeletePush(ctx, ann, first.Token)
	env.OK(t, err)
	if p := makes(t, f, ann, onceOnly(aKey, "s3cret"), &first); p.Live() {
		t.Error("it is live after its end")
	}
	f.Clock.Advance(time.Hour + time.Minute)
	f.SweepAll()
	counts(t, f, 0)
	if _, err := f.CreatePush(ctx, ann, onceOnly(aKey, "s3cret")); wrongIn(err) != store.FieldRepeat {
		t.Errorf("after it was purged: %v", err)
	}
	counts(t, f, 0)
}

func TestAKeyIsKeptForADay(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine)
		ann := f.Account("ann@example.com")
		first := makes(t, f, ann, onceOnly(aKey, "s3cret"), nil)
		swept := makes(t, f, anonymous, onceOnly(aKey, "s3cret"), nil)
		id := f.RepeatID(anonymous, aKey)
		f.Clock.Advance(24*time.Hour - time.Millisecond)
		f.SweepAll()
		makes(t, f, ann, onceOnly(aKey, "s3cret"), &first)
		makes(t, f, anonymous, onceOnly(aKey, "s3cret"), &swept)
		f.Clock.Advance(time.Millisecond)
		again := makes(t, f, ann, onceOnly(aKey, "s3cret"), nil)
		makes(t, f, ann, onceOnly(aKey, "s3cret"), &again)
		if _, err := cold.Repeat(ctx, f.Engine(), id); err != nil {
			t.Errorf("before the sweep: %v", err)
		}
		f.Clock.Advance(time.Hour)
		f.SweepAll()
		if _, err := cold.Repeat(ctx, f.Engine(), id); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("the sweep leaves it: %v", err)
		}
		makes(t, f, ann, onceOnly(aKey, "s3cret"), &again)
	})
}

func TestAFailedCreateTakesNoKey(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	for name, spoil := range map[string]func(in *store.NewPush){
		"a wrong field": func(in *store.NewPush) { in.Views = ptr(-1) },
		"no payload":    func(in *store.NewPush) { in.Payload = secret.Text{} },
	} {
		in := onceOnly(aKey, "s3cret")
		spoil(&in)
		if _, err := f.CreatePush(ctx, anonymous, in); err == nil {
			t.Errorf("%s: it was created", name)
		}
	}
	f.Engine().SetSpaceLimits(record.SpaceLimits{MaxSize: 1})
	if _, err := f.CreatePush(ctx, anonymous, onceOnly(aKey, "s3cret")); !errors.Is(err, record.ErrFull) {
		t.Errorf("without space: %v", err)
	}
	f.Engine().SetSpaceLimits(record.SpaceLimits{})
	makes(t, f, anonymous, onceOnly(aKey, "another"), nil)
}

func TestOfManyCreatesWithAKeyOneMakesThePush(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine)
		ann := f.Account("ann@example.com")
		made := make([]store.PushInfo, 8) // as many as one client may have wait for Argon2
		errs := make([]error, len(made))
		conformance.Together(len(made), func(i int) {
			in := onceOnly(aKey, "s3cret")
			in.Passphrase = secret.New("once")
			made[i], errs[i] = f.CreatePush(ctx, ann, in)
		})
		first := 0
		for i, p := range made {
			env.OK(t, errs[i])
			if p.URLToken() != made[0].URLToken() {
				t.Error("they got different links")
			}
			if !p.Repeated {
				first++
			}
		}
		if first != 1 {
			t.Errorf("%d of them made a push", first)
		}
		counts(t, f, 1)
	})
}

func TestServersShareKeys(t *testing.T) {
	t.Parallel()
	a, b := shared(t)
	first := makes(t, a, anonymous, onceOnly(aKey, "s3cret"), nil)
	makes(t, b, anonymous, onceOnly(aKey, "s3cret"), &first)
}

func TestAnUploadThatIsRepeatedLeavesNoFiles(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	send := func(content []byte) (store.PushInfo, error) {
		u := f.NewUpload(f.Policy(""))
		env.OK(t, u.Add(ctx, bytes.NewReader(content)))
		p, err := f.CreatePush(ctx, anonymous, store.NewPush{
			Kind: record.File, Files: u, Repeat: store.RepeatKey{Key: secret.New(aKey), Fields: sha256.Sum256(content)},
		})
		env.OK(t, u.Close(ctx))
		return p, err
	}
	content := storetest.Content(1, seal.ChunkSize*3)
	first, err := send(content)
	env.OK(t, err)
	again, err := send(content)
	if err != nil || again.URLToken() != first.URLToken() || !again.Repeated {
		t.Errorf("the push %s, %v", again.ID, err)
	}
	if _, err := send(content[1:]); wrongIn(err) != store.FieldRepeat {
		t.Errorf("other content: %v", err)
	}
	if f.Orphans() != 0 {
		t.Error("chunks stay behind")
	}
	got := storetest.Grant(t, f, anonymous, again)
	if whole, err := storetest.Download(f, got.Grant, 0); err != nil || !bytes.Equal(whole, content) {
		t.Errorf("the file: %d bytes, %v", len(whole), err)
	}
}

// A key is worth nothing while the clock is in doubt: a wrong year must not forget it.
func TestNoKeyIsForgottenInDoubt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	first := makes(t, f, anonymous, onceOnly(aKey, "s3cret"), nil)
	f.Clock.Jump(48 * time.Hour)
	if _, err := f.CreatePush(ctx, anonymous, onceOnly(aKey, "s3cret")); !errors.Is(err, record.ErrClock) {
		t.Errorf("in doubt: %v", err)
	}
	f.SweepAll()
	f.Clock.Jump(-48 * time.Hour)
	makes(t, f, anonymous, onceOnly(aKey, "s3cret"), &first)
}

func TestARepeatOpensUnderNewKeysOfTheStore(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { o.KeyFile = filepath.Join(t.TempDir(), storetest.KeyFile) })
	first := makes(t, f, anonymous, onceOnly(aKey, "s3cret"), nil)
	f.Clock.Advance(time.Hour)
	if _, err := f.RotateKey(ctx, storetest.Operator, true, quiet); err != nil {
		t.Fatal(err)
	}
	makes(t, f, anonymous, onceOnly(aKey, "s3cret"), &first)
}

// What the file has of a create opens with the key of its sender alone.
func TestTheFileHoldsNothingOfAKeyInClear(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	const key, payload = "canary-key-0123456789abcdef", "canary-payload-4f1c"
	p := makes(t, f, anonymous, onceOnly(key, payload), nil)
	r := env.Must(cold.Repeat(ctx, f.Engine(), f.RepeatID(anonymous, key)))(t)
	fields := sha256.Sum256([]byte(payload))
	holdsNone(t, f, [][]byte{r.Sealed, r.ID[:]}, key, payload, p.Token.Reveal(), anonymous.Client, string(fields[:]))
	if strings.Contains(r.Title(), p.Token.Reveal()) {
		t.Error("its title names the link")
	}
}
