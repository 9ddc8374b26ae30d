package linear_test

import (
	"net/http"
	"strings"

	"pushbox/store"
)

// step says whether a push may answer so, and what it is then. An answer that
// no row of the contract has, a 429 or a 5xx among them, it may not.
func (p linearState) step(in linearCall, out linearAnswer) (bool, linearState) {
	if in.cut {
		if p.life > in.life {
			return !in.forced, p
		}
		return true, p.cutOff(in)
	}
	p.life = in.life
	switch {
	case in.op == opExpire:
		p.sweep = in.sweep
		return true, p.due(in.lo)
	case in.op == opPurge:
		return p.purge(in)
	case in.op == opCreate:
		return p.create(in, out)
	case p.stage == absent:
		return false, p
	case in.op == opAudit && !in.token:
		return out.status == http.StatusUnauthorized, p // whatever there is
	case p.stage == purged:
		return out.status == http.StatusNotFound, p
	case in.op == opView:
		return p.view(in, out)
	case in.op == opDelete:
		return p.remove(in, out)
	case in.op == opPreview:
		return out.status == http.StatusOK && strings.HasSuffix(out.link, "/p/"+p.token+"/r"), p
	default:
		return p.audit(in, out)
	}
}

func (in linearCall) spans(instant int64) bool { return in.lo <= instant && instant <= in.hi }

// due ends a live push whose time is over.
func (p linearState) due(instant int64) linearState {
	if p.stage == live && instant >= p.endsAt {
		return p.end(expired, p.endsAt)
	}
	return p
}

func (p linearState) end(s linearStage, at int64) linearState {
	p.stage, p.endedAt = s, at
	return p
}

func (p linearState) note(kind string) linearState {
	if p.plan.owned {
		p.log += letters[kind]
	}
	return p
}

// purge is the second part of a sweep, and never comes before the first.
func (p linearState) purge(in linearCall) (bool, linearState) {
	const stay = 24 * 60 * 60 * 1000
	if (p.stage == expired || p.stage == deleted) && !p.plan.owned && in.lo >= p.endedAt+stay {
		p.stage = purged
	}
	return p.sweep == in.sweep, p
}

func (p linearState) create(in linearCall, out linearAnswer) (bool, linearState) {
	legal := p.stage == absent && out.status == http.StatusCreated && in.spans(out.created)
	p = linearState{stage: live, plan: in.plan, token: out.token, endsAt: out.created + in.plan.lifetime, sweep: p.sweep, life: p.life}
	return legal && out.expiresAt == p.endsAt && out.shows(p), p.note("creation")
}

func (p linearState) view(in linearCall, out linearAnswer) (bool, linearState) {
	shut := p.plan.protected && in.guess != rightGuess
	switch out.status {
	case http.StatusUnauthorized:
		legal := shut && p.stage == live && in.lo < p.endsAt
		if in.guess == wrongGuess {
			p = p.note("failed_passphrase")
		}
		return legal, p
	case http.StatusOK:
		p = p.due(out.updated)
		if p.stage != live {
			return in.spans(out.updated) && out.payload == "" && out.shows(p), p.note("failed_view")
		}
		legal := !shut && in.spans(out.updated) && out.payload == p.plan.payload
		p = p.count(in)
		legal = legal && out.shows(p)
		return legal, p.close(out.updated)
	default:
		return false, p
	}
}

func (p linearState) count(in linearCall) linearState {
	if in.token && p.plan.owned {
		return p.note("owner_view")
	}
	p.views++
	return p.note("view")
}

func (p linearState) remove(in linearCall, out linearAnswer) (bool, linearState) {
	if !p.deletableBy(in) {
		return out.status == in.refusal(), p
	}
	if out.status != http.StatusOK {
		return false, p
	}
	if p.stage != live {
		return out.shows(p), p
	}
	if p = p.due(out.updated); p.stage == live {
		p = p.end(deleted, out.updated).note("expire")
	}
	return in.spans(out.updated) && out.shows(p), p
}

// close ends a push that was delivered as often as it may be.
func (p linearState) close(instant int64) linearState {
	if p.views >= p.plan.limit {
		return p.end(expired, instant)
	}
	return p
}

func (p linearState) deletableBy(in linearCall) bool {
	return p.plan.deletable || in.token && p.plan.owned
}

// cutOff is what a call may have done if its client got no answer.
func (p linearState) cutOff(in linearCall) linearState {
	if p.stage == absent || p.stage == purged {
		return p
	}
	switch in.op {
	case opExpire:
		return p.due(in.lo)
	case opPurge:
		_, p = p.purge(in)
		return p
	case opDelete:
		if !p.deletableBy(in) {
			return p
		}
		if p = p.due(in.lo); p.stage == live {
			p = p.end(deleted, in.lo).note("expire")
		}
		return p
	case opView:
		return p.viewCutOff(in)
	default:
		return p
	}
}

func (p linearState) viewCutOff(in linearCall) linearState {
	p = p.due(in.lo)
	switch {
	case p.stage != live:
		return p.note("failed_view")
	case p.plan.protected && in.guess == noGuess:
		return p
	case p.plan.protected && in.guess == wrongGuess:
		return p.note("failed_passphrase")
	default:
		return p.count(in).close(in.lo)
	}
}

// refusal is the answer to a client that does not own the push.
func (in linearCall) refusal() int {
	if in.token {
		return http.StatusForbidden
	}
	return http.StatusUnauthorized
}

func (p linearState) audit(in linearCall, out linearAnswer) (bool, linearState) {
	if !p.plan.owned {
		return out.status == http.StatusForbidden, p
	}
	return out.status == http.StatusOK && out.log == p.log[:min(len(p.log), store.PageSize)], p
}

// shows reports whether an answer's record is that of a push.
func (out linearAnswer) shows(p linearState) bool {
	return out.expired == (p.stage != live) && out.deleted == (p.stage == deleted) &&
		out.expiredOn == p.endedAt && out.remaining == p.plan.limit-p.views
}
