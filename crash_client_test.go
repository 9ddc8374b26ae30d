package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

const (
	apiPushes = "/api/v2/pushes"
	perPage   = 50
)

// act makes one request.
func (c *crowd) act(rng *rand.Rand) error {
	p := c.ledger.pick(rng)
	n := rng.IntN(100)
	if p == nil || n < 30 {
		return c.create(rng)
	}
	if locked := c.ledger.pickLocked(rng); n == 30 && locked != nil {
		p = locked
	}
	var err error
	switch {
	case n == 30 && p.passphrase != "":
		err = c.guess(p, true)
	case n < 62:
		err = c.open(p, rng)
	case n < 70:
		err = c.remove(p)
	case n < 76:
		err = c.glance(p, rng)
	case n < 82:
		err = c.look(rng.IntN(2) == 0)
	case n < 88:
		err = c.audit(p)
	default:
		if p, err = c.fetch(p, rng); err == nil {
			return nil
		}
	}
	if err != nil && !isCut(err) {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return err
}

// newPush is the body of a create request.
type newPush struct {
	Payload    string `json:"payload"`
	Passphrase string `json:"passphrase,omitempty"`
	Name       string `json:"name"`
	Views      int    `json:"expire_after_views"`
	Duration   *int   `json:"expire_after_duration,omitempty"`
	Deletable  bool   `json:"deletable_by_viewer"`
}

// create sends a text or, now and then, files, or a text with a passphrase.
func (c *crowd) create(rng *rand.Rand) error {
	p := &crashPush{limit: 1 + rng.IntN(8), owned: rng.IntN(2) == 0, deletable: rng.IntN(2) == 0, payload: text(rng)}
	switch n := rng.IntN(800); {
	case n < 100:
		return c.upload(p, rng)
	case n < 108:
		p.passphrase = fmt.Sprintf("%x", rng.Uint64())
	}
	c.ledger.sendCreate(p)
	in := newPush{Payload: p.payload, Passphrase: p.passphrase, Name: p.name, Views: p.limit, Deletable: p.deletable}
	if rng.IntN(3) == 0 {
		in.Duration = new(int) // a quarter of an hour
	}
	var out crashRecord
	err := c.call(http.MethodPost, apiPushes, c.bearerOf(p), map[string]newPush{"push": in}, http.StatusCreated, &out)
	if err != nil {
		return err
	}
	c.ledger.keep(p, out)
	return nil
}

// text is a payload: mostly short, sometimes of many pages of the database.
func text(rng *rand.Rand) string {
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

// bearerOf is the token for what only the owner of a push may do.
func (c *crowd) bearerOf(p *crashPush) string {
	if p.owned {
		return c.bearer
	}
	return ""
}

// open retrieves a push: as its owner, as somebody with the link, or without the
// passphrase that it takes.
func (c *crowd) open(p *crashPush, rng *rand.Rand) error {
	if p.passphrase != "" && rng.IntN(3) > 0 {
		return c.guess(p, rng.IntN(3) == 0)
	}
	_, err := c.view(p, p.owned && rng.IntN(6) == 0)
	return err
}

func (c *crowd) view(p *crashPush, asOwner bool) (r crashRecord, err error) {
	req, err := http.NewRequest(http.MethodGet, c.url+apiPushes+"/"+p.token, nil)
	if err != nil {
		return r, err
	}
	if asOwner {
		req.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	if p.passphrase != "" {
		req.Header.Set("X-Push-Passphrase", p.passphrase)
	}
	before := c.ledger.sendView(p, !asOwner)
	status, answer, err := c.send(req)
	if err != nil {
		return r, err
	}
	if status != http.StatusOK {
		return r, fmt.Errorf("P1: status %d: %s", status, answer)
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return r, err
	}
	return r, c.ledger.gotView(p, before, !asOwner, r)
}

// guess retrieves a push with a wrong passphrase, or with none. Since the ledger
// takes that for no retrieval, a view that it counts is one too many.
func (c *crowd) guess(p *crashPush, wrong bool) error {
	req, err := http.NewRequest(http.MethodGet, c.url+apiPushes+"/"+p.token, nil)
	if err != nil {
		return err
	}
	if wrong {
		req.Header.Set("X-Push-Passphrase", p.passphrase+"x")
	}
	before := c.ledger.send(p)
	status, answer, err := c.send(req)
	if err != nil {
		return err
	}
	var r crashRecord
	switch {
	case status == http.StatusUnauthorized:
		c.ledger.refuse()
		return nil
	case status != http.StatusOK || json.Unmarshal(answer, &r) != nil:
		return fmt.Errorf("P6: a wrong passphrase: status %d: %s", status, answer)
	}
	return c.ledger.gotRefusal(p, before, r)
}

func (c *crowd) remove(p *crashPush) error {
	if !p.owned && !p.deletable {
		return c.preview(p)
	}
	var r crashRecord
	before := c.ledger.sendDelete(p)
	if err := c.call(http.MethodDelete, apiPushes+"/"+p.token, c.bearerOf(p), nil, http.StatusOK, &r); err != nil {
		return err
	}
	return c.ledger.gotDelete(p, before, r)
}

// glance asks what counts no view.
func (c *crowd) glance(p *crashPush, rng *rand.Rand) error {
	method, path := http.MethodHead, apiPushes+"/"+p.token
	switch rng.IntN(4) {
	case 0:
		method, path = http.MethodGet, "/p/"+p.token+"/r"
	case 1:
		path = "/p/" + p.token
	case 2:
		return c.preview(p)
	}
	req, err := http.NewRequest(method, c.url+path, nil)
	if err != nil {
		return err
	}
	c.ledger.send(p)
	status, answer, err := c.send(req)
	if err == nil && status >= http.StatusInternalServerError {
		err = fmt.Errorf("%s: status %d: %s", method, status, answer)
	}
	return err
}

func (c *crowd) preview(p *crashPush) error {
	var out struct{ URL string }
	err := c.call(http.MethodGet, apiPushes+"/"+p.token+"/preview", "", nil, http.StatusOK, &out)
	if err == nil && !strings.Contains(out.URL, p.token) {
		err = fmt.Errorf("the preview is %q", out.URL)
	}
	return err
}

func (c *crowd) audit(p *crashPush) error {
	if !p.owned {
		return c.preview(p)
	}
	before := c.ledger.send(p)
	n, err := c.viewEntries(p)
	if err != nil {
		return err
	}
	return c.ledger.gotViewEntries(p, before, n)
}

// viewEntries counts the entries of kind view in the audit log.
func (c *crowd) viewEntries(p *crashPush) (n int, err error) {
	for page := 1; ; page++ {
		var out struct {
			Logs []struct{ Kind string }
		}
		path := fmt.Sprintf("%s/%s/audit?page=%d", apiPushes, p.token, page)
		if err := c.call(http.MethodGet, path, c.bearer, nil, http.StatusOK, &out); err != nil {
			return n, err
		}
		for _, e := range out.Logs {
			if e.Kind == "view" {
				n++
			}
		}
		if len(out.Logs) < perPage {
			return n, nil
		}
	}
}
