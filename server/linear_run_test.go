package server_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"pushbox/config"
)

const (
	linearClients = 12
	linearPushes  = 4 // that are in use at a time: few, so that calls of them overlap
)

// A linearSubject is a push in use.
type linearSubject struct {
	n     int
	token string
	plan  linearPlan
	uses  int // that are left
}

// A linearRun is clients that use pushes of one server, and a clock that moves
// meanwhile.
type linearRun struct {
	*api
	owner http.Header
	seed  uint64
	start time.Time
	calls atomic.Int64
	ticks chan struct{} // one each time that the clock is due to move

	mu      sync.Mutex
	made    int
	slots   [linearPushes]linearSubject
	history []porcupine.Operation
}

// newLinearRun starts a server that takes any number of requests and guesses:
// what limits do has tests of its own.
func newLinearRun(t *testing.T, seed uint64) *linearRun {
	a := newAPI(t, func(c *config.Config) {
		c.Limits.PassphrasesPerClient, c.Limits.PassphrasesPerPush, c.Limits.UnknownTokensPerMinute = 0, 0, 0
	})
	return &linearRun{api: a, owner: a.user("ann@example.com"), seed: seed, start: time.Now(), ticks: make(chan struct{}, 1)}
}

// record has the clients make n calls and returns the history of them.
func (r *linearRun) record(n int) []porcupine.Operation {
	var clients, clock sync.WaitGroup
	clock.Go(r.turnClock)
	for id := range linearClients {
		clients.Go(func() {
			rng := rand.New(rand.NewPCG(r.seed, uint64(id)))
			for made := r.calls.Add(1); made <= int64(n); made = r.calls.Add(1) {
				r.act(id, rng)
				if made%15 == 0 {
					r.tick()
				}
			}
		})
	}
	clients.Wait()
	close(r.ticks)
	clock.Wait()
	r.lastTour()
	return r.history
}

// lastTour makes sure of what chance may leave out: a push whose time is over is
// deleted, seen, and asked for when it is purged.
func (r *linearRun) lastTour() {
	r.made++
	p := linearPlan{payload: "the last", limit: 1, lifetime: (15 * time.Minute).Milliseconds(), deletable: true}
	s := r.push(0, r.made, p)
	r.store.Clock.Advance(15 * time.Minute)
	r.use(0, s.token, linearCall{push: s.n, op: opDelete})
	r.use(0, s.token, linearCall{push: s.n, op: opView})
	r.store.Clock.Advance(day)
	r.sweep()
	r.use(0, s.token, linearCall{push: s.n, op: opView})
}

func (r *linearRun) tick() {
	select {
	case r.ticks <- struct{}{}:
	default:
	}
}

// turnClock moves the clock at each tick, and often sweeps then. Nobody else
// moves it, so a sweep has one time.
func (r *linearRun) turnClock() {
	rng := rand.New(rand.NewPCG(r.seed, linearClients))
	for range r.ticks {
		step := time.Duration(1+rng.IntN(9)) * time.Minute
		if rng.IntN(8) == 0 {
			step += time.Duration(6+rng.IntN(24)) * time.Hour // some pushes last a day; expired ones of nobody stay a day
		}
		r.store.Clock.Advance(step)
		if rng.IntN(3) > 0 {
			r.sweep()
		}
	}
}

func (r *linearRun) sweep() {
	now, call := r.clock(), r.elapsed()
	if _, err := r.store.Sweep(ctx); err != nil {
		r.t.Errorf("sweep: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, op := range []linearOp{opExpire, opPurge} {
		r.history = append(r.history, porcupine.Operation{
			ClientId: linearClients + i, Call: call, Return: r.elapsed(),
			Input: linearCall{op: op, sweep: int(call), lo: now, hi: now}, Output: linearAnswer{},
		})
	}
}

func (r *linearRun) clock() int64 { return r.store.Clock.Now().UnixMilli() }

func (r *linearRun) elapsed() int64 { return time.Since(r.start).Nanoseconds() }

// act makes one call: something with a push in use, or a push in the place of
// one that was used enough.
func (r *linearRun) act(id int, rng *rand.Rand) {
	slot := rng.IntN(linearPushes)
	s, next := r.take(slot)
	if next > 0 {
		if s.plan.owned {
			r.use(id, s.token, linearCall{push: s.n, op: opAudit, token: true}) // a last look
		}
		r.create(id, slot, next, rng)
		return
	}
	in := linearCall{push: s.n, op: opView, token: rng.IntN(6) == 0}
	switch n := rng.IntN(100); {
	case n < 8:
		in.op, in.token = opDelete, rng.IntN(2) == 0
	case n < 20:
		in.op = opPreview
	case n < 40:
		in.op, in.token = opAudit, rng.IntN(10) > 0
	case s.plan.protected:
		in.guess = guess(min(rng.IntN(4), int(rightGuess)))
	case n < 50:
		in.guess = wrongGuess // nobody asks for one
	}
	r.use(id, s.token, in)
}

// take counts a use of the push in a slot. Where it has none left, the caller
// is to make the next one, whose number it gets; others go on with the old one
// for a while.
func (r *linearRun) take(slot int) (s linearSubject, next int) {
	const meanwhile = 5
	r.mu.Lock()
	defer r.mu.Unlock()
	held := &r.slots[slot]
	if held.token != "" && held.uses > 0 {
		held.uses--
		return *held, 0
	}
	held.uses = meanwhile
	r.made++
	return *held, r.made
}

// create puts a push of any kind into a slot.
func (r *linearRun) create(id, slot, n int, rng *rand.Rand) {
	p := linearPlan{
		payload: fmt.Sprintf("payload %d", n), limit: 1 + rng.IntN(5), lifetime: (15 * time.Minute).Milliseconds(),
		owned: rng.IntN(3) > 0, deletable: rng.IntN(2) == 0, protected: rng.IntN(10) == 0,
	}
	switch {
	case p.protected: // for long, since calls of it take long
		p.lifetime = (7 * day).Milliseconds()
	case rng.IntN(3) == 0:
		p.lifetime = day.Milliseconds()
	}
	s := r.push(id, n, p)
	s.uses = 6 + rng.IntN(16)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slots[slot] = s
}

// push makes the push of a plan.
func (r *linearRun) push(id, n int, p linearPlan) linearSubject {
	members := fmt.Sprintf(`"payload":%q,"expire_after_views":%d,"deletable_by_viewer":%t`, p.payload, p.limit, p.deletable)
	if p.protected {
		members += `,"passphrase":"right"`
	}
	if days := p.lifetime / day.Milliseconds(); days > 0 {
		members += fmt.Sprintf(`,"expire_after_days":%d`, days)
	} else {
		members += `,"expire_after_duration":0`
	}
	in := linearCall{push: n, op: opCreate, plan: p, token: p.owned}
	out := r.call(id, in, http.MethodPost, pushes, `{"push":{`+members+`}}`, nil)
	return linearSubject{n: n, token: out.token, plan: p}
}

func (r *linearRun) use(id int, token string, in linearCall) {
	method, path, h := http.MethodGet, pushes+"/"+token, http.Header{}
	switch in.op {
	case opDelete:
		method = http.MethodDelete
	case opPreview:
		path += "/preview"
	case opAudit:
		path += "/audit"
	default:
		if in.guess != noGuess {
			h.Set("X-Push-Passphrase", [...]string{wrongGuess: "wrong", rightGuess: "right"}[in.guess])
		}
	}
	r.call(id, in, method, path, "", h)
}

// call sends a request and puts it into the history.
func (r *linearRun) call(id int, in linearCall, method, path, body string, h http.Header) linearAnswer {
	headers := []http.Header{h}
	if in.token {
		headers = append(headers, r.owner)
	}
	call := r.elapsed()
	in.lo = r.clock()
	got, err := r.try(method, path, body, headers...)
	in.hi = r.clock()
	back := r.elapsed()
	if err != nil {
		r.t.Errorf("%s: %v", linearOpNames[in.op], err)
	}
	out, err := readLinear(got)
	if err != nil {
		r.t.Errorf("%s: %v in %s", linearOpNames[in.op], err, got.body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, porcupine.Operation{ClientId: id, Call: call, Return: back, Input: in, Output: out})
	return out
}

// readLinear reads of an answer what the model knows.
func readLinear(got answer) (linearAnswer, error) {
	var body struct {
		Token     string     `json:"url_token"`
		Created   time.Time  `json:"created_at"`
		Updated   time.Time  `json:"updated_at"`
		ExpiresAt time.Time  `json:"expires_at"`
		Expired   bool       `json:"expired"`
		Deleted   bool       `json:"deleted"`
		ExpiredOn *time.Time `json:"expired_on"`
		Remaining int        `json:"views_remaining"`
		Payload   *string    `json:"payload"`
		URL       string     `json:"url"`
		Logs      []struct {
			Kind string `json:"kind"`
		} `json:"logs"`
	}
	err := json.Unmarshal([]byte(got.body), &body)
	out := linearAnswer{
		status: got.status, token: body.Token, expired: body.Expired, deleted: body.Deleted,
		remaining: body.Remaining, link: body.URL,
		created: milli(body.Created), updated: milli(body.Updated), expiresAt: milli(body.ExpiresAt),
	}
	if body.ExpiredOn != nil {
		out.expiredOn = milli(*body.ExpiredOn)
	}
	if body.Payload != nil {
		out.payload = *body.Payload
	}
	for _, e := range body.Logs {
		out.log += cmp.Or(letters[e.Kind], "?")
	}
	return out, err
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
