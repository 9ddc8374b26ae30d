package proctest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// Of the API.
const (
	PushesPath = "/api/v2/pushes"
	PerPage    = 50 // pushes or audit entries of a list
)

// act makes one request.
func (c *Crowd) act(rng *rand.Rand) error {
	p := c.Ledger.pick(rng)
	n := rng.IntN(100)
	if p == nil || n < 30 {
		return c.Create(rng)
	}
	if locked := c.Ledger.pickLocked(rng); n == 30 && locked != nil {
		p = locked
	}
	var err error
	switch {
	case n == 30 && p.passphrase != "":
		err = c.guess(p, true)
	case n < 62:
		err = c.open(p, rng)
	case n < 70:
		err = c.Remove(p)
	case n < 76:
		err = c.glance(p, rng)
	case n < 82:
		err = c.Look(rng.IntN(2) == 0)
	case n < 88:
		err = c.audit(p)
	default:
		if p, err = c.fetch(p, rng); err == nil {
			return nil
		}
	}
	if err != nil && !IsCut(err) {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return err
}

// NewPush is the push in the body of a create request.
type NewPush struct {
	Payload    string `json:"payload"`
	Passphrase string `json:"passphrase,omitempty"`
	Name       string `json:"name"`
	Views      int    `json:"expire_after_views"`
	Duration   *int   `json:"expire_after_duration,omitempty"`
	Deletable  bool   `json:"deletable_by_viewer"`
}

// Create creates a push: a text, now and then files, or a text with a passphrase.
func (c *Crowd) Create(rng *rand.Rand) error {
	p := &Push{Limit: 1 + rng.IntN(8), Owned: rng.IntN(2) == 0, Deletable: rng.IntN(2) == 0, Payload: Text(rng)}
	switch n := rng.IntN(800); {
	case n < 100:
		return c.upload(p, rng)
	case n < 108:
		p.passphrase = fmt.Sprintf("%x", rng.Uint64())
	}
	var duration *int
	if rng.IntN(3) == 0 {
		duration = new(int) // a quarter of an hour
	}
	return c.Submit(p, duration)
}

// Submit creates a text push.
func (c *Crowd) Submit(p *Push, duration *int) error {
	c.Ledger.sendCreate(p)
	in := NewPush{Payload: p.Payload, Passphrase: p.passphrase, Name: p.Name, Views: p.Limit, Duration: duration, Deletable: p.Deletable}
	var out Record
	err := c.Call(http.MethodPost, PushesPath, c.bearerOf(p), map[string]NewPush{"push": in}, http.StatusCreated, &out)
	if err == nil {
		c.Ledger.keep(p, out)
	}
	return err
}

// Text returns a payload of random length: mostly short, sometimes many pages of the
// database.
func Text(rng *rand.Rand) string {
	length := 1 + rng.IntN(300)
	switch rng.IntN(20) {
	case 0:
		length = 1 + rng.IntN(100_000)
	case 1, 2, 3:
		length = 1 + rng.IntN(8_000)
	}
	var b strings.Builder
	for b.Len() < length {
		fmt.Fprintf(&b, "%x ", rng.Uint64())
	}
	return b.String()
}

// bearerOf is the API token for requests about a push; empty for an anonymous one.
func (c *Crowd) bearerOf(p *Push) string {
	if p.Owned {
		return c.Bearer
	}
	return ""
}

// open retrieves a push as its owner, as a recipient, or with a wrong passphrase or
// none.
func (c *Crowd) open(p *Push, rng *rand.Rand) error {
	if p.passphrase != "" && rng.IntN(3) > 0 {
		return c.guess(p, rng.IntN(3) == 0)
	}
	_, err := c.View(p, p.Owned && rng.IntN(6) == 0)
	return err
}

// View retrieves a push as its owner or as a recipient. The ledger judges the answer.
func (c *Crowd) View(p *Push, asOwner bool) (r Record, err error) {
	bearer, counts := "", &p.Pending
	if asOwner {
		bearer, counts = c.Bearer, nil
	}
	before := c.Ledger.send(p, counts)
	status, answer, err := c.retrieve(p, bearer, p.passphrase)
	if err != nil {
		return r, err
	}
	if status != http.StatusOK {
		return r, fmt.Errorf("P1: status %d: %s", status, answer)
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return r, err
	}
	return r, c.Ledger.gotView(p, before, !asOwner, r)
}

// retrieve sends a request for a push.
func (c *Crowd) retrieve(p *Push, bearer, passphrase string) (status int, answer []byte, err error) {
	req, err := http.NewRequest(http.MethodGet, c.URL+PushesPath+"/"+p.Token, nil)
	if err != nil {
		return 0, nil, err
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	if passphrase != "" {
		req.Header.Set("X-Push-Passphrase", passphrase)
	}
	return c.Send(req)
}

// guess retrieves a push with a wrong passphrase or with none. The ledger does not
// count that as a retrieval, so a view that the server counts is one too many.
func (c *Crowd) guess(p *Push, wrong bool) error {
	passphrase := ""
	if wrong {
		passphrase = p.passphrase + "x"
	}
	before := c.Ledger.send(p, nil)
	status, answer, err := c.retrieve(p, "", passphrase)
	if err != nil {
		return err
	}
	var r Record
	switch {
	case status == http.StatusUnauthorized:
		c.Ledger.refuse()
		return nil
	case status != http.StatusOK || json.Unmarshal(answer, &r) != nil:
		return fmt.Errorf("P6: a wrong passphrase: status %d: %s", status, answer)
	}
	return c.Ledger.gotRefusal(p, before, r)
}

// Remove deletes a push; if the clients may not, it asks for a preview.
func (c *Crowd) Remove(p *Push) error {
	if !p.Owned && !p.Deletable {
		return c.Preview(p)
	}
	var r Record
	before := c.Ledger.send(p, &p.Deletes)
	if err := c.Call(http.MethodDelete, PushesPath+"/"+p.Token, c.bearerOf(p), nil, http.StatusOK, &r); err != nil {
		return err
	}
	return c.Ledger.gotDelete(p, before, r)
}

// glance makes a request that must not count a view.
func (c *Crowd) glance(p *Push, rng *rand.Rand) error {
	method, path := http.MethodHead, PushesPath+"/"+p.Token
	switch rng.IntN(4) {
	case 0:
		method, path = http.MethodGet, "/p/"+p.Token+"/r"
	case 1:
		path = "/p/" + p.Token
	case 2:
		return c.Preview(p)
	}
	req, err := http.NewRequest(method, c.URL+path, nil)
	if err != nil {
		return err
	}
	c.Ledger.send(p, nil)
	status, answer, err := c.Send(req)
	if err == nil && status >= http.StatusInternalServerError {
		err = fmt.Errorf("%s: status %d: %s", method, status, answer)
	}
	return err
}

// Preview asks for the link of a push, which counts no view.
func (c *Crowd) Preview(p *Push) error {
	var out struct{ URL string }
	err := c.Call(http.MethodGet, PushesPath+"/"+p.Token+"/preview", "", nil, http.StatusOK, &out)
	if err == nil && !strings.Contains(out.URL, p.Token) {
		err = fmt.Errorf("the preview is %q", out.URL)
	}
	return err
}

func (c *Crowd) audit(p *Push) error {
	if !p.Owned {
		return c.Preview(p)
	}
	before := c.Ledger.send(p, nil)
	n, err := c.viewEntries(p)
	if err != nil {
		return err
	}
	return c.Ledger.gotViewEntries(p, before, n)
}

// viewEntries counts the entries of kind view in the audit log.
func (c *Crowd) viewEntries(p *Push) (n int, err error) {
	for page := 1; ; page++ {
		var out struct {
			Logs []struct{ Kind string }
		}
		path := fmt.Sprintf("%s/%s/audit?page=%d", PushesPath, p.Token, page)
		if err := c.Call(http.MethodGet, path, c.Bearer, nil, http.StatusOK, &out); err != nil {
			return n, err
		}
		for _, e := range out.Logs {
			if e.Kind == "view" {
				n++
			}
		}
		if len(out.Logs) < PerPage {
			return n, nil
		}
	}
}
