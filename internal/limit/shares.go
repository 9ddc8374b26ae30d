package limit

import (
	"net/netip"
	"strconv"
	"sync"
)

// part is the share of one client: an eighth of what there is.
const part = 8

// A Holder identifies the holder of a part of something shared. The part counts for its client and
// the networks around it, for its account, for the link of the request for a secret that it
// answers, and for the account that asks there. Networks, accounts and links may hold a multiple of
// what one client may (see Steps; an account four times as much, a link twice), but at most half of
// all. All who answer requests together may hold three quarters: they need no account, and the rest
// is for accounts.
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

// A client is named by its IPv4 address, or by the /64 of its IPv6 address (see
// clientip.Client.Key). Many have more than that: a home line has a /56 or a /48, and a
// rented server may have a /24 of IPv4. So what a client does counts for each network
// around its address, too, and such a network may do a multiple of what one client may.
//
// A Step is one of these networks, or the client itself.
type Step struct {
	Key   string
	Times int // how many times as much as one client it may do
}

// network4 and networks6 are the steps beyond the client itself.
var (
	network4  = struct{ bits, times int }{24, 8}
	networks6 = [...]struct{ bits, times int }{{56, 4}, {48, 16}}
)

// Steps returns the client and the networks around it, the widest last. A name that is no
// address has no networks.
func Steps(client string) []Step {
	all := append(make([]Step, 0, 1+len(networks6)), Step{client, 1})
	if addr, err := netip.ParseAddr(client); err == nil && addr.Is4() {
		return append(all, Step{around(addr, network4.bits), network4.times})
	}
	if p, err := netip.ParsePrefix(client); err == nil && p.Addr().Is6() {
		for _, n := range networks6 {
			all = append(all, Step{around(p.Addr(), n.bits), n.times})
		}
	}
	return all
}

func around(a netip.Addr, bits int) string { return netip.PrefixFrom(a, bits).Masked().String() }

// network returns the widest network of a client: a /24 of IPv4, or a /48 of IPv6.
func network(client string) string {
	all := Steps(client)
	return all[len(all)-1].Key
}

// Slots limit how many operations run at the same time, in total and per Holder. They are
// safe for concurrent use.
type Slots struct {
	mu     sync.Mutex
	shares shares
}

// NewSlots returns total slots. One client may take an eighth of them, but at least one.
func NewSlots(total int) *Slots {
	return &Slots{shares: newShares(int64(total), int64(total/part))}
}

// Resize changes how many slots there are, and how many a client may take. Slots that are
// taken stay taken.
func (s *Slots) Resize(total, perClient int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares.total, s.shares.client = int64(total), int64(perClient)
}

// Take takes a slot and reports whether one was free. It must be freed by the same Holder.
func (s *Slots) Take(by Holder) bool {
	all := by.steps()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shares.fit(all, 0, 1) {
		return false
	}
	s.shares.add(all, 1)
	return true
}

// Free gives back a slot that was taken.
func (s *Slots) Free(by Holder) {
	all := by.steps()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares.add(all, -1)
}

// Taken returns how many slots are taken.
func (s *Slots) Taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.shares.held)
}
