package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// A furnished store has something of each kind that is sealed.
type furnished struct {
	*keyed
	ann      store.Actor
	session  store.NewSession
	totp     secret.Text
	pushes   []store.PushInfo // of ann; the last one has ended
	messages []record.Message
	request  store.RequestInfo
}

func newFurnished(t *testing.T) *furnished {
	t.Helper()
	f := &furnished{keyed: newKeyed(t)}
	f.ann = store.Actor{Account: storetest.AddMember(t, f.Fixture, storetest.Email).ID, IP: "192.0.2.1", Client: "192.0.2.1"}
	f.session = storetest.SignIn(t, f.Fixture)
	var recovery []secret.Text
	f.totp, recovery = storetest.EnableTOTP(t, f.Fixture, &f.session)
	k := newKeyholder(t, f.Fixture)
	k.given.Code = recovery[0]
	if _, _, err := k.add(f.session.Secret, "laptop"); err != nil {
		t.Fatal(err)
	}
	addHook(t, f.Fixture, storetest.Email, record.EventView)
	f.request = asks(t, f.Fixture, f.ann, func(in *store.NewRequest) { in.Days = ptr(90) })
	for n := range 5 {
		p := storetest.Push(t, f.Fixture, f.ann, func(in *store.NewPush) {
			in.Name, in.Note, in.Days = secret.New(fmt.Sprintf("name %d", n)), secret.New("a note"), ptr(10+n)
		})
		storetest.Retrieve(t, f.Fixture, anonymous, p)
		f.pushes = append(f.pushes, p)
	}
	if _, err := f.DeletePush(ctx, f.ann, f.pushes[4].Token); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *furnished) rotate() store.KeyRotation {
	f.t.Helper()
	r, err := f.RotateKey(ctx, storetest.Operator, true, quiet)
	env.OK(f.t, err)
	return r
}

// wantAll fails the test unless all of it can be read.
func (f *furnished) wantAll() {
	f.t.Helper()
	if problems, err := f.Store.Check(ctx); err != nil || len(problems) > 0 {
		f.t.Errorf("check: %q, %v", problems, err)
	}
	for n, p := range f.pushes {
		h, err := f.History(ctx, f.ann, p.Token, 1)
		if err != nil || h.Name.Reveal() != fmt.Sprintf("name %d", n) || h.Note.Reveal() != "a note" || len(h.Log) < 2 || h.Log[0].IP != "192.0.2.1" {
			f.t.Errorf("push %d: %+v, %v", n, h, err)
		}
		if n < 4 && storetest.Retrieve(f.t, f.Fixture, f.ann, p) != "s3cret" {
			f.t.Errorf("push %d has another payload", n)
		}
	}
	for _, live := range []bool{true, false} {
		if _, err := f.Pushes(ctx, f.ann, live, 1); err != nil {
			f.t.Errorf("the list: %v", err)
		}
	}
	hooks, err := f.Hooks(ctx, storetest.Email)
	if err != nil || len(hooks) != 1 || hooks[0].URL.Reveal() != hookURL {
		f.t.Errorf("webhooks: %+v, %v", hooks, err)
	}
	if all, _ := notices(f.t, f.Fixture); len(all) < 5 || all[0].Name.Reveal() != "name 0" {
		f.t.Errorf("messages: %+v", all)
	}
	if r, err := f.Request(ctx, f.ann, f.request.ID); err != nil || r.Text.Reveal() != f.request.Text.Reveal() || r.Token.Reveal() != f.request.Token.Reveal() {
		f.t.Errorf("the request: %+v, %v", r, err)
	}
	if keys, err := f.Passkeys(ctx, f.session.Secret); err != nil || len(keys) != 1 || keys[0].Name != "laptop" {
		f.t.Errorf("passkeys: %+v, %v", keys, err)
	}
	for _, m := range f.messages {
		if _, err := f.OpenNotice(ctx, m); err != nil {
			f.t.Errorf("a message that was read before: %v", err)
		}
	}
	if events, err := f.AdminEvents(ctx, time.Time{}, 0, 1000); err != nil || len(events) == 0 || events[0].Number != 1 {
		f.t.Errorf("the instance log: %+v, %v", events, err)
	}
	sessions, err := f.Sessions(ctx, f.session.Secret)
	if err != nil || len(sessions) != 1 || sessions[0].IP == "" {
		f.t.Errorf("sessions: %+v, %v", sessions, err)
	}
}

// wantFactor fails the test unless a sign-in with the second factor works.
func (f *furnished) wantFactor() {
	f.t.Helper()
	f.Clock.Advance(time.Minute)
	n := storetest.SignIn(f.t, f.Fixture)
	if !n.Pending {
		f.t.Error("the second factor is gone")
	}
	if _, err := f.SignInCode(ctx, storetest.Anonymous, n.Secret, storetest.Code(f.t, f.Fixture, f.totp, 0)); err != nil {
		f.t.Errorf("with the code: %v", err)
	}
}

// ring opens the key ring that the file has.
func (f *furnished) ring() *seal.Ring {
	f.t.Helper()
	sealed, err := bolt.SealedRing(f.Path)
	env.OK(f.t, err)
	ring, err := seal.OpenRing(f.load(f.key), sealed)
	env.OK(f.t, err)
	return ring
}

func TestARotationSealsEverythingAnewAndDropsTheOldKeys(t *testing.T) {
	t.Parallel()
	f := newFurnished(t)
	due, _, err := f.DueMessages(ctx, dueHooks(10))
	env.OK(t, err)
	f.messages = due // a sender has them
	for n := range 3 {
		f.Clock.Advance(time.Hour)
		r := f.rotate()
		if r.Records == 0 || r.Live != 4 || !r.Until.Equal(f.pushes[3].ExpiresAt) {
			t.Errorf("rotation %d did %+v", n, r)
		}
		f.wantAll()
	}
	f.messages = nil
	if _, err := f.restart(); err != nil {
		t.Fatal(err)
	}
	f.wantAll()
	f.wantFactor()
	env.OK(t, f.Close(ctx))
	ring := f.ring()
	for _, family := range []seal.Family{seal.DetailKeys, seal.AuditKeys, seal.RowKeys} {
		if v := ring.Versions(family); len(v) != 1 || v[0].Version != 4 {
			t.Errorf("family %d has %v", family, v)
		}
	}
	f.start(f.Clock.Now())
}

// An attacker with a copy from before, the old key, and a copy from after opens nothing in the
// latter that was not sealed with a link that they have.
func TestARotationRemovesWhatUpgradesHaveKept(t *testing.T) {
	t.Parallel()
	f := newFurnished(t)
	image := env.Read(t, f.key)
	stays := []string{".schema5x", ".schema", ".schema5-2.bak"}
	for _, end := range append([]string{".schema4", ".schema5", ".schema5-2"}, stays...) {
		env.OK(t, os.WriteFile(f.Path+end, image, 0o600))
	}
	if ahead := f.Clock.Now().Add(1000 * day); os.Chtimes(f.Path+".schema4", ahead, ahead) != nil {
		t.Error("the time of a file cannot be set")
	}
	if r := f.rotate(); r.Copies != 3 {
		t.Errorf("it did %+v", r)
	}
	left, err := filepath.Glob(f.Path + ".*")
	if err != nil || len(left) != len(stays) {
		t.Errorf("%q are left, %v", left, err)
	}
}

func TestTheOldKeyAndAnOldCopyOpenNothingInANewOne(t *testing.T) {
	t.Parallel()
	f := newFurnished(t)
	env.OK(t, f.Close(ctx))
	stolen, old := f.ring(), f.load(f.key)
	f.start(f.Clock.Now())
	f.rotate()
	fresh := storetest.Push(t, f.Fixture, f.ann, func(in *store.NewPush) { in.Name = secret.New("made after") })
	env.OK(t, f.Close(ctx))
	now, ring := f.load(f.key), f.ring()
	engine := mustBolt(t, f.Path)
	env.OK(t, engine.Unlock(ctx, ring, nil, nil))
	for key, want := range map[seal.RootKey]bool{old: false, now: true} {
		if found, err := engine.FindRing(ctx, key.OpensRing); err != nil || found != want {
			t.Errorf("a key ring that it opens: %t, %v; want %t", found, err, want)
		}
	}
	ps, err := engine.Scan(ctx, record.ID{}, 100)
	if err != nil || len(ps) != 6 {
		t.Fatalf("%d pushes, %v", len(ps), err)
	}
	for _, p := range ps {
		if _, err := stolen.OpenDetails(p.ID[:], p.Details); err == nil {
			t.Errorf("the details of %s open", p.ID)
		}
		if _, err := stolen.OpenLink(p.ID[:], p.Link); err == nil {
			t.Errorf("the link of %s opens", p.ID)
		}
		es, err := engine.Entries(ctx, p.ID, 0, 100)
		if err != nil || len(es) == 0 {
			t.Fatal(err)
		}
		for _, e := range es {
			if _, err := stolen.OpenEntry(p.ID[:], e.Sealed); err == nil {
				t.Errorf("an audit entry of %s opens", p.ID)
			}
		}
		if p.ID == fresh.ID {
			if _, err := stolen.OpenWrap(p.Wrap, p.ID[:], fresh.Token.Text, secret.Text{}); err == nil {
				t.Error("a push that was made after opens")
			}
		}
	}
	env.OK(t, engine.Close())
	f.start(f.Clock.Now())
	f.wantAll()
}

// An interferer is an engine whose steps of a rotation can be made to fail or to wait.
type interferer struct {
	record.Engine
	record.FileUpkeep
	mu     sync.Mutex
	fail   string        // the step that fails
	after  int           // how often it works before
	create chan struct{} // a create waits for it; nil: it does not
	begun  chan struct{} // has a value when a create waits
}

var errCut = errors.New("cut short")

func (e *interferer) cut(step string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail != step {
		return nil
	}
	if e.after > 0 {
		e.after--
		return nil
	}
	return errCut
}

func (e *interferer) SetKeyRing(ctx context.Context, sealed []byte, keys record.RowKeys, told record.AdminEvent) error {
	if err := e.cut("ring"); err != nil {
		return err
	}
	return e.Engine.SetKeyRing(ctx, sealed, keys, told)
}

func (e *interferer) Reseal(ctx context.Context, r record.Resealer, progress func(done, total int64)) (int64, error) {
	if err := e.cut("before records"); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n, err := e.Engine.Reseal(ctx, r, func(done, total int64) {
		if e.cut("records") != nil {
			cancel()
		}
		progress(done, total)
	})
	return n, err
}

func (e *interferer) Compact(ctx context.Context, progress func(done, total int64)) error {
	if err := e.cut("erasing"); err != nil {
		return err
	}
	return e.Engine.Compact(ctx, progress)
}

func (e *interferer) FindRing(ctx context.Context, opens func([]byte) bool) (bool, error) {
	if err := e.cut("searching"); err != nil {
		return false, err
	}
	if e.cut("finding") != nil {
		return true, nil
	}
	return e.FileUpkeep.FindRing(ctx, opens)
}

func (e *interferer) CreatePush(ctx context.Context, p record.Push, payload []byte, en record.Entry) (record.Entry, error) {
	if e.create != nil {
		e.begun <- struct{}{}
		<-e.create
	}
	return e.Engine.CreatePush(ctx, p, payload, en)
}

// through opens the store of f anew, over an engine that interferes.
func (f *furnished) through(e *interferer) {
	f.t.Helper()
	env.OK(f.t, f.Close(ctx))
	file := mustBolt(f.t, f.Path)
	e.Engine, e.FileUpkeep = file, file
	s, err := store.Open(ctx, e, f.load(f.key), store.Options{
		Clock: f.Clock, Terms: storetest.Terms(), Hooks: store.HookOptions{Queue: 100, GiveUp: day}, Root: store.RootKeeper{File: f.key}, File: e,
	})
	env.OK(f.t, err)
	f.Store = s
}

func TestARotationThatIsCutShortAnywhereIsFinishedByTheNextStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step  string
		after int
		says  string // what it says beyond that it was cut short
	}{
		{"ring", 0, ""},
		{"before records", 0, "may still open parts of the database"},
		{"before records", 1, "may still open parts of the database"},
		{"records", 0, "not everything is sealed"},
		{"records", 5, "not everything is sealed"},
		{"ring", 1, "may still open parts of the database"},
		{"erasing", 0, "may still open parts of the database"},
		{"searching", 0, "may still open parts of the database"},
		{"finding", 0, "run `pushbox key rotate` again"},
	} {
		t.Run(fmt.Sprint(c.step, c.after), func(t *testing.T) {
			t.Parallel()
			f := newFurnished(t)
			f.through(&interferer{fail: c.step, after: c.after})
			if _, err := f.RotateKey(ctx, storetest.Operator, true, quiet); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("the error is %v", err)
			}
			f.wantSome()
			if how, err := f.restart(); err != nil || how != store.NothingToFinish {
				t.Errorf("at the next start: %d, %v", how, err)
			}
			f.wantAll()
			if _, err := f.FinishRenewal(ctx, quiet); err != nil {
				t.Fatal(err)
			}
			if _, err := f.restart(); err != nil {
				t.Fatal(err)
			}
			f.wantAll()
			f.wantFactor()
			env.OK(t, f.Close(ctx))
			if v := f.ring().Versions(seal.AuditKeys); len(v) != 1 {
				t.Errorf("audit keys: %v", v)
			}
			f.start(f.Clock.Now())
		})
	}
}

// A rotation that failed makes no further key when it is tried again: each would need a copy
// on paper, and the old ones still open backups.
func TestARotationThatFailedGoesOnWithItsKey(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"before records", "erasing", "searching"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFurnished(t)
			e := &interferer{fail: step}
			f.through(e)
			first := f.KeyID()
			for range 2 {
				if _, err := f.RotateKey(ctx, storetest.Operator, false, quiet); !errors.Is(err, errCut) {
					t.Fatalf("the error is %v", err)
				}
			}
			second := f.KeyID()
			e.mu.Lock()
			e.fail = ""
			e.mu.Unlock()
			r := f.rotate()
			kept, err := filepath.Glob(f.key + ".old-*")
			if r.ID != second || r.OldID != first || f.KeyID() != second || len(kept) != 1 || r.Old != kept[0] || r.Live != 4 || err != nil {
				t.Errorf("it made key %s of %s, the keys beside it are %q: %+v", f.KeyID(), second, kept, r)
			}
			if next := f.rotate(); next.OldID != second || next.ID == second {
				t.Errorf("a rotation after one that ended: %+v", next)
			}
			f.wantAll()
		})
	}
}

// wantSome fails the test unless the store still works after a rotation was cut short.
func (f *furnished) wantSome() {
	f.t.Helper()
	p := storetest.Push(f.t, f.Fixture, f.ann, func(in *store.NewPush) { in.Name = secret.New("between") })
	if h, err := f.History(ctx, f.ann, p.Token, 1); err != nil || h.Name.Reveal() != "between" {
		f.t.Errorf("a push from between: %+v, %v", h, err)
	}
}

// What was sealed before a rotation, and comes to the engine only after all else was
// sealed anew, must open: the keys that it is under are not dropped before.
func TestARotationWaitsForWhatIsSealedAndNotYetKept(t *testing.T) {
	t.Parallel()
	f := newFurnished(t)
	e := &interferer{create: make(chan struct{}), begun: make(chan struct{}, 1)}
	f.through(e)
	made := make(chan store.PushInfo, 1)
	go func() {
		p, err := f.CreatePush(ctx, f.ann, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret"), Name: secret.New("late")})
		if err != nil {
			t.Error(err)
		}
		made <- p
	}()
	<-e.begun
	patience, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if _, err := f.RotateKey(patience, storetest.Operator, true, quiet); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it did not wait: %v", err)
	}
	close(e.create)
	late := <-made
	if _, err := f.FinishRenewal(ctx, quiet); err != nil {
		t.Fatal(err)
	}
	if _, err := f.restart(); err != nil {
		t.Fatal(err)
	}
	h, err := f.History(ctx, f.ann, late.Token, 1)
	if err != nil || h.Name.Reveal() != "late" || len(h.Log) != 1 || h.Log[0].IP != "192.0.2.1" {
		t.Errorf("%+v, %v", h, err)
	}
	f.wantAll()
}

func TestRotationsUnderLoadLoseNothing(t *testing.T) {
	t.Parallel()
	f := newFurnished(t)
	var g sync.WaitGroup
	stop := make(chan struct{})
	made := make([][]store.PushInfo, 4)
	for n := range made {
		g.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				p, err := f.CreatePush(ctx, f.ann, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret"), Name: secret.New("loaded")})
				if err == nil {
					_, err = f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil)
				}
				if err != nil {
					t.Error(err)
					return
				}
				made[n] = append(made[n], p)
			}
		})
	}
	for range 3 {
		f.rotate()
	}
	close(stop)
	g.Wait()
	if _, err := f.restart(); err != nil {
		t.Fatal(err)
	}
	f.wantAll()
	for _, ps := range made {
		for _, p := range ps {
			h, err := f.History(ctx, f.ann, p.Token, 1)
			if err != nil || h.Name.Reveal() != "loaded" || h.Seq != 2 || h.Log[1].IP != anonymous.IP {
				t.Fatalf("%+v, %v", h, err)
			}
		}
	}
}

// Steady work does not keep a rotation from its end: creates, views, and pushes that end.
func TestARotationEndsBesideSteadyWork(t *testing.T) {
	t.Parallel()
	for name, views := range map[string]int{"pushes that go on": 100, "pushes that end": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t, func(s *storetest.Setup) {
				s.KeyFile, s.Clock = filepath.Join(t.TempDir(), storetest.KeyFile), clock.NewSystem()
			})
			ann := f.Account(storetest.Email)
			addHook(t, f, storetest.Email, record.EventView)
			other := secret.New("renamed")
			work := func() error {
				p, err := f.CreatePush(ctx, ann, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret"), Name: secret.New("loaded"), Views: &views})
				if err == nil {
					_, err = f.EditPush(ctx, ann, p.Token, store.PushEdit{Name: &other})
				}
				if err == nil {
					_, err = f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil)
				}
				return err
			}
			var g sync.WaitGroup
			stop := make(chan struct{})
			for range 4 {
				g.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						if err := work(); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			for range 3 {
				if _, err := f.RotateKey(ctx, storetest.Operator, true, quiet); err != nil {
					t.Error(err)
				}
			}
			close(stop)
			g.Wait()
		})
	}
}
