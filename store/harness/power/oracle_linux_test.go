package power

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// A judge compares a store that was opened after a power cut with what was known
// before.
type judge struct {
	*trackedStore
	cut    image
	latest time.Time // the clock at the cut, at most
	found  []string
}

// An image says what an image is judged by.
type image struct {
	root    seal.RootKey
	owner   store.Actor
	ledger  *ledger
	before  func(moment uint64) bool // the cut
	useUp   func(*knownPush) bool    // which pushes to retrieve as often as can be; nil: all
	setBack bool                     // the machine's clock, to the beginning
}

func (j *judge) note(format string, args ...any) {
	j.found = append(j.found, fmt.Sprintf(format, args...))
}

// judgeImage opens the store in a directory and returns a sentence for each promise
// that it breaks.
func judgeImage(ctx context.Context, dir string, cut image) (found []string) {
	ctx, cancel := context.WithTimeout(ctx, env.Patience)
	defer cancel()
	now, clock := cut.ledger.clock(cut.before), storetest.NewClock()
	latest := clock.Now().Add(now)
	if !cut.setBack {
		clock.Advance(now)
	}
	s, err := openTracked(ctx, dir, cut.root, clock)
	if err != nil {
		return []string{fmt.Sprintf("P9: it does not open: %v", err)}
	}
	s.owner, s.ledger = cut.owner, cut.ledger
	j := &judge{trackedStore: s, cut: cut, latest: latest}
	j.judge(ctx, dir)
	if err := s.Close(ctx); err != nil {
		j.note("it does not close: %v", err)
	}
	return j.found
}

func (j *judge) judge(ctx context.Context, dir string) {
	if _, err := j.Sweep(ctx); err != nil {
		j.note("P9: the first sweep: %v", err)
	}
	j.clean(ctx, dir)
	j.events(ctx)
	live := j.lists(ctx)
	j.ledger.mu.Lock()
	pushes := j.ledger.pushes
	j.ledger.mu.Unlock()
	for _, p := range pushes {
		j.push(ctx, p, live)
	}
	j.check(ctx)
}

// clean reports what a crash left behind.
func (j *judge) clean(ctx context.Context, dir string) {
	j.check(ctx)
	orphans, err := j.engine.Orphans(ctx, record.ID{}, 10)
	if err != nil || len(orphans) > 0 {
		j.note("P9: %d orphans after the first sweep (%v)", len(orphans), err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		j.note("P9: %d files after the start (%v)", len(names), err)
	}
}

func (j *judge) check(ctx context.Context) {
	problems, err := j.Check(ctx)
	if err != nil {
		j.note("P9: check: %v", err)
	}
	for _, p := range problems {
		j.note("P9: check: %s", p)
	}
}

// events compares the accounts and API tokens that there are with what the instance log
// says of them.
func (j *judge) events(ctx context.Context) {
	events, err := j.AdminEvents(ctx, time.Time{}, 0, record.MaxAdminEvents)
	if err != nil {
		j.note("events: %v", err)
	}
	accounts, tokens := make(map[record.AccountID]bool), make(map[uint64]bool)
	for _, e := range events {
		switch e.Kind {
		case record.AdminAccountCreate:
			accounts[e.Account] = true
		case record.AdminKeysCreate: // of an account that was added past the store
			accounts[e.Account] = e.Account != 0
		case record.AdminTokenCreate:
			tokens[e.Subject] = true
		case record.AdminTokenRevoke:
			delete(tokens, e.Subject)
		}
	}
	delete(accounts, 0)
	list, err := j.Accounts(ctx)
	if err != nil || len(list) != len(accounts) {
		j.note("P4: there are %d accounts, the instance log has %d (%v)", len(list), len(accounts), err)
	}
	there := 0
	for _, a := range list {
		made, err := j.Tokens(ctx, a.Email)
		if err != nil || !accounts[a.ID] {
			j.note("P4: account %d is not in the instance log (%v)", a.ID, err)
		}
		for _, t := range made {
			if there++; !tokens[uint64(t.ID)] {
				j.note("P4: API token %d is not in the instance log", t.ID)
			}
		}
	}
	if there != len(tokens) {
		j.note("P4: there are %d API tokens, the instance log has %d", there, len(tokens))
	}
}

// lists returns the owner's live pushes, by token.
func (j *judge) lists(ctx context.Context) map[string]bool {
	live := make(map[string]bool)
	if j.owner.Account == 0 {
		return live
	}
	for page := 1; ; page++ {
		ps, err := j.Pushes(ctx, j.owner, true, page)
		if err != nil {
			j.note("list: %v", err)
		}
		for _, p := range ps {
			live[p.Token.Reveal()] = true
		}
		if len(ps) < store.PageSize {
			return live
		}
	}
}

// push judges one push, and retrieves it until its limit where it is live.
func (j *judge) push(ctx context.Context, p *knownPush, live map[string]bool) {
	v := j.ledger.asOf(p, j.cut.before)
	is, err := j.Preview(ctx, p.token)
	switch {
	case errors.Is(err, record.ErrNotFound):
		if v.kept {
			j.note("P1: a push is gone: %+v", v)
		}
		return
	case err != nil:
		j.note("preview: %v", err)
		return
	case !v.sent:
		j.note("there is a push that no client sent")
		return
	}
	due := !j.latest.Before(p.ends)
	meant := v.deletes > 0 || is.Views >= p.limit || due
	if is.Views < v.delivered {
		j.note("P3: %d views are counted, %d were delivered", is.Views, v.delivered)
	}
	if is.Views > v.delivered+v.open {
		j.note("P3: %d views are counted, %d were delivered and %d cut off", is.Views, v.delivered, v.open)
	}
	if !is.Live() && !meant {
		j.note("P1: a push has ended without a reason: %+v", v)
	}
	if is.State == record.Deleted && v.deletes == 0 {
		j.note("P1: a push is deleted although no client asked for that")
	}
	if is.Live() && v.ended {
		j.note("P5: a push had ended and is live: %+v", v)
	}
	if p.owned && is.Live() != live[p.token.Reveal()] {
		j.note("P1: a push is live or not, and its owner's list says otherwise")
	}
	j.audit(ctx, p, is.Views)
	j.grants(ctx, p, v, is)
	if j.cut.useUp == nil || j.cut.useUp(p) {
		j.use(ctx, p, v, is, due)
	}
}

// audit counts the entries of kind view.
func (j *judge) audit(ctx context.Context, p *knownPush, views int) {
	if !p.owned {
		return // a check has counted them
	}
	entries := 0
	log, err := j.Audit(ctx, j.owner, p.token, 1)
	for _, e := range log {
		if e.Kind == record.EntryView {
			entries++
		}
	}
	if err != nil || len(log) < store.PageSize && entries != views {
		j.note("P4: %d views are counted, %d are in the audit log (%v)", views, entries, err)
	}
}

// grants downloads under the grants that were issued.
func (j *judge) grants(ctx context.Context, p *knownPush, v pushState, is store.PushInfo) {
	for _, g := range v.grants {
		err := j.fetch(ctx, p, g.grant)
		switch {
		case errors.Is(err, record.ErrNotFound):
			if v.deletes == 0 && j.latest.Before(g.grantEnd) && j.latest.Before(p.ends) {
				j.note("P1: a grant is gone: %+v, its push is %d", v, is.State)
			}
		case err != nil:
			j.note("P7: download: %v", err)
		case v.deleted:
			j.note("P5: a download after a delete")
		}
	}
}

// use retrieves a push until it delivers nothing more.
func (j *judge) use(ctx context.Context, p *knownPush, v pushState, is store.PushInfo, due bool) {
	more := 0
	for range p.limit + 2 {
		info, err := j.Retrieve(ctx, storetest.Anonymous, p.token, secret.Text{}, nil)
		if err != nil {
			j.note("P1: retrieve: %v", err)
			return
		}
		if !info.Live() {
			break
		}
		more++
		if info.Payload.Reveal() != p.payload || len(info.Files) != len(p.files) {
			j.note("P7: another payload came than was sent")
		}
		if p.files != nil {
			if err := j.fetch(ctx, p, info.Grant); err != nil {
				j.note("P7: download: %v", err)
			}
		}
	}
	if v.delivered+more > p.limit {
		j.note("P2: %d deliveries before and %d after the cut, the limit is %d", v.delivered, more, p.limit)
	}
	if v.ended && more > 0 {
		j.note("P5: a push had ended and %d more deliveries came", more)
	}
	if is.Live() && !due && is.Views+more != p.limit {
		j.note("P1: after %d views only %d more came, the limit is %d", is.Views, more, p.limit)
	}
}
