package webhook

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/internal/retry"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"

	"pushbox/store/clock"
)

// A world is a store, and a dispatcher that can be started and stopped.
type world struct {
	*storetest.Fixture
	t      *testing.T
	ann    store.Actor
	log    *bytes.Buffer // to be read after stop
	tuning tuning
	inst   *store.HookTarget
	sender *Dispatcher // since start
	stop   func()
}

func newWorld(t *testing.T, changes ...func(*storetest.Setup)) *world {
	t.Helper()
	changes = append([]func(*storetest.Setup){func(s *storetest.Setup) { s.Clock = clock.NewSystem() }}, changes...)
	w := &world{Fixture: storetest.New(t, changes...), t: t, log: new(bytes.Buffer), stop: func() {}, tuning: usualTuning()}
	w.tuning.retry, w.tuning.rest = retry.Policy{First: 10 * time.Millisecond, Most: 100 * time.Millisecond}, time.Millisecond
	w.tuning.store = env.Patience
	w.ann = w.Account("ann@example.com")
	return w
}

// start runs a dispatcher until stop, at the latest until the test ends.
func (w *world) start() {
	w.t.Helper()
	d := New(Options{Store: w.Store, Sender: patientSender(loopback(), nil), Instance: w.inst, Log: zerolog.New(zerolog.SyncWriter(w.log))})
	d.tuning, w.sender = w.tuning, d
	w.stop = env.Run(w.t, d.Run)
}

// hook adds a webhook for views, which signs as the tests do not know.
func (w *world) hook(url string) store.HookInfo {
	w.t.Helper()
	return env.Must(w.AddHook(w.t.Context(), storetest.Operator, "ann@example.com", store.NewHook{URL: secret.New(url), Events: []record.Event{record.EventView}}))(w.t)
}

// views makes a push and views it so often.
func (w *world) views(n int) {
	w.t.Helper()
	limit := 100
	p := env.Must(w.CreatePush(w.t.Context(), w.ann, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Views: &limit}))(w.t)
	for range n {
		env.Must(w.Retrieve(w.t.Context(), store.Actor{}, p.Token, secret.Text{}, nil))(w.t)
	}
}

// drained returns when no message waits.
func (w *world) drained() {
	w.t.Helper()
	env.Eventually(w.t, "no message waits", func() bool { return w.Waiting() == 0 })
}

// wantLog fails the test unless the log has these texts, and nothing of an address.
func (w *world) wantLog(texts ...string) {
	w.t.Helper()
	w.stop()
	for _, text := range texts {
		if strings.Count(w.log.String(), text) != 1 {
			w.t.Errorf("the log does not have %q once:\n%s", text, w.log)
		}
	}
	if strings.Contains(w.log.String(), "marker") || strings.Contains(w.log.String(), "127.0.0.1") || len(texts) == 0 && w.log.Len() > 0 {
		w.t.Errorf("the log has\n%s", w.log)
	}
}

func TestEachViewIsToldOnce(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t, func(s *storetest.Setup) { s.Hooks.Instance = record.NewEventSet(record.EventView) }), newReceiver(t, nil)
	instance := targetOf(r.URL + "/instance-marker")
	w.inst = &instance
	w.hook(r.URL + "/ann-marker")
	w.views(20)
	w.start()
	w.views(50)
	w.drained()
	w.wantLog()
	ids, paths := make(map[string]bool), make(map[string]int)
	for range len(r.posts) {
		p := r.next(t)
		ids[p.header.Get("webhook-id")] = true
		paths[p.path]++
		own := p.path == "/ann-marker"
		if p.Event != "view" || p.verified() == own || (p.URLToken != "") != own {
			t.Errorf("to %s came %s, verified %v", p.path, p.body, p.verified())
		}
	}
	if len(ids) != 140 || paths["/ann-marker"] != 70 || paths["/instance-marker"] != 70 {
		t.Errorf("%d messages came, to %v", len(ids), paths)
	}
}

func TestWhatFailsIsTriedAgainUnderTheSameID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, func(_ post, n int) int {
		return []int{http.StatusInternalServerError, http.StatusFound, http.StatusTooManyRequests, http.StatusOK}[min(n, 4)-1]
	})
	w.hook(r.URL + "/marker")
	w.views(1)
	w.start()
	w.drained()
	w.wantLog(`"webhook":1,"status":500`, "works again")
	first := r.next(t)
	for range 3 {
		if p := r.next(t); p.header.Get("webhook-id") != first.header.Get("webhook-id") || !bytes.Equal(p.body, first.body) {
			t.Errorf("the second try is %s, the first %s", p.body, first.body)
		}
	}
}

func TestAWebhookThatIsGoneIsDisabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *storetest.Setup) { s.Hooks.Instance = record.NewEventSet(record.EventView) })
	r := newReceiver(t, func(post, int) int { return http.StatusGone })
	instance := targetOf(r.URL + "/marker")
	w.inst = &instance
	h := w.hook(r.URL + "/marker")
	w.views(5)
	w.start()
	w.drained()
	w.wantLog("is disabled\"", "is disabled until the server restarts")
	env.Equal(t, "messages came", len(r.posts), 2)
	if info, err := w.Hook(t.Context(), h.ID); err != nil || !info.Disabled {
		t.Errorf("disabled is %v, %v", info.Disabled, err)
	}
}

func TestAMessageThatCannotBeDeliveredIsGivenUp(t *testing.T) {
	t.Parallel()
	machine := new(env.Ahead)
	w := newWorld(t, func(s *storetest.Setup) { s.Clock, s.Hooks.GiveUp = machine, time.Hour })
	r := newReceiver(t, func(_ post, n int) int {
		if n == 2 {
			machine.Advance(time.Hour)
		}
		return http.StatusTeapot
	})
	w.hook(r.URL + "/marker")
	w.views(1)
	w.start()
	w.drained()
	w.wantLog("could not be delivered in time", "the server tries again")
	env.Equal(t, "messages were dropped", w.sender.Dropped(), 1)
	env.Equal(t, "tries were made", len(r.posts), 2)
}

func TestMessagesWithoutRoomAreInTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *storetest.Setup) { s.Hooks.Queue = 20 }) // one webhook may have half of it
	r := newReceiver(t, nil)
	w.hook(r.URL + "/marker")
	w.views(25)
	w.start()
	w.drained()
	w.wantLog(`"messages":15`)
}

func TestMessagesForEndedSubscriptionsAreNotSent(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	h := w.hook(r.URL)
	w.views(40)
	env.OK(t, w.RemoveHook(t.Context(), storetest.Operator, h.ID))
	w.start()
	w.drained()
	w.wantLog()
	if len(r.posts) > 0 {
		t.Errorf("%d messages came", len(r.posts))
	}
}

// A spoiler is an engine whose webhooks do not open while it is on.
type spoiler struct {
	record.Engine
	on *atomic.Bool
}

func (e spoiler) View(ctx context.Context, read func(record.View) error) error {
	return e.Engine.View(ctx, func(v record.View) error { return read(spoiled{v, e.on}) })
}

type spoiled struct {
	record.View
	on *atomic.Bool
}

func (v spoiled) List(of *record.Table, r record.Range) ([]record.Record, error) {
	list, err := v.View.List(of, r)
	for i := range list {
		if h, ok := list[i].(record.Hook); ok && v.on.Load() {
			h.Sealed = bytes.Clone(h.Sealed)
			h.Sealed[len(h.Sealed)-1] ^= 1
			list[i] = h
		}
	}
	return list, err
}

// Only a webhook that is gone loses its messages. For one that cannot be read they wait, and
// are sent when it can.
func TestMessagesWaitForAWebhookThatCannotBeRead(t *testing.T) {
	t.Parallel()
	var on atomic.Bool
	w, r := newWorld(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine { return spoiler{e, &on} }
	}), newReceiver(t, nil)
	on.Store(true)
	h := w.hook(r.URL + "/marker")
	w.views(3)
	w.start()
	env.Eventually(t, "it fails", func() bool { return len(w.sender.Failing()) > 0 })
	env.Equal(t, "messages wait", w.WaitingFor(h.ID), 3)
	on.Store(false)
	if err := w.DisableHook(t.Context(), storetest.Operator, h.ID, false); err != nil { // which reads it again
		t.Fatal(err)
	}
	w.drained()
	w.wantLog("cannot be decrypted", "the server tries again", "works again")
	if n := w.sender.Dropped(); len(r.posts) != 3 || n > 0 {
		t.Errorf("%d messages came, %d were dropped", len(r.posts), n)
	}
}

// Only the messages for a slow receiver wait for it, and it gets one at a time.
func TestASlowReceiverHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tuning.slots, w.tuning.batch = 2, 4
	release, at := make(chan struct{}), new(atomic.Int32)
	var worst atomic.Int32
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		now := at.Add(1)
		worst.Store(max(worst.Load(), now))
		<-release
		at.Add(-1)
	}))
	defer slow.Close()
	let := sync.OnceFunc(func() { close(release) })
	defer let()
	for n := range 5 { // the same host, whatever the address says
		w.hook(fmt.Sprintf("%s/marker-%d", slow.URL, n))
	}
	w.views(30)
	quick := newReceiver(t, nil)
	w.hook(quick.URL)
	w.start()
	w.views(10)
	for range 10 {
		quick.next(t)
	}
	let()
	w.drained()
	w.wantLog()
	env.Equal(t, "messages were on their way to the slow one at once", worst.Load(), 1)
}

// A stop ends what is on its way after a while; the next run has it again.
func TestAStopLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tuning.grace = 50 * time.Millisecond
	var hang atomic.Bool
	hang.Store(true)
	arrived := make(chan struct{}, 1)
	var told atomic.Int32
	r := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body) // or the server does not see that the client goes
		if hang.Load() {
			arrived <- struct{}{}
			select {
			case <-q.Context().Done():
			case <-time.After(env.Patience):
			}
			return
		}
		told.Add(1)
	}))
	defer r.Close()
	w.hook(r.URL + "/marker")
	w.views(3)
	w.start()
	<-arrived
	w.stop()
	env.Equal(t, "messages wait after a stop", w.Waiting(), 3)
	hang.Store(false)
	w.start()
	w.drained()
	w.wantLog()
	env.Equal(t, "messages came", told.Load(), 3)
}

func TestAWebhookKeepsWhatWasTriedLast(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, func(_ post, n int) int {
		if n == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	w := newWorld(t)
	w.hook(r.URL)
	w.start()
	w.views(1)
	w.drained()
	w.stop()
	list, err := w.Hooks(t.Context(), "ann@example.com")
	if err != nil || len(list) != 1 || len(list[0].Tried) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, want := range []int{http.StatusServiceUnavailable, http.StatusNoContent} {
		if d := list[0].Tried[i]; d.Status != want || d.Event != record.EventView || d.Fault != record.FaultNone || d.At.IsZero() {
			t.Errorf("try %d is %+v", i, d)
		}
	}
}

func TestEachReasonIsAFault(t *testing.T) {
	t.Parallel()
	for want, err := range map[record.Fault]error{
		record.FaultNone: nil, record.FaultDenied: denied("no"), record.FaultUnreachable: reasonOf(t.Context(), syscall.ECONNREFUSED),
		record.FaultSlow: reasonOf(t.Context(), os.ErrDeadlineExceeded), record.FaultBroken: reasonOf(t.Context(), io.ErrUnexpectedEOF),
		record.FaultName: reasonOf(t.Context(), &net.DNSError{IsNotFound: true}), record.FaultTLS: reasonOf(t.Context(), x509.UnknownAuthorityError{}),
	} {
		if got := FaultOf(err); got != want {
			t.Errorf("%v is %d, not %d", err, got, want)
		}
	}
}
