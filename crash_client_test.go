package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
)

const (
	apiPushes = "/api/v2/pushes"
	perPage   = 50
)

// errCut is a request that got no whole answer.
var errCut = errors.New("no answer")

func isCut(err error) bool { return errors.Is(err, errCut) }

// A caller sends requests to a server.
type caller struct {
	url  string
	http *http.Client
}

// reach goes on with another server.
func (c *caller) reach(url string) {
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
	c.url = url
	c.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crashClients}, Timeout: patience}
}

// call sends a request and reads the answer into out. The error is errCut if
// there is no whole one, and another if it does not have the status.
func (c *caller) call(method, path, bearer string, in any, status int, out any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var body io.Reader = http.NoBody
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	answer, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	if res.StatusCode != status {
		return fmt.Errorf("status %d: %s", res.StatusCode, answer)
	}
	return json.Unmarshal(answer, out)
}

// act makes one request.
func (c *crowd) act(rng *rand.Rand) error {
	p := c.ledger.pick(rng)
	n := rng.IntN(100)
	if p == nil || n < 30 {
		return c.create(n, rng)
	}
	var err error
	switch {
	case n < 72:
		_, err = c.view(p, p.owned && n < 36)
	case n < 80:
		err = c.remove(p)
	case n < 86:
		err = c.preview(p)
	case n < 92:
		err = c.look(rng.IntN(2) == 0)
	default:
		err = c.audit(p)
	}
	if err != nil && !isCut(err) {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return err
}

// newPush is the body of a create request.
type newPush struct {
	Payload   string `json:"payload"`
	Name      string `json:"name"`
	Views     int    `json:"expire_after_views"`
	Duration  *int   `json:"expire_after_duration,omitempty"`
	Deletable bool   `json:"deletable_by_viewer"`
}

func (c *crowd) create(n int, rng *rand.Rand) error {
	p := &crashPush{limit: 1 + rng.IntN(8), owned: rng.IntN(2) == 0, deletable: rng.IntN(2) == 0, payload: text(rng)}
	c.ledger.sendCreate(p)
	in := newPush{Payload: p.payload, Name: p.name, Views: p.limit, Deletable: p.deletable}
	if n%3 == 0 {
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
		length = rng.IntN(100_000)
	case 1, 2, 3:
		length = rng.IntN(8_000)
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

func (c *crowd) view(p *crashPush, asOwner bool) (r crashRecord, err error) {
	bearer := ""
	if asOwner {
		bearer = c.bearer
	}
	before := c.ledger.sendView(p, !asOwner)
	if err := c.call(http.MethodGet, apiPushes+"/"+p.token, bearer, nil, http.StatusOK, &r); err != nil {
		return r, err
	}
	return r, c.ledger.gotView(p, before, !asOwner, r)
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

// look reads the first page of a list of the owner's.
func (c *crowd) look(live bool) error {
	state := "expired"
	if live {
		state = "active"
	}
	before := c.ledger.over()
	l, err := c.list(state, 1)
	for _, r := range l {
		if r.Expired == live || live && before[r.Token] {
			err = errors.Join(err, fmt.Errorf("P5: among the %s is %s, which is not", state, r.Name))
		}
	}
	return err
}

func (c *crowd) list(state string, page int) (l []crashRecord, err error) {
	err = c.call(http.MethodGet, fmt.Sprintf("%s/%s?page=%d", apiPushes, state, page), c.bearer, nil, http.StatusOK, &l)
	return l, err
}

// verify looks at pushes while nobody else does, so that what the server
// counts must be what was delivered and what was cut off, and no more.
func (c *crowd) verify(pushes []*crashPush) {
	c.t.Helper()
	c.each(pushes, func(p *crashPush) error {
		r, err := c.view(p, p.owned)
		if err != nil {
			return err
		}
		counted := c.ledger.settle(p, r)
		if !p.owned {
			return nil
		}
		n, err := c.viewEntries(p)
		if err == nil && n != counted {
			err = fmt.Errorf("P4: it counts %d views and has %d entries", counted, n)
		}
		return err
	})
}

// verifyLists compares the owner's lists with what was created. A create that
// was not answered may be there, once and whole; from now on it must be.
func (c *crowd) verifyLists() {
	c.t.Helper()
	listed := make(map[string]crashRecord)
	for _, state := range []string{"active", "expired"} {
		for page := 1; ; page++ {
			l, err := c.list(state, page)
			if err != nil {
				c.t.Fatal(err)
			}
			for _, r := range l {
				if _, twice := listed[r.Name]; twice || r.Expired != (state == "expired") {
					c.t.Errorf("P9: %s is listed twice, or as %s by mistake", r.Name, state)
				}
				listed[r.Name] = r
			}
			if len(l) < perPage {
				break
			}
		}
	}
	for _, p := range c.ledger.all() {
		if p.owned && listed[p.name].Token != p.token {
			c.t.Errorf("P1: %s is not listed", p.name)
		}
		delete(listed, p.name)
	}
	for name, r := range listed {
		if p := c.ledger.lost[name]; p != nil && p.owned {
			c.ledger.keep(p, r)
			continue
		}
		c.t.Errorf("%s is listed and was never sent", name)
	}
}
