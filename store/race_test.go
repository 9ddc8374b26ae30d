package store_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/storetest"
)

const racers = 64

// A race is a push that many ask for at once.
type race struct{ limit, each int }

// tries is how often the push is asked for in all.
func (r race) tries() int { return racers * r.each }

// wins is how often it is to be delivered.
func (r race) wins() int { return min(r.limit, r.tries()) }

// races are as many as PUSHBOX_TEST_RACE_PUSHES says, divided by share.
func races(t *testing.T, share uint64) (list []race) {
	t.Helper()
	limits := []int{1, 2, 3, 5, 100}
	n := env.Length(t, "PUSHBOX_TEST_RACE_PUSHES")
	for i := range int(max(n/share, uint64(len(limits)))) {
		list = append(list, race{limit: limits[i%len(limits)], each: 1 + i/len(limits)%3})
	}
	return list
}

// run has all racers begin at the same time and try as often as they are to, and
// waits for all.
func (r race) run(try func(racer int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for racer := range racers {
		all.Go(func() {
			<-start
			for range r.each {
				try(racer)
			}
		})
	}
	close(start)
	all.Wait()
}

// wantCounted fails the test unless the push counts that number of views, and has ended
// if that is its limit.
func wantCounted(t *testing.T, f *storetest.Fixture, p store.PushInfo, views int) {
	t.Helper()
	got, err := f.Preview(ctx, p.Token)
	env.OK(t, err)
	if got.Views != views || got.Live() != (views < got.ViewLimit) {
		t.Errorf("%d views of %d are counted, and it has state %d", got.Views, got.ViewLimit, got.State)
	}
}

func TestNoMoreIsDeliveredThanTheLimitHoweverManyAsk(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine)
		for _, r := range races(t, 1) {
			p := storetest.Push(t, f, anonymous, func(in *store.NewPush) { in.Views = ptr(r.limit) })
			var delivered atomic.Int32
			r.run(func(int) {
				got, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil)
				if err != nil {
					t.Errorf("retrieve: %v", err)
				}
				switch got.Payload.Reveal() {
				case "s3cret":
					delivered.Add(1)
				case "":
				default:
					t.Error("another payload came")
				}
			})
			if int(delivered.Load()) != r.wins() {
				t.Fatalf("limit %d, %d tries: delivered %d", r.limit, r.tries(), delivered.Load())
			}
			wantCounted(t, f, p, r.wins())
		}
	})
}

// Each delivery of files comes with a grant, and each grant gives the files.
func TestNoMoreGrantsAreIssuedThanTheLimitHoweverManyAsk(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine)
		ann := f.Account("ann@example.com")
		for i, r := range races(t, 10) {
			want := storetest.Content(uint64(i), 100)
			p := storetest.PushFiles(t, f, ann, func(in *store.NewPush) { in.Views = ptr(r.limit) }, want)
			var mu sync.Mutex
			grants := make(map[string]bool)
			r.run(func(int) {
				got, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil)
				if err != nil {
					t.Errorf("retrieve: %v", err)
				}
				if got.Grant.IsZero() {
					return
				}
				if back, err := storetest.Download(f, got.Grant, 0); err != nil || !bytes.Equal(back, want) {
					t.Errorf("a grant gives %d bytes, %v", len(back), err)
				}
				mu.Lock()
				defer mu.Unlock()
				grants[got.Grant.Reveal()] = true
			})
			if len(grants) != r.wins() {
				t.Fatalf("limit %d, %d tries: %d grants", r.limit, r.tries(), len(grants))
			}
			wantCounted(t, f, p, r.wins())
		}
	})
}

// While many ask, the owner deletes the push: what is delivered is counted, and
// a client that asks after that gets nothing.
func TestADeleteEndsWhatManyAskFor(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		f := storetest.New(t, engine)
		ann := f.Account("ann@example.com")
		for i, r := range races(t, 10) {
			p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Views = ptr(100) })
			var delivered, asked atomic.Int32
			var deleted atomic.Bool
			r.run(func(racer int) {
				if asked.Add(1) == int32(1+i%racers) {
					if _, err := f.DeletePush(ctx, ann, p.Token); err != nil {
						t.Errorf("delete: %v", err)
					}
					deleted.Store(true)
					return
				}
				late := deleted.Load()
				got, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil)
				if err != nil {
					t.Errorf("retrieve: %v", err)
				}
				if got.Payload.IsZero() {
					return
				}
				if delivered.Add(1); late {
					t.Errorf("racer %d got it after it was deleted", racer)
				}
			})
			got, err := f.Preview(ctx, p.Token)
			if err != nil || got.Views != int(delivered.Load()) || got.Live() {
				t.Fatalf("%d were delivered, %d are counted, it has state %d, %v", delivered.Load(), got.Views, got.State, err)
			}
		}
	})
}
