package linear_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/anishathalye/porcupine"

	"pushbox/internal/testkit/env"
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

// A linearConn is one client's connection to a server. What it does not have of
// http.Client would cost more than the server does.
type linearConn struct {
	address string
	conn    net.Conn
	r       *bufio.Reader
}

// send sends a request and returns what came back, all of it or an error.
func (c *linearConn) send(request []byte) (status int, body []byte, err error) {
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("tcp", c.address, env.Patience); err != nil {
			c.conn = nil
			return 0, nil, err
		}
		c.r = bufio.NewReader(c.conn)
	}
	_ = c.conn.SetDeadline(time.Now().Add(env.Patience))
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return 0, nil, err
	}
	if body, err = io.ReadAll(res.Body); err == nil && res.Close {
		c.close()
	}
	return res.StatusCode, body, err
}

func (c *linearConn) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// A linearRequest is a request.
type linearRequest struct {
	method, path       string
	bearer, passphrase string // empty: none
	media, body        string // no type: no body
}

func (q linearRequest) bytes() []byte {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: pushbox.test\r\n", q.method, q.path)
	if q.bearer != "" {
		b = fmt.Appendf(b, "Authorization: Bearer %s\r\n", q.bearer)
	}
	if q.passphrase != "" {
		b = fmt.Appendf(b, "X-Push-Passphrase: %s\r\n", q.passphrase)
	}
	if q.media != "" {
		b = fmt.Appendf(b, "Content-Type: %s\r\nContent-Length: %d\r\n", q.media, len(q.body))
	}
	return append(append(b, "\r\n"...), q.body...)
}

// readLinear reads of an answer what the model knows.
func readLinear(status int, text []byte) (linearAnswer, error) {
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
	err := json.Unmarshal(text, &body)
	out := linearAnswer{
		status: status, token: body.Token, expired: body.Expired, deleted: body.Deleted,
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
