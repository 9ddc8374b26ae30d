package server

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/store"
)

// Fields of the query of the list of own pushes.
const (
	stateField  = "state"
	searchField = "q"

	expiredState = "expired"
	ownPath      = "/p"
)

// maxSearch is the length in bytes of the longest text to search for.
const maxSearch = 255

const errSearch = badRequest("The text to search for is too long.")

// ownView lists the account's own pushes.
type ownView struct {
	Live   bool   // the list of live pushes, not of expired ones
	Query  string // the text that is searched for
	Rows   []ownRow
	Cut    int // how many were searched, if there are more; 0: all
	Pages  pager
	Active string // the paths of both lists, with the same search
	Ended  string
}

// An ownRow is a push in that list.
type ownRow struct {
	Number       int // on this page, from 1
	Name         string
	Kind         string // of a message, list_kind_...
	State        string // of a message, list_state_...
	Live         bool
	Created      display.Time
	Ended        display.Time
	Left         timeLeft
	Views, Limit int
	Protected    bool
	Link         string
	Audit        string
	Expire       string
	Thaw         string
	Frozen       bool
}

// ownPushes lists the pushes of the account.
func (s *Server) ownPushes(r *request) (reply, error) {
	page, err := readPage(r)
	if err != nil {
		return reply{}, err
	}
	pairs, err := body.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return reply{}, err
	}
	state, _, err1 := pairs.Only(stateField)
	search, _, err2 := pairs.Only(searchField)
	if err1 != nil || err2 != nil {
		return reply{}, body.ErrTwice
	}
	words := strings.TrimSpace(search.Reveal())
	if len(words) > maxSearch {
		return reply{}, errSearch
	}
	live := state.Reveal() != expiredState
	found, err := s.store.SearchPushes(r.Context(), r.actor, live, words, page)
	if err != nil {
		return reply{}, err
	}
	return show(http.StatusOK, "own", newOwnView(found, live, words, page, r.base)), nil
}

func newOwnView(found store.Found, live bool, words string, page int, base string) ownView {
	at := func(page int) string { return listPath(live, words, page) }
	p := ownView{
		Live: live, Query: words, Rows: make([]ownRow, len(found.Pushes)),
		Pages: newPager(page, found.More, at), Active: listPath(true, words, 1), Ended: listPath(false, words, 1),
	}
	if found.Cut {
		p.Cut = store.MaxSearched
	}
	for i, push := range found.Pushes {
		p.Rows[i] = newOwnRow(push, base)
		p.Rows[i].Number = i + 1
	}
	return p
}

func newOwnRow(p store.PushInfo, base string) ownRow {
	path := ownerPath(p)
	row := ownRow{
		Name: p.Name.Reveal(), Kind: p.Kind.String(), State: stateName(p.Push), Live: p.Live(),
		Created: display.NewTime(p.CreatedAt), Left: newTimeLeft(p.ExpiresAt.Sub(p.At)),
		Views: p.Views, Limit: p.ViewLimit, Protected: p.Protected,
		Link: htmlURL(p, base), Audit: path + "/audit", Expire: path + "/expire", Thaw: path + "/thaw", Frozen: p.Frozen,
	}
	if !p.Live() {
		row.Ended = display.NewTime(p.ExpiredAt)
	}
	return row
}

// listPath returns the path of a page of a list.
func listPath(live bool, words string, page int) string {
	q := url.Values{}
	if !live {
		q.Set(stateField, expiredState)
	}
	if words != "" {
		q.Set(searchField, words)
	}
	return pagePath(ownPath, q, page)
}

func pagePath(path string, q url.Values, page int) string {
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// stateName names the state of a push, for its message: live, or why it has ended.
func stateName(p store.Push) string {
	switch {
	case p.Frozen:
		return "frozen"
	case p.Live():
		return "live"
	case p.State == store.Deleted:
		return "deleted"
	case p.Views >= p.ViewLimit:
		return "viewed"
	default:
		return "over"
	}
}

// A timeLeft is a number of days, hours or minutes, rounded up. There are at least two of
// a unit, so that it is not far off; or else it is in minutes.
type timeLeft struct {
	Unit  string // of a message, list_left_...
	Count int
}

func newTimeLeft(d time.Duration) timeLeft {
	in := func(name string, unit time.Duration) timeLeft { return timeLeft{name, int((d + unit - 1) / unit)} }
	switch {
	case d > 2*day:
		return in("days", day)
	case d > 2*time.Hour:
		return in("hours", time.Hour)
	default:
		return in("minutes", time.Minute)
	}
}

// A pager links a page of a list to the previous and the next one.
type pager struct {
	Page           int
	Previous, Next string // their paths; empty: there is none
}

func newPager(page int, more bool, at func(page int) string) pager {
	p := pager{Page: page}
	if page > 1 {
		p.Previous = at(page - 1)
	}
	if more && page < maxPage {
		p.Next = at(page + 1)
	}
	return p
}
