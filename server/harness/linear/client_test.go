package linear_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/anishathalye/porcupine"
)

// never is when a call returns that was cut off.
const never = math.MaxInt64

// A linearClient makes one call after the other.
type linearClient struct {
	linearConn
	id  int
	run *linearRun
	rng *rand.Rand
}

// act makes one call: something with a push in use, or a push in the place of
// one that was used enough.
func (c *linearClient) act() {
	slot, rng := c.rng.IntN(linearPushes), c.rng
	s, next := c.run.take(slot)
	if next > 0 {
		if s.plan.owned && s.token != "" {
			c.use(s.token, linearCall{push: s.n, op: opAudit, token: true}) // a last look
		}
		c.create(slot, next)
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
		in.guess = wrongGuess // the push has none
	}
	c.use(s.token, in)
}

// create puts a push of any kind into a slot.
func (c *linearClient) create(slot, n int) {
	rng := c.rng
	p := linearPlan{
		payload: fmt.Sprintf("payload %d", n), limit: 1 + rng.IntN(5), lifetime: (15 * time.Minute).Milliseconds(),
		owned: rng.IntN(3) > 0, deletable: rng.IntN(2) == 0, protected: n%c.run.shut == 5,
	}
	switch {
	case p.protected: // for long, since calls of it take long
		p.lifetime = (7 * day).Milliseconds()
	case rng.IntN(3) == 0:
		p.lifetime = day.Milliseconds()
	}
	s := c.push(n, p)
	s.uses = 6 + rng.IntN(16)
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	c.run.slots[slot] = s
}

// push makes the push of a plan.
func (c *linearClient) push(n int, p linearPlan) linearSubject {
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
	out := c.call(in, linearRequest{method: http.MethodPost, path: pushes, media: "application/json", body: `{"push":{` + members + `}}`})
	return linearSubject{n: n, token: out.token, plan: p}
}

func (c *linearClient) use(token string, in linearCall) {
	q := linearRequest{method: http.MethodGet, path: pushes + "/" + token}
	switch in.op {
	case opDelete:
		q.method = http.MethodDelete
	case opPreview:
		q.path += "/preview"
	case opAudit:
		q.path += "/audit"
	default:
		q.passphrase = [...]string{noGuess: "", wrongGuess: "wrong", rightGuess: "right"}[in.guess]
	}
	c.call(in, q)
}

// call sends a request and puts it into the history. What was cut off and would
// have changed nothing, or made a push that no client knows, is left out.
func (c *linearClient) call(in linearCall, q linearRequest) (out linearAnswer) {
	r := c.run
	if in.token {
		q.bearer = r.bearer
	}
	if r.kills {
		r.quiet.RLock()
		defer r.quiet.RUnlock()
	}
	request := q.bytes()
	in.life, in.lo = r.life, r.now()
	call := r.elapsed()
	status, body, err := c.send(request)
	back := r.elapsed()
	in.hi = r.now()
	if err == nil {
		out, err = readLinear(status, body)
	}
	if err != nil {
		r.cutOff(linearOpNames[in.op], err)
		if c.close(); in.op != opView && in.op != opDelete {
			return linearAnswer{}
		}
		in.cut, back, out = true, never, linearAnswer{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, porcupine.Operation{ClientId: c.id, Call: call, Return: back, Input: in, Output: out})
	return out
}
