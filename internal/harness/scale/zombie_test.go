package scale

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

const readers = 64

// An old primary is thawed just when a standby has taken its place, before the servers have
// noticed: then they talk to both. Readers of pushes that may be viewed once get each of them
// once.
func TestNothingIsDeliveredTwiceBesideAnOldPrimary(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	for n := range env.Length(t, "PUSHBOX_TEST_FAILOVERS") {
		if !t.Run(strconv.FormatUint(seed+n, 10), func(t *testing.T) { thawAtOnce(t, seed+n) }) {
			return
		}
	}
}

func thawAtOnce(t *testing.T, seed uint64) {
	r := pgtest.NewReplicas(t, nodes)
	f := newFleet(t, r.URL(), 2, seed, briefRequests)
	f.reach()
	pushes := f.once(100)
	f.away(true)
	delivered := f.readAll(pushes, func() {
		old := r.Primary()
		r.Freeze(old)
		r.Promote()
		r.Thaw(old)
	})
	f.judgeAway()
	twice, never := 0, 0
	for i := range delivered {
		switch delivered[i].Load() {
		case 0:
			never++
		case 1:
		default:
			twice++
		}
	}
	t.Logf("of %d pushes %d were never delivered", len(pushes), never)
	if twice > 0 {
		t.Errorf("P2: %d pushes were delivered more than once", twice)
	}
	if never > readers { // a view counts whose answer was 503
		t.Errorf("%d pushes were never delivered", never)
	}
	f.stop()
}

// once makes pushes that may be viewed once, and returns their url_tokens.
func (f *fleet) once(n int) (tokens []string) {
	f.Helper()
	for i := range n {
		in := map[string]proctest.NewPush{"push": {Payload: payloadOf(i), Name: "once", Views: 1}}
		var out proctest.Record
		env.OK(f, f.crowds[i%len(f.crowds)].Call(http.MethodPost, proctest.PushesPath, f.bearer, in, http.StatusCreated, &out))
		tokens = append(tokens, out.Token)
	}
	return tokens
}

func payloadOf(n int) string { return fmt.Sprintf("secret %d", n) }

// readAll has readers at all servers ask for each push until it has ended, and returns how
// often each was delivered. After some views, something happens.
func (f *fleet) readAll(tokens []string, happens func()) []atomic.Int32 {
	f.Helper()
	delivered := make([]atomic.Int32, len(tokens))
	var total atomic.Int64
	some := make(chan struct{})
	var all sync.WaitGroup
	for id := range readers {
		all.Go(func() {
			c := f.crowds[id%len(f.crowds)]
			for k := range tokens {
				i := (k + id/len(f.crowds)*7) % len(tokens)
				r, err := viewToEnd(c, tokens[i])
				if err != nil {
					f.Errorf("push %d: %v", i, err)
					return
				}
				if r.Payload == nil {
					continue
				}
				if *r.Payload != payloadOf(i) {
					f.Errorf("P7: push %d is %q", i, *r.Payload)
				}
				delivered[i].Add(1)
				if total.Add(1) == int64(len(tokens)/4) {
					close(some)
				}
			}
		})
	}
	select {
	case <-some:
	case <-time.After(proctest.Patience):
		f.Error("too little is delivered")
	}
	happens()
	all.Wait()
	return delivered
}

// viewToEnd asks for a push until there is an answer.
func viewToEnd(c *proctest.Crowd, token string) (r proctest.Record, err error) {
	for begun := time.Now(); ; {
		req, err := http.NewRequest(http.MethodGet, c.URL+proctest.PushesPath+"/"+token, nil)
		if err != nil {
			return r, err
		}
		status, answer, err := c.Send(req)
		switch {
		case proctest.IsCut(err) && time.Since(begun) < 2*longest:
			continue
		case err != nil:
			return r, err
		case status != http.StatusOK:
			return r, fmt.Errorf("status %d: %s", status, strings.TrimSpace(string(answer)))
		}
		return r, json.Unmarshal(answer, &r)
	}
}

// reach has the clients of each crowd ask its server.
func (f *fleet) reach() {
	for i, c := range f.crowds {
		c.Reach(f.servers[i].URL)
		c.HTTP.Timeout = 2 * longest
	}
}
