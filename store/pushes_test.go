package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

var (
	ctx       = context.Background()
	anonymous = storetest.Anonymous
)

const day = 24 * time.Hour

func ptr[T any](v T) *T { return &v }

func TestEveryKindOfPushComesBackAsItWasSent(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	for kind, payload := range map[record.Kind]string{
		record.Text: "line one\r\nline two\x00\t end \U0001F511",
		record.URL:  "https://example.com/?q=%20&r=é",
		record.QR:   "WIFI:S:guests;T:WPA;P:pa\\;ss;;",
	} {
		p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Kind, in.Payload = kind, secret.New(payload) })
		f.Reopen()
		if got := storetest.Retrieve(t, f, anonymous, p); got != payload {
			t.Errorf("%v: %q", kind, got)
		}
	}
}

func TestTheOwnerLooksWithoutCounting(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Views = ptr(1) })
	for range 3 {
		if storetest.Retrieve(t, f, ann, p) != "s3cret" {
			t.Fatal("nothing came")
		}
	}
	if storetest.Retrieve(t, f, anonymous, p) != "s3cret" {
		t.Error("the owner used up the view")
	}
	if got := storetest.EntryKinds(t, f, ann, p); got != "creation owner_view owner_view owner_view view " {
		t.Errorf("audit log: %s", got)
	}
}

func TestAPushEndsWithItsTime(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Days = ptr(1) })
	f.Clock.Advance(day - time.Millisecond)
	if storetest.Retrieve(t, f, anonymous, p) != "s3cret" {
		t.Fatal("it ended too soon")
	}
	f.Clock.Advance(time.Millisecond)
	if storetest.Retrieve(t, f, anonymous, p) != "" {
		t.Fatal("it did not end")
	}
	f.Clock.Jump(-12 * time.Hour)
	f.Reopen()
	if storetest.Retrieve(t, f, anonymous, p) != "" {
		t.Error("turning the clock back brought it back")
	}
	if got := storetest.EntryKinds(t, f, ann, p); got != "creation view failed_view failed_view " {
		t.Errorf("audit log: %s", got)
	}
}

func TestAJumpOfTheClockDeniesAndDestroysNothing(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := storetest.Push(t, f, anonymous, nil)
	f.Clock.Jump(365 * day)
	f.SweepAll()
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); !errors.Is(err, record.ErrClock) {
		t.Errorf("retrieve: %v", err)
	}
	if _, err := f.CreatePush(ctx, anonymous, store.NewPush{Kind: record.Text, Payload: secret.New("x")}); !errors.Is(err, record.ErrClock) {
		t.Errorf("create: %v", err)
	}
	f.Clock.Jump(-365 * day)
	if storetest.Retrieve(t, f, anonymous, p) != "s3cret" {
		t.Error("it is gone")
	}
	f.Clock.Jump(7*day + time.Hour)
	f.SweepAll()
	f.Clock.Advance(10 * time.Minute)
	f.SweepAll()
	if got, err := f.Preview(ctx, p.Token); err != nil || got.State != record.Expired {
		t.Errorf("ten minutes later it has state %d, %v", got.State, err)
	}
}

func TestUnknownTokensAreNotFoundEverywhere(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	for _, token := range []store.Token{{}, store.NewToken(f.Clock.Now())} {
		_, retrieve := f.Retrieve(ctx, ann, token, secret.New("p"), nil)
		_, preview := f.Preview(ctx, token)
		_, del := f.DeletePush(ctx, ann, token)
		_, audit := f.Audit(ctx, ann, token, 1)
		for i, err := range []error{retrieve, preview, del, audit} {
			if !errors.Is(err, record.ErrNotFound) {
				t.Errorf("call %d: %v", i, err)
			}
		}
	}
}

func TestAuditEntriesTellWhoItWas(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := storetest.Push(t, f, ann, nil)
	f.Clock.Advance(time.Hour)
	who := store.Actor{Client: "c", IP: "203.0.113.7", UserAgent: "curl/8", Referrer: secret.New("https://chat.example/")}
	storetest.Retrieve(t, f, who, p)
	log, err := f.Audit(ctx, ann, p.Token, 1)
	if err != nil || len(log) != 2 {
		t.Fatalf("%v, %v", log, err)
	}
	want := store.LogEntry{Kind: record.EntryView, At: p.CreatedAt.Add(time.Hour), IP: who.IP, UserAgent: who.UserAgent}
	got := log[1]
	referrer := got.Referrer.Reveal()
	if got.Referrer = want.Referrer; got != want || referrer != who.Referrer.Reveal() {
		t.Errorf("%+v %q", got, referrer)
	}
	for _, by := range []store.Actor{anonymous, f.Account("bob@example.com")} {
		if _, err := f.Audit(ctx, by, p.Token, 1); !errors.Is(err, record.ErrDenied) {
			t.Errorf("a stranger reads it: %v", err)
		}
	}
	if _, err := f.Audit(ctx, anonymous, storetest.Push(t, f, anonymous, nil).Token, 1); !errors.Is(err, record.ErrDenied) {
		t.Errorf("an anonymous client owns an anonymous push: %v", err)
	}
}

func TestListsAreOnesOwnNewestFirstInPages(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	var made []store.PushInfo
	for i := range store.PageSize + 1 {
		made = append(made, storetest.Push(t, f, ann, func(in *store.NewPush) { in.Name = secret.New(fmt.Sprint("push ", i)) }))
		storetest.Push(t, f, bob, nil)
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
	if err != nil || len(expired) != 1 || expired[0].Name.Reveal() != "push 3" || !expired[0].Token.IsZero() || expired[0].URLToken() != made[3].Handle().String() {
		t.Errorf("expired: %d, %v", len(expired), err)
	}
}

func TestAListSaysOfNothingThatItExpiredBeforeThatIsDurable(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Days = ptr(1) })
	f.Clock.Advance(day)
	live, err := f.Pushes(ctx, ann, true, 1)
	if err != nil || len(live) != 0 {
		t.Fatalf("active: %d, %v", len(live), err)
	}
	f.Clock.Jump(-12 * time.Hour)
	if storetest.Retrieve(t, f, anonymous, p) != "" {
		t.Error("it came back")
	}
	if expired, err := f.Pushes(ctx, ann, false, 1); err != nil || len(expired) != 1 {
		t.Errorf("expired: %d, %v", len(expired), err)
	}
}

// What is made within one millisecond is listed in the order in which it was made.
func TestListsHaveTheOrderOfTheCreations(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine)
		ann := f.Account(email)
		var pushes, requests []string
		for n := range store.PageSize {
			name := fmt.Sprint("number ", n)
			if p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Name = secret.New(name) }); n%2 == 0 {
				pushes = append([]string{name}, pushes...)
			} else if _, err := f.DeletePush(ctx, ann, p.Token); err != nil {
				t.Fatal(err)
			}
			if _, err := f.CreateRequest(ctx, ann, store.NewRequest{Text: secret.New(name)}); err != nil {
				t.Fatal(err)
			}
			requests = append([]string{name}, requests...)
		}
		list, err := f.Pushes(ctx, ann, true, 1)
		asked, requestErr := f.Requests(ctx, ann, 1)
		if err != nil || requestErr != nil {
			t.Fatal(err, requestErr)
		}
		var got, gotRequests []string
		for _, p := range list {
			got = append(got, p.Name.Reveal())
		}
		for _, q := range asked {
			gotRequests = append(gotRequests, q.Text.Reveal())
		}
		if !slices.Equal(got, pushes) || !slices.Equal(gotRequests, requests) {
			t.Errorf("the lists are\n%q\n%q", got, gotRequests)
		}
	})
}
