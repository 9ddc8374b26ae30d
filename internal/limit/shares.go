package limit

import "strconv"

// part is the share of one client: an eighth of what there is.
const part = 8

// A Holder is who holds a part of something shared. The part counts for its client and the
// networks around it, for its account, for the link of the request for a secret that it
// answers, and for the account that asks there. Networks, accounts and links may hold a multiple of
// what one client may (see Steps; an account four times as much, a link twice), but at most half of all. All who answer
// requests together may hold three quarters: they need no account, and the rest is for accounts.
type Holder struct {
	Client  string // as in Steps; empty: only the other two count
	Account uint64 // 0: none
	Link    string // the ID of a request for a secret; empty: none
	Asker   uint64 // the account that asks for what they send; 0: none
}

// How many times as much as one client they may hold.
const (
	accountTimes = 4
	linkTimes    = 2
)

// answers is the key of all who answer requests.
const answers = "answers"

func (h Holder) steps() (all []Step) {
	if h.Client != "" {
		all = Steps(h.Client)
	}
	if h.Account != 0 {
		all = append(all, Step{"account " + strconv.FormatUint(h.Account, 10), accountTimes})
	}
	if h.Link != "" {
		all = append(all, Step{"link " + h.Link, linkTimes}, Step{answers, part})
	}
	if h.Asker != 0 {
		all = append(all, Step{"asker " + strconv.FormatUint(h.Asker, 10), accountTimes})
	}
	return all
}

// shares count who holds how much of something shared, so that no one holds too much of it.
// They are not safe for concurrent use.
type shares struct {
	total, client int64 // that may be held: in all, and by one client
	held          int64
	of            map[string]int64 // by key of a Step
}

func newShares(total, client int64) shares {
	return shares{total: total, client: client, of: make(map[string]int64)}
}

// most is how much a step may hold.
func (s *shares) most(of Step) int64 {
	switch {
	case of.Times == 1:
		return s.client
	case of.Key == answers:
		return max(s.client, s.total-s.total/4)
	}
	return max(s.client, min(s.client*int64(of.Times), s.total/2))
}

// fit reports whether a holder that holds own may hold n more. What fits into the total is
// not too much for a holder of nothing else.
func (s *shares) fit(holder []Step, own, n int64) bool {
	if s.held+n > s.total {
		return false
	}
	for _, one := range holder {
		if held := s.of[one.Key]; held > own && held+n > s.most(one) {
			return false
		}
	}
	return true
}

// add has a holder hold n more, or less.
func (s *shares) add(holder []Step, n int64) {
	s.held += n
	for _, one := range holder {
		if s.of[one.Key] += n; s.of[one.Key] == 0 {
			delete(s.of, one.Key)
		}
	}
}
