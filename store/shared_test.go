package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// shared has two servers on one PostgreSQL database.
func shared(t *testing.T) (a, b *storetest.Fixture) {
	a = storetest.New(t, storetest.Postgres(t), func(o *storetest.Setup) { o.Shared = true })
	return a, a.Beside()
}

func TestAnUploadIsNotSweptByAnotherServer(t *testing.T) {
	t.Parallel()
	a, b := shared(t)
	alice := a.Account("alice@example.com")
	content := storetest.Content(1, seal.ChunkSize*20)
	upload := func() *store.Upload {
		u := a.NewUpload(a.Policy(""))
		env.OK(t, u.Add(ctx, bytes.NewReader(content)))
		return u
	}
	u := upload()
	b.SweepAll()
	if _, err := a.CreatePush(ctx, alice, store.NewPush{Kind: record.File, Files: u}); err != nil {
		t.Errorf("another server swept the files of an upload: %v", err)
	}
	upload() // which comes to nothing
	a.Clock.Advance(24*time.Hour + time.Minute)
	b.SweepAll()
	if b.Orphans() != 0 {
		t.Error("files of an upload that was cut short stay for more than a day")
	}
}

// follow has a store see what the other servers have changed.
func follow(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	if wait, err := f.Follow(ctx); err != nil || wait < time.Second {
		t.Fatalf("follow: %v, %v", wait, err)
	}
}

func TestServersFollowEachOthersWebhooks(t *testing.T) {
	t.Parallel()
	a, b := shared(t)
	ann := a.Account("ann@example.com")
	p := storetest.Push(t, b, ann, func(in *store.NewPush) { in.Views = ptr(100) })
	view := func() {
		t.Helper()
		if got := storetest.Retrieve(t, b, anonymous, p); got != "s3cret" {
			t.Fatalf("it delivers %q", got)
		}
	}
	want := func(when string, waiting int) {
		t.Helper()
		follow(t, b)
		view()
		if counts, err := b.Engine().CountMessages(ctx); err != nil || counts[record.Recipient{Route: record.ByWebhook, To: 1}] != waiting {
			t.Errorf("%s %v wait: %v", when, counts, err)
		}
	}
	want("before there is a webhook", 0)
	hook := addHook(t, a, "ann@example.com", record.EventView)
	want("with a webhook of the other server", 1)
	env.OK(t, a.SetDisabled(ctx, storetest.Operator, "ann@example.com", true))
	want("after its account was disabled", 1)
	env.OK(t, a.SetDisabled(ctx, storetest.Operator, "ann@example.com", false))
	want("after it may act again", 2)
	env.OK(t, a.RemoveHook(ctx, storetest.Operator, hook.ID))
	want("after the webhook was removed", 2)

	// A command need not wait for that: it looks for itself.
	other := addHook(t, a, "ann@example.com", record.EventView)
	if err := b.RemoveHook(ctx, storetest.Operator, other.ID); err != nil {
		t.Errorf("a webhook that the other server has just added: %v", err)
	}
}

// The room of the outbox is that of all servers, whichever of them puts messages there and
// whichever sends them.
func TestServersShareTheRoomOfTheOutbox(t *testing.T) {
	t.Parallel()
	a := storetest.New(t, storetest.Postgres(t), func(o *storetest.Setup) { o.Shared, o.Hooks.Queue = true, 20 })
	b := a.Beside()
	ann := a.Account("ann@example.com")
	addHook(t, a, "ann@example.com", record.EventView)
	follow(t, b)
	p := storetest.Push(t, a, ann, func(in *store.NewPush) { in.Views = ptr(100) })
	views := func(f *storetest.Fixture, times, waiting int, dropped uint64) {
		t.Helper()
		follow(t, f)
		for range times {
			storetest.Retrieve(t, f, anonymous, p)
		}
		if f.Waiting() != waiting || f.WaitingBy(record.ByWebhook) != waiting || f.Dropped() != dropped {
			t.Errorf("%d and %d wait, %d were dropped, not %d and %d", f.Waiting(), f.WaitingBy(record.ByWebhook), f.Dropped(), waiting, dropped)
		}
	}
	views(a, 4, 4, 0)
	views(b, 4, 8, 0)
	views(a, 4, 10, 2)
	views(b, 1, 10, 1)
	for range 3 { // what one puts there and the other sends leaves no trace in the counts of either
		due, _, err := b.DueMessages(ctx, dueHooks(10))
		if err != nil || len(due) != 10 {
			t.Fatalf("%d are due, %v", len(due), err)
		}
		env.OK(t, b.EndMessages(ctx, due))
		views(b, 0, 0, 1)
		views(a, 10, 10, 2)
	}
}

// Wrong passphrases at two servers freeze a push once, and its owner gets one mail.
func TestAFreezeByTwoServersIsToldOnce(t *testing.T) {
	t.Parallel()
	a := storetest.New(t, storetest.Postgres(t), sendsMail, func(o *storetest.Setup) {
		o.Shared, o.Guessing = true, store.Guessing{PerLife: 4, Queue: 100}
	})
	both := []*storetest.Fixture{a, a.Beside()}
	ann := a.Account("ann@example.com")
	for range 5 {
		p := storetest.Push(t, a, ann, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
		var guesses sync.WaitGroup
		for n := range 8 {
			guesses.Go(func() {
				_, err := both[n%2].Retrieve(ctx, anonymous, p.Token, secret.New("wrong"), nil)
				var wrong *record.PassphraseError
				if !errors.As(err, &wrong) && !errors.Is(err, record.ErrFrozen) {
					t.Errorf("a wrong passphrase: %v", err)
				}
			})
		}
		guesses.Wait()
		all, err := cold.Messages(ctx, a.Engine(), record.Message{}, 10)
		if err != nil || len(all) != 1 {
			t.Fatalf("%d mails wait, %v", len(all), err)
		}
		env.OK(t, a.EndMessages(ctx, all))
	}
}

// keyedServer is a server whose master key can be rotated.
func keyedServer(t *testing.T) *storetest.Fixture {
	return storetest.New(t, storetest.Postgres(t), func(o *storetest.Setup) {
		o.Shared, o.KeyFile = true, filepath.Join(t.TempDir(), storetest.KeyFile)
		o.Hooks.Queue = 1 << 20 // no message is dropped, however much is done during a rotation
	})
}

// A slow engine keeps no push before it is told to.
type slow struct {
	record.Engine
	begun, goOn chan struct{}
}

func (e slow) CreatePush(ctx context.Context, p record.Push, payload []byte, en record.Entry) (record.Entry, error) {
	select {
	case e.begun <- struct{}{}:
		<-e.goOn
	default: // the one after
	}
	return e.Engine.CreatePush(ctx, p, payload, en)
}

// What one server sealed before the other replaced the keys, and would keep only after that
// has sealed all else anew and dropped them, is sealed again.
func TestNothingIsKeptUnderKeysThatAnotherServerDropped(t *testing.T) {
	t.Parallel()
	a := keyedServer(t)
	e := slow{begun: make(chan struct{}, 1), goOn: make(chan struct{})}
	b := a.Beside(func(o *storetest.Setup) {
		o.Wrap = func(engine record.Engine) record.Engine {
			e.Engine = engine
			return e
		}
	})
	ann := a.Account(storetest.Email)
	before := storetest.Push(t, a, ann, nil)
	made := make(chan store.PushInfo, 1)
	var late sync.WaitGroup
	late.Go(func() {
		p, err := b.CreatePush(ctx, ann, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret"), Name: secret.New("late")})
		if err != nil {
			t.Errorf("create: %v", err)
		}
		made <- p
	})
	for len(e.begun) == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := a.RotateKey(ctx, storetest.Operator, true, quiet); err != nil {
		t.Errorf("rotate: %v", err)
	}
	if _, err := b.Preview(ctx, before.Token); err != nil { // now the other has the new keys
		t.Errorf("what was sealed anew: %v", err)
	}
	close(e.goOn)
	late.Wait()
	p := <-made
	for _, f := range []*storetest.Fixture{a, b, a.Beside()} { // the last has no dropped key in memory
		if h, err := f.History(ctx, ann, p.Token, 1); err != nil || h.Name.Reveal() != "late" || h.Log[0].IP != ann.IP {
			t.Errorf("it is %+v, %v", h, err)
		}
	}
}

// While the keys are rotated by one server, clients of both see nothing of it, and all that
// was acknowledged can be read afterwards.
func TestNoClientSeesARotationByAnotherServer(t *testing.T) {
	t.Parallel()
	a := keyedServer(t)
	b := a.Beside()
	ann := a.Account(storetest.Email)
	addHook(t, a, storetest.Email, record.EventView)
	follow(t, b)
	var over atomic.Bool
	var load sync.WaitGroup
	made := make(chan store.PushInfo, 1<<16)
	for n := range 8 {
		f, name := []*storetest.Fixture{a, b}[n%2], fmt.Sprintf("name %d", n)
		load.Go(func() {
			for !over.Load() && !t.Failed() {
				p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Name = secret.New(name) })
				if got := storetest.Retrieve(t, f, anonymous, p); got != "s3cret" {
					t.Errorf("it delivers %q", got)
				}
				if _, err := f.EditPush(ctx, ann, p.Token, store.PushEdit{Views: ptr(50)}); err != nil {
					t.Errorf("edit: %v", err)
				}
				token, err := f.CreateToken(ctx, storetest.Operator, storetest.Email, store.TokenTerms{Label: name})
				if err == nil {
					err = f.RevokeToken(ctx, storetest.Operator, token.ID)
				}
				if err != nil {
					t.Errorf("a token: %v", err)
				}
				made <- p
			}
		})
	}
	for range 4 {
		seen := len(made)
		for len(made) < seen+16 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		if _, err := a.RotateKey(ctx, storetest.Operator, true, quiet); err != nil {
			t.Errorf("rotate: %v", err)
		}
	}
	over.Store(true)
	load.Wait()
	close(made)
	all, err := cold.Messages(ctx, a.Engine(), record.Message{}, len(made)+1)
	if err != nil || len(all) != len(made) {
		t.Errorf("%d messages about %d views wait: %v", len(all), len(made), err)
	}
	c := a.Beside() // it has no dropped key in memory
	for _, m := range all {
		if _, err := c.OpenNotice(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	for p := range made {
		for _, f := range []*storetest.Fixture{a, b, c} {
			h, err := f.History(ctx, ann, p.Token, 1)
			if err != nil || h.PushInfo.Views != 1 || h.Name.Reveal() != p.Name.Reveal() || len(h.Log) != 3 || h.Log[0].IP != ann.IP || h.Log[1].IP != anonymous.IP {
				t.Fatalf("a push from meanwhile: %+v, %v", h, err)
			}
		}
	}
}

// A doubtful engine replaces the key ring once without saying so, as one does whose database
// was cut off before it answered.
type doubtful struct {
	record.Engine
	through record.Engine
	done    *atomic.Bool
}

func (e doubtful) SetKeyRing(ctx context.Context, sealed []byte, keys record.RowKeys, told record.AdminEvent) error {
	if e.done.Swap(true) {
		return e.Engine.SetKeyRing(ctx, sealed, keys, told)
	}
	return errors.Join(e.through.SetKeyRing(ctx, sealed, keys, told), record.ErrUnavailable)
}

// A rotation whose outcome is unknown may have happened, so its key must not be lost.
func TestARotationOfUnknownOutcomeKeepsItsKey(t *testing.T) {
	t.Parallel()
	a := keyedServer(t)
	through := a.Beside()
	through.Abandon() // its store does not know what its engine did
	c := a.Beside(func(o *storetest.Setup) {
		o.Wrap = func(e record.Engine) record.Engine { return doubtful{e, through.Engine(), new(atomic.Bool)} }
	})
	ann := a.Account(storetest.Email)
	p := storetest.Push(t, a, ann, func(in *store.NewPush) { in.Name = secret.New("before") })
	if _, err := c.RotateKey(ctx, storetest.Operator, true, quiet); !errors.Is(err, record.ErrUnavailable) {
		t.Fatalf("the error is %v", err)
	}
	works := func(when string) {
		t.Helper()
		q := storetest.Push(t, c, ann, func(in *store.NewPush) { in.Name = secret.New(when) })
		for _, one := range []store.PushInfo{p, q} {
			if h, err := c.History(ctx, ann, one.Token, 1); err != nil || h.Name.Reveal() != one.Name.Reveal() {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	works("after it")
	begun := time.Now()
	for again := true; again; { // until it has taken the ring that it does not know it made
		_, err := c.RotateKey(ctx, storetest.Operator, true, quiet)
		if again = errors.Is(err, record.ErrStaleKeys) && time.Since(begun) < env.Patience; again {
			time.Sleep(10 * time.Millisecond)
		} else if err != nil {
			t.Fatalf("another rotation: %v", err)
		}
	}
	works("after another")
	if h, err := a.Beside().History(ctx, ann, p.Token, 1); err != nil || h.Name.Reveal() != "before" {
		t.Errorf("at the next start: %v", err)
	}
}

// Guesses at two servers count together, before they are tried.
func TestServersCountGuessesTogether(t *testing.T) {
	t.Parallel()
	const most, guesses = 4, 16
	a := storetest.New(t, storetest.Postgres(t), func(o *storetest.Setup) {
		o.Shared, o.Guessing = true, store.Guessing{PerClient: most, Queue: 100}
	})
	both := []*storetest.Fixture{a, a.Beside()}
	for range 3 {
		p := storetest.Push(t, a, anonymous, func(in *store.NewPush) { in.Passphrase = secret.New("right") })
		var tried atomic.Int32
		var all sync.WaitGroup
		for n := range guesses {
			all.Go(func() {
				_, err := both[n%2].Retrieve(ctx, anonymous, p.Token, secret.New("wrong"), nil)
				var wrong *record.PassphraseError
				switch {
				case errors.As(err, &wrong):
					tried.Add(1)
				case !errors.Is(err, record.ErrLocked):
					t.Errorf("a wrong passphrase: %v", err)
				}
			})
		}
		all.Wait()
		if tried.Load() != most {
			t.Errorf("%d of %d guesses were tried", tried.Load(), guesses)
		}
	}
}

// A code that was used, or that another server used, no longer opens anything, even if there is
// no account again.
func TestTheCodeOfTheFirstAccount(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine)
		code := func() string {
			t.Helper()
			c, err := f.FirstCode(ctx)
			env.OK(t, err)
			return c.Reveal()
		}
		first := code()
		f.Reopen()
		if first == "" || code() != first {
			t.Errorf("the code is %q, and after a restart %q", first, code())
		}
		storetest.AddMember(t, f, storetest.Email)
		if got := code(); got != "" {
			t.Errorf("with an account it is %q", got)
		}
		env.OK(t, f.RemoveAccount(ctx, storetest.Operator, storetest.Email))
		if got := code(); got == "" || got == first {
			t.Errorf("without one again it is %q, as before", got)
		}
	})
}
