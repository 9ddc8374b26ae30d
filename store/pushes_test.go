package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/storetest"
)

var (
	ctx    = context.Background()
	nobody = store.Actor{Client: "192.0.2.9", IP: "192.0.2.9"}
)

const day = 24 * time.Hour

func ptr[T any](v T) *T { return &v }

// push creates a text push.
func push(t *testing.T, f *storetest.Fixture, by store.Actor, change func(*store.NewPush)) store.PushInfo {
	t.Helper()
	in := store.NewPush{Kind: store.Text, Payload: secret.New("s3cret")}
	if change != nil {
		change(&in)
	}
	p, err := f.CreatePush(ctx, by, in)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return p
}

// retrieve returns the payload, or "" for none.
func retrieve(t *testing.T, f *storetest.Fixture, by store.Actor, p store.PushInfo) string {
	t.Helper()
	got, err := f.Retrieve(ctx, by, p.Token, secret.Text{})
	if err != nil {
		t.Fatalf("retrieve: %v", err)
	}
	return got.Payload.Reveal()
}

func entryKinds(t *testing.T, f *storetest.Fixture, by store.Actor, p store.PushInfo) (kinds string) {
	t.Helper()
	log, err := f.Audit(ctx, by, p.Token, 1)
	if err != nil {
		t.Fatalf("audit: %v", err)
	}
	for _, e := range log {
		kinds += e.Kind.String() + " "
	}
	return kinds
}

func TestEveryKindOfPushComesBackAsItWasSent(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	for kind, payload := range map[store.Kind]string{
		store.Text: "line one\r\nline two\x00\t end \U0001F511",
		store.URL:  "https://example.com/?q=%20&r=é",
		store.QR:   "WIFI:S:guests;T:WPA;P:pa\\;ss;;",
	} {
		p := push(t, f, nobody, func(in *store.NewPush) { in.Kind, in.Payload = kind, secret.New(payload) })
		f.Reopen()
		if got := retrieve(t, f, nobody, p); got != payload {
			t.Errorf("%v: %q", kind, got)
		}
	}
}

func TestTheLastViewClosesThePushBehindIt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := push(t, f, nobody, func(in *store.NewPush) { in.Views = ptr(2) })
	for want := 1; want >= 0; want-- {
		got, err := f.Retrieve(ctx, nobody, p.Token, secret.Text{})
		if err != nil || got.Payload.Reveal() != "s3cret" || !got.Live() || got.ViewsRemaining() != want {
			t.Fatalf("%d views left: %+v, %v", want, got, err)
		}
	}
	got, err := f.Retrieve(ctx, nobody, p.Token, secret.Text{})
	if err != nil || got.Live() || !got.Payload.IsZero() || got.Views != 2 || got.ExpiredAt.IsZero() {
		t.Errorf("after that: %+v, %v", got, err)
	}
}

func TestTheOwnerLooksWithoutCounting(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := push(t, f, ann, func(in *store.NewPush) { in.Views = ptr(1) })
	for range 3 {
		if retrieve(t, f, ann, p) != "s3cret" {
			t.Fatal("nothing came")
		}
	}
	if retrieve(t, f, nobody, p) != "s3cret" {
		t.Error("the owner used up the view")
	}
	if got := entryKinds(t, f, ann, p); got != "creation owner_view owner_view owner_view view " {
		t.Errorf("audit log: %s", got)
	}
}

func TestAPushEndsWithItsTime(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := push(t, f, ann, func(in *store.NewPush) { in.Days = ptr(1) })
	f.Clock.Advance(day - time.Millisecond)
	if retrieve(t, f, nobody, p) != "s3cret" {
		t.Fatal("it ended too soon")
	}
	f.Clock.Advance(time.Millisecond)
	if retrieve(t, f, nobody, p) != "" {
		t.Fatal("it did not end")
	}
	f.Clock.Jump(-12 * time.Hour)
	f.Reopen()
	if retrieve(t, f, nobody, p) != "" {
		t.Error("turning the clock back brought it back")
	}
	if got := entryKinds(t, f, ann, p); got != "creation view failed_view failed_view " {
		t.Errorf("audit log: %s", got)
	}
}

func TestALifetimeOfMinutesIsKept(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := push(t, f, nobody, func(in *store.NewPush) { in.Lifetime = 15 * time.Minute })
	f.Clock.Advance(15*time.Minute - time.Millisecond)
	if retrieve(t, f, nobody, p) == "" {
		t.Error("it ended too soon")
	}
	f.Clock.Advance(time.Millisecond)
	if retrieve(t, f, nobody, p) != "" {
		t.Error("it did not end")
	}
}

func TestAJumpOfTheClockDeniesAndDestroysNothing(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := push(t, f, nobody, nil)
	f.Clock.Jump(365 * day)
	f.SweepAll()
	if _, err := f.Retrieve(ctx, nobody, p.Token, secret.Text{}); !errors.Is(err, store.ErrClock) {
		t.Errorf("retrieve: %v", err)
	}
	if _, err := f.CreatePush(ctx, nobody, store.NewPush{Kind: store.Text, Payload: secret.New("x")}); !errors.Is(err, store.ErrClock) {
		t.Errorf("create: %v", err)
	}
	f.Clock.Jump(-365 * day)
	if retrieve(t, f, nobody, p) != "s3cret" {
		t.Error("it is gone")
	}
	f.Clock.Jump(7*day + time.Hour)
	f.SweepAll()
	f.Clock.Advance(10 * time.Minute)
	f.SweepAll()
	if got, err := f.Preview(ctx, p.Token); err != nil || got.State != store.Expired {
		t.Errorf("ten minutes later it has state %d, %v", got.State, err)
	}
}

func TestWhoMayDelete(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	p := push(t, f, ann, func(in *store.NewPush) { in.DeletableByViewer = ptr(false) })
	for _, by := range []store.Actor{bob, nobody} {
		if _, err := f.DeletePush(ctx, by, p.Token); !errors.Is(err, store.ErrDenied) {
			t.Errorf("a stranger: %v", err)
		}
	}
	for range 2 {
		if got, err := f.DeletePush(ctx, ann, p.Token); err != nil || got.State != store.Deleted {
			t.Errorf("the owner: %+v, %v", got, err)
		}
	}
	if retrieve(t, f, nobody, p) != "" {
		t.Error("it is still delivered")
	}
	if got := entryKinds(t, f, ann, p); got != "creation expire failed_view " {
		t.Errorf("audit log: %s", got)
	}
}

func TestUnknownTokensAreNotFoundEverywhere(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	for _, token := range []store.Token{{}, store.NewToken(f.Clock.Now())} {
		_, retrieve := f.Retrieve(ctx, ann, token, secret.New("p"))
		_, preview := f.Preview(ctx, token)
		_, del := f.DeletePush(ctx, ann, token)
		_, audit := f.Audit(ctx, ann, token, 1)
		for i, err := range []error{retrieve, preview, del, audit} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("call %d: %v", i, err)
			}
		}
	}
}

func TestAuditEntriesTellWhoItWas(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := push(t, f, ann, nil)
	f.Clock.Advance(time.Hour)
	who := store.Actor{Client: "c", IP: "203.0.113.7", UserAgent: "curl/8", Referrer: "https://chat.example/"}
	retrieve(t, f, who, p)
	log, err := f.Audit(ctx, ann, p.Token, 1)
	if err != nil || len(log) != 2 {
		t.Fatalf("%v, %v", log, err)
	}
	want := store.LogEntry{Kind: store.EntryView, At: p.CreatedAt.Add(time.Hour), IP: who.IP, UserAgent: who.UserAgent, Referrer: who.Referrer}
	if log[1] != want {
		t.Errorf("%+v", log[1])
	}
	for _, by := range []store.Actor{nobody, f.Account("bob@example.com")} {
		if _, err := f.Audit(ctx, by, p.Token, 1); !errors.Is(err, store.ErrDenied) {
			t.Errorf("a stranger reads it: %v", err)
		}
	}
	if _, err := f.Audit(ctx, nobody, push(t, f, nobody, nil).Token, 1); !errors.Is(err, store.ErrDenied) {
		t.Errorf("nobody owns nobody's push: %v", err)
	}
}

func TestListsAreOnesOwnNewestFirstInPages(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	var made []store.PushInfo
	for i := range store.PageSize + 1 {
		made = append(made, push(t, f, ann, func(in *store.NewPush) { in.Name = secret.New(fmt.Sprint("push ", i)) }))
		push(t, f, bob, nil)
		f.Clock.Advance(time.Second)
	}
	first, err1 := f.Pushes(ctx, ann, true, 1)
	second, err2 := f.Pushes(ctx, ann, true, 2)
	third, err3 := f.Pushes(ctx, ann, true, 3)
	if err := errors.Join(err1, err2, err3); err != nil || len(first) != store.PageSize || len(second) != 1 || len(third) != 0 {
		t.Fatalf("%d, %d, %d, %v", len(first), len(second), len(third), err)
	}
	if first[0].Token.Reveal() != made[store.PageSize].Token.Reveal() || first[0].Name.Reveal() != "push 50" || second[0].Name.Reveal() != "push 0" {
		t.Error("not newest first, or not with their tokens and names")
	}
	if _, err := f.DeletePush(ctx, ann, made[3].Token); err != nil {
		t.Fatal(err)
	}
	expired, err := f.Pushes(ctx, ann, false, 1)
	if err != nil || len(expired) != 1 || expired[0].Name.Reveal() != "push 3" || expired[0].Token.Reveal() != made[3].Token.Reveal() {
		t.Errorf("expired: %d, %v", len(expired), err)
	}
}

func TestAListSaysOfNothingThatItExpiredBeforeThatIsDurable(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := push(t, f, ann, func(in *store.NewPush) { in.Days = ptr(1) })
	f.Clock.Advance(day)
	live, err := f.Pushes(ctx, ann, true, 1)
	if err != nil || len(live) != 0 {
		t.Fatalf("active: %d, %v", len(live), err)
	}
	f.Clock.Jump(-12 * time.Hour)
	if retrieve(t, f, nobody, p) != "" {
		t.Error("it came back")
	}
	if expired, err := f.Pushes(ctx, ann, false, 1); err != nil || len(expired) != 1 {
		t.Errorf("expired: %d, %v", len(expired), err)
	}
}
