package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/server/intake"
	"pushbox/server/manage"
	"pushbox/store"
	"pushbox/store/record"
)

// Fields of the query of the list of own pushes.
const (
	stateField = "state"
	kindField  = "kind"
	newsField  = "news"
	orderField = "order"

	expiredState = "expired"
	endOrder     = "end"
	ownPath      = "/p"
)

const errFilter = action.BadRequest("The list has no such kind, news or order.")

// newsNames are the values of newsField, in the order of the choice.
var newsNames = [...]struct {
	name string // also of messages, list_news_...
	news store.News
}{
	{"unopened", store.NotOpened},
	{"opened", store.Opened},
	{"guessed", store.Guessed},
	{"soon", store.EndsSoon},
	{"last", store.LastView},
}

// A listing has the fields of the list's query.
type listing struct {
	store.Search
	page int
}

// readListing reads the query of a list.
func readListing(query string) (l listing, err error) {
	pairs, err := body.ParseQuery(query)
	if err != nil {
		return l, err
	}
	fields := make(map[string]string)
	for _, name := range [...]string{stateField, manage.SearchField, kindField, newsField, orderField} {
		text, _, err := pairs.Only(name)
		if err != nil {
			return l, err
		}
		fields[name] = text.Reveal()
	}
	if l.page, err = action.PageIn(pairs); err != nil {
		return l, err
	}
	l.Live, l.Words = fields[stateField] != expiredState, strings.TrimSpace(fields[manage.SearchField])
	if len(l.Words) > manage.MaxSearch {
		return l, manage.ErrSearch
	}
	var known bool
	if l.Kind, known = record.ParseKind(fields[kindField]); !known && fields[kindField] != "" {
		return l, errFilter
	}
	for _, n := range newsNames {
		if n.name == fields[newsField] {
			l.News = n.news
		}
	}
	if l.News == 0 && fields[newsField] != "" {
		return l, errFilter
	}
	l.ByEnd = fields[orderField] == endOrder
	return l, nil
}

// path returns the path of a page of the list.
func (l listing) path(page int) string {
	q := url.Values{}
	if !l.Live {
		q.Set(stateField, expiredState)
	}
	if l.Words != "" {
		q.Set(manage.SearchField, l.Words)
	}
	if l.Kind != 0 {
		q.Set(kindField, l.Kind.String())
	}
	if name := l.newsName(); name != "" {
		q.Set(newsField, name)
	}
	if l.ByEnd {
		q.Set(orderField, endOrder)
	}
	return pagePath(ownPath, q, page)
}

func (l listing) newsName() string {
	for _, n := range newsNames {
		if n.news == l.News {
			return n.name
		}
	}
	return ""
}

// at returns the listing of live pushes or of others, with the same search.
func (l listing) at(live bool) listing {
	l.Live, l.page = live, 1
	return l
}

// ownView lists the account's own pushes.
type ownView struct {
	listing
	Rows       []ownRow
	Cut        int   // how many pushes were searched, if there are more; 0: all
	Hits       count // of the search, or of the filter
	Pages      pager
	Active     string // the paths of both lists, with the same search
	Ended      string
	Unsearched string // the path of the list without the words
	Unfiltered string // the path of the list without kind and news
	LiveCount  count
	EndedCount count
	Back       string // the query of this page
}

// A count is a number of pushes, or a bound that it exceeds.
type count struct {
	Number int
	More   bool
}

// String formats the count for the page.
func (c count) String() string {
	if c.More {
		return strconv.Itoa(c.Number) + "+"
	}
	return strconv.Itoa(c.Number)
}

// newTotal returns the count for a number of the store, which counts up to a bound.
func newTotal(n int) count { return count{min(n, store.MaxCounted), n > store.MaxCounted} }

// Kinds are the names of the kinds to choose from.
func (ownView) Kinds() (names []string) {
	for _, k := range record.Kinds() {
		names = append(names, k.String())
	}
	return names
}

// AllNews are the names of the news to choose from: a push that has ended has no time or
// views left.
func (v ownView) AllNews() (names []string) {
	for _, n := range newsNames {
		if v.Live || n.news != store.EndsSoon && n.news != store.LastView {
			names = append(names, n.name)
		}
	}
	return names
}

// ChosenNews is the name of the news that all pushes in the list have; empty: any.
func (v ownView) ChosenNews() string { return v.newsName() }

// Searched reports whether the list has only results of a search.
func (v ownView) Searched() bool { return v.Words != "" || v.Filtered() }

// Filtered reports whether the list has only pushes of a kind, or with some news.
func (v ownView) Filtered() bool { return v.Kind != 0 || v.News != 0 }

// An ownRow is a push in that list.
type ownRow struct {
	Name         string
	Kind, Icon   string // of a message, list_kind_..., and of its drawing
	State        string // of a message, list_state_...
	Live         bool
	News         []news
	Created      display.Time
	Ended        display.Time
	Left         timeLeft
	Views, Limit int
	Protected    bool
	Token        string // its name in forms, for its owner
	Encrypted    bool   // by the sender: the link here does not have the key
	Link         string
	Request      string        // the path of the request that it answers; empty: it answers none
	Read         *display.Time // when the owner first opened the answer; nil: not yet
	Opens        string        // where a form opens it
	Audit        string
	Thaw         string
	Frozen       bool
}

// A news is a badge of a push.
type news struct {
	Name  string // of a message, list_news_...
	Count int
	Warn  bool
}

// ownPushes lists the pushes of the account.
func (s *Set) ownPushes(r *action.Request) (action.Reply, error) {
	l, err := readListing(r.URL.RawQuery)
	if err != nil {
		return action.Reply{}, err
	}
	found, err := s.Store.SearchPushes(r.Context(), r.Actor, l.Search, l.page)
	if err != nil {
		return action.Reply{}, err
	}
	return action.Show(http.StatusOK, "own", newOwnView(found, l, r.Base)), nil
}

func newOwnView(found store.Found, l listing, base string) ownView {
	unsearched, unfiltered := l, l
	unsearched.Words, unfiltered.Kind, unfiltered.News = "", 0, 0
	_, back, _ := strings.Cut(l.path(l.page), "?")
	p := ownView{
		listing: l, Rows: make([]ownRow, len(found.Pushes)), Pages: newPager(l.page, found.More, l.path),
		Hits:   count{(l.page-1)*store.PageSize + len(found.Pushes), found.More || found.Cut},
		Active: l.at(true).path(1), Ended: l.at(false).path(1), Unsearched: unsearched.path(1), Unfiltered: unfiltered.path(1),
		LiveCount: newTotal(found.Live), EndedCount: newTotal(found.Ended), Back: back,
	}
	if found.Cut {
		p.Cut = store.MaxSearched
	}
	for i, push := range found.Pushes {
		p.Rows[i] = newOwnRow(push, base)
	}
	return p
}

func newOwnRow(p store.PushInfo, base string) ownRow {
	path := ownerPath(p)
	row := ownRow{
		Name: p.Name.Reveal(), Kind: p.Kind.String(), Icon: kindIcons[p.Kind.String()], State: stateName(p.Push), Live: p.Live(), News: newsOf(p),
		Created: display.NewTime(p.CreatedAt), Left: newTimeLeft(p.ExpiresAt.Sub(p.At)),
		Views: p.Views, Limit: p.ViewLimit, Protected: p.Protected, Encrypted: p.ClientEncrypted, Token: p.URLToken(),
		Link: action.Link(p, base), Audit: path + "/audit", Thaw: path + "/thaw", Frozen: p.Frozen,
	}
	if p.IsAnswer() {
		row.Request, row.Read, row.Opens = requestPath(p.Request), display.OptionalTime(p.ReadAt), revealPath(p.Token)
	}
	if !p.Live() {
		row.Ended = display.NewTime(p.ExpiredAt)
	}
	return row
}

// newsOf returns the badges of a push, except whether an answer was read.
func newsOf(p store.PushInfo) (all []news) {
	for _, n := range newsNames {
		if !p.Has(n.news) || p.IsAnswer() && (n.news == store.NotOpened || p.Views == 0 && n.news == store.Opened) {
			continue
		}
		badge := news{Name: n.name, Warn: n.news > store.Opened}
		switch n.news {
		case store.NotOpened:
			if !p.Live() {
				badge.Name = "never"
			}
		case store.Opened:
			badge.Count = p.Views
		case store.Guessed:
			badge.Count = p.Failed
		}
		all = append(all, badge)
	}
	return all
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
func stateName(p record.Push) string {
	switch {
	case p.Frozen:
		return "frozen"
	case p.Live():
		return "live"
	case p.State == record.Deleted:
		return "deleted"
	case p.Views >= p.ViewLimit:
		return "viewed"
	default:
		return "over"
	}
}

// A timeLeft is a number of days, hours or minutes, rounded up. It uses the largest unit with at
// least two, so that rounding is small; otherwise minutes.
type timeLeft struct {
	Unit  string // of a message, list_left_...
	Count int
}

func newTimeLeft(d time.Duration) timeLeft {
	in := func(name string, unit time.Duration) timeLeft { return timeLeft{name, int((d + unit - 1) / unit)} }
	switch {
	case d > 2*intake.Day:
		return in("days", intake.Day)
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
	if more && page < action.MaxPage {
		p.Next = at(page + 1)
	}
	return p
}
