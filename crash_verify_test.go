package main

import (
	"errors"
	"fmt"
	"net/http"
)

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
		if err := c.fetchAll(p); err != nil {
			return err
		}
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
