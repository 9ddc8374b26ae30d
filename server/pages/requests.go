package pages

import (
	"encoding/base64"
	"net/http"
	"net/url"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// A requestsView lists the requests of an account.
type requestsView struct {
	Rows  []requestRow
	Pages pager
}

// A requestRow is a request in that list.
type requestRow struct {
	Title         secret.Text
	Path          string
	State         string // of a message, request_state_...
	Live          bool
	Encrypted     bool // the link here does not have the key
	Created, Ends display.Time
	Answers, Most int
	New           int // answers that the owner has not read
}

// requestsPage lists the requests of the account.
func (s *Set) requestsPage(r *action.Request) (action.Reply, error) {
	page, err := action.ReadPage(r)
	if err != nil {
		return action.Reply{}, err
	}
	list, err := s.Store.Requests(r.Context(), r.Actor, page)
	if err != nil {
		return action.Reply{}, err
	}
	v := requestsView{Pages: newPager(page, len(list) == store.PageSize, func(page int) string { return pagePath(requestsPath, url.Values{}, page) })}
	for _, q := range list {
		v.Rows = append(v.Rows, requestRow{
			Title: q.Title(), Path: requestPath(q.ID), State: stateOfRequest(q), Live: q.Live(), Encrypted: q.Encrypted(),
			Created: display.NewTime(q.CreatedAt), Ends: display.NewTime(q.ExpiresAt), Answers: len(q.Answers), Most: q.MaxAnswers, New: q.Unread,
		})
	}
	return action.Show(http.StatusOK, "requests", v), nil
}

// requestPath returns the path of the page of a request.
func requestPath(id record.RequestID) string { return requestsPath + "/" + id.String() }

// stateOfRequest names the state of a request, for its message: live, or why it has ended.
func stateOfRequest(q store.RequestInfo) string {
	switch {
	case q.Live():
		return "live"
	case len(q.Answers) >= q.MaxAnswers:
		return "answered"
	case q.EndedAt.IsZero() || !q.EndedAt.Before(q.ExpiresAt):
		return "over"
	default:
		return "ended"
	}
}

// A requestView shows a request to its owner: its link, and the answers.
type requestView struct {
	Path        string
	Text        secret.Text
	Live        bool
	State       string // as in the list
	Link        secret.Text
	QR          *display.QR
	Ends, Ended display.Time
	Left        timeLeft
	Takes       int // further answers
	Answers     []answerRow
	publicKeys
}

// An answerRow is an answer to a request.
type answerRow struct {
	Kind    string // of a message, list_kind_...
	Live    bool
	State   string // of a message, list_state_...
	Came    display.Time
	Read    *display.Time // when the owner first opened it; nil: not yet
	Left    timeLeft
	Opens   secret.Text // where a form opens it
	Audit   string
	Wrapped string // its key, for the script; empty: it is not encrypted
}

// publicKeys are the public keys of a request in the form for pages; both are empty if its answers
// are not encrypted.
type publicKeys struct{ P256, X25519 string }

func newPublicKeys(q store.RequestInfo) publicKeys {
	encode := base64.RawURLEncoding.EncodeToString
	return publicKeys{encode(q.P256), encode(q.X25519)}
}

// readRequestID reads the ID of a request from the path.
func readRequestID(r *action.Request) (record.RequestID, error) {
	return store.ParseRequestID(r.SentToken.Reveal())
}

// requestPage shows a request to its owner.
func (s *Set) requestPage(r *action.Request) (action.Reply, error) {
	id, err := readRequestID(r)
	if err != nil {
		return action.Reply{}, err
	}
	if err := r.Reserve(action.AnswersMemory); err != nil {
		return action.Reply{}, err
	}
	q, err := s.Store.Request(r.Context(), r.Actor, id)
	if err != nil {
		return action.Reply{}, err
	}
	v := requestView{
		Path: requestPath(q.ID), Text: q.Text, Live: q.Live(), State: stateOfRequest(q),
		Ends: display.NewTime(q.ExpiresAt), Ended: display.NewTime(q.EndedAt), Left: newTimeLeft(q.ExpiresAt.Sub(q.At)), Takes: q.MaxAnswers - len(q.Answers), publicKeys: newPublicKeys(q),
	}
	if q.EndedAt.IsZero() {
		v.Ended = v.Ends
	}
	if v.Live {
		link := display.RequestLink(r.Base, q.Token.Reveal())
		v.Link, v.QR = secret.New(link), display.LinkQR(link)
	}
	for _, p := range q.Pushes {
		v.Answers = append(v.Answers, newAnswerRow(p))
	}
	return action.Show(http.StatusOK, "request", v), nil
}

func newAnswerRow(p store.PushInfo) answerRow {
	return answerRow{
		Kind: p.Kind.String(), Live: p.Live(), State: stateName(p.Push), Came: display.NewTime(p.CreatedAt),
		Read: display.OptionalTime(p.ReadAt), Opens: secret.New(revealPath(p.Token)),
		Left: newTimeLeft(p.ExpiresAt.Sub(p.At)), Audit: ownerPath(p) + "/audit", Wrapped: base64.RawURLEncoding.EncodeToString(p.WrappedKey),
	}
}

// endOwnRequest ends a request for its owner.
func (s *Set) endOwnRequest(r *action.Request) (action.Reply, error) {
	id, err := readRequestID(r)
	if err != nil {
		return action.Reply{}, err
	}
	q, err := s.Store.EndRequest(r.Context(), r.Actor, id)
	if err != nil {
		return action.Reply{}, err
	}
	return s.goToTell(r, requestPath(q.ID), noticeRequestEnded), nil
}
