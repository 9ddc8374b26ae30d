package api

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

// The paid edition of Password Pusher has requests, too. Its clients find here what they know: their
// fields, keys and addresses, over the requests of pushbox. What they call the response is the newest answer.

// The states of a request.
const (
	stateOpen   = "open"   // it takes answers, and none is there
	stateReady  = "ready"  // an answer can be opened
	stateClosed = "closed" // it takes no answers, and none can be opened
)

func stateOf(r store.RequestInfo) string {
	switch {
	case r.Ready:
		return stateReady
	case r.Live():
		return stateOpen
	default:
		return stateClosed
	}
}

// paidJSON has the keys of the paid edition in each answer about a request, also for its senders.
type paidJSON struct {
	URLToken      string  `json:"url_token"` // the id once it has ended
	JSONURL       string  `json:"json_url"`
	State         string  `json:"state"`
	UpdatedAt     string  `json:"updated_at"`
	CloseAt       string  `json:"close_after_at"`
	CloseAfter    int     `json:"close_after_duration"`
	DaysRemaining int     `json:"days_remaining"`
	RetrievalStep bool    `json:"retrieval_step"`
	WithRequestor bool    `json:"include_requestor"` // always true
	TakesFiles    bool    `json:"response_file_attachments"`
	Passphrase    *string `json:"passphrase"` // always null
}

func newPaidJSON(r store.RequestInfo, base string) paidJSON {
	j := paidJSON{
		URLToken: r.ID.String(), State: stateOf(r), UpdatedAt: display.Stamp(r.ChangedAt),
		CloseAt: display.Stamp(r.ExpiresAt), CloseAfter: intake.DurationCode(r.ExpiresAt.Sub(r.CreatedAt)),
		RetrievalStep: r.RetrievalStep, WithRequestor: true, TakesFiles: r.Files,
	}
	if r.Live() {
		j.URLToken = r.Token.Reveal()
		j.DaysRemaining = int((r.ExpiresAt.Sub(r.At) + intake.Day - 1) / intake.Day)
	}
	j.JSONURL = base + requestsPath + "/" + j.URLToken
	return j
}

// requestID is the ID of the request that the path names: by its ID, or by the token in its link.
func (s *Service) requestID(r *action.Request) record.RequestID {
	if t, err := store.ParseRequestToken(r.SentToken.Reveal()); err == nil {
		return s.Store.RequestID(t)
	}
	return r.RequestID
}

// openNewest opens the newest answer that is live, for clients of the paid edition. The owner's
// retrieval counts no view, and leaves an entry in the audit log.
func (s *Service) openNewest(r *action.Request, q store.RequestInfo, j *answeredJSON) error {
	if !s.Config.Compat.Commercial() || r.Method == http.MethodHead {
		return nil
	}
	for _, p := range slices.Backward(q.Pushes) {
		if !p.Live() {
			continue
		}
		got, err := s.Store.Retrieve(r.Context(), r.Actor, p.Token, secret.Text{}, func(k record.Kind, payload int64) error {
			return r.Reserve(action.AnswersMemory + jsonFactor(k)*payload)
		})
		if errors.Is(err, record.ErrNotFound) || err == nil && !got.Live() {
			continue // it has ended meanwhile
		}
		if err != nil {
			return err
		}
		opened := newViewerJSON(got, r.Base)
		j.Response, j.Files = opened.Payload, opened.Files
		return nil
	}
	return nil
}

// previewRequest returns the link of a live request.
func (s *Service) previewRequest(r *action.Request) (action.Reply, error) {
	if err := r.Reserve(action.AnswersMemory); err != nil {
		return action.Reply{}, err
	}
	q, err := s.Store.Request(r.Context(), r.Actor, s.requestID(r))
	if err == nil && !q.Live() {
		err = record.ErrNotFound
	}
	if err != nil {
		return action.Reply{}, err
	}
	return action.OK(previewJSON{URL: display.RequestLink(r.Base, q.Token.Reveal())}), nil
}

// Kinds of entries of the audit log of a request, beside that of its creation.
const (
	entryAnswer = "answer"
	entryEnd    = "end"
)

// requestAuditJSON is the audit log of a request.
type requestAuditJSON struct {
	Logs []requestEntryJSON `json:"logs"`
}

// requestEntryJSON is an entryJSON whose kinds are those of a request.
type requestEntryJSON entryJSON

// auditRequest answers with what happened to a request: it was made, answers came, it ended.
func (s *Service) auditRequest(r *action.Request) (action.Reply, error) {
	page, err := action.ReadPage(r)
	if err != nil {
		return action.Reply{}, err
	}
	if err := r.Reserve(action.AnswersMemory); err != nil {
		return action.Reply{}, err
	}
	q, err := s.Store.Request(r.Context(), r.Actor, s.requestID(r))
	if err != nil {
		return action.Reply{}, err
	}
	made, ended := display.Stamp(q.CreatedAt), display.Stamp(q.ChangedAt)
	logs := []requestEntryJSON{{Kind: record.EntryCreation.String(), CreatedAt: made, UpdatedAt: made}}
	for _, p := range q.Pushes {
		name := store.Name(p.Token)
		if !p.Live() {
			name = p.Handle()
		}
		log, err := s.Store.Audit(r.Context(), r.Actor, name, 1)
		if err != nil && !errors.Is(err, record.ErrNotFound) {
			return action.Reply{}, err
		}
		for _, e := range log[:min(1, len(log))] {
			j := requestEntryJSON(newEntryJSON(e))
			j.Kind = entryAnswer
			logs = append(logs, j)
		}
	}
	if !q.Live() {
		logs = append(logs, requestEntryJSON{Kind: entryEnd, CreatedAt: ended, UpdatedAt: ended})
	}
	from := min((page-1)*store.PageSize, len(logs))
	return action.OK(requestAuditJSON{Logs: logs[from:min(from+store.PageSize, len(logs))]}), nil
}

// respondedJSON is a request as the sender of an answer sees it.
type respondedJSON struct {
	HTMLURL   string `json:"html_url"`
	CreatedAt string `json:"created_at"`
	paidJSON
}

// respond creates an answer: a push of the account that asked. The sender gets no link to it.
func (s *Service) respond(r *action.Request) (action.Reply, error) {
	q, err := s.Intake.Asked(r)
	if err != nil {
		return action.Reply{}, err
	}
	r.Actor.Account = 0 // the push belongs to the account that asked, even if another account answers
	_, _, err = s.Intake.ReceivePush(r, intake.Spelling{Wrapper: requestWrapper, Convert: convertResponse, Answering: q.Token})
	var invalid *record.InvalidError
	if errors.As(err, &invalid) && invalid.Fields[store.FieldPayload] != nil {
		invalid.Fields[responseField] = invalid.Fields[store.FieldPayload]
		delete(invalid.Fields, store.FieldPayload)
	}
	if errors.Is(err, intake.ErrNoPush) {
		err = errNoResponse
	}
	if err != nil {
		return action.Reply{}, err
	}
	q.Ready = true
	return action.OK(respondedJSON{display.RequestLink(r.Base, q.Token.Reveal()), display.Stamp(q.CreatedAt), newPaidJSON(q, r.Base)}), nil
}

// responseField is the field with the text of an answer.
const responseField = "response"

// errNoResponse refuses an answer without its fields.
const errNoResponse = action.BadRequest("Send an object request with a response, such as {\"request\":{\"response\":\"...\"}}, or request[response]=... in a form.")

// convertResponse turns the fields of an answer into those of a push.
func convertResponse(c *intake.Draft) error {
	if v, has := c.Fields[responseField]; has {
		c.Fields[store.FieldPayload] = v
	}
	c.AsAnswer()
	return nil
}

// workspaceJSON is an account as the paid edition lists it.
type workspaceJSON struct {
	ID        uint64 `json:"id"`
	Name      string `json:"name"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

// listAccounts answers with the account of the API token: each token has one.
func (s *Service) listAccounts(r *action.Request) (action.Reply, error) {
	a, err := s.Store.AccountByID(r.Context(), r.Actor.Account)
	if err != nil {
		return action.Reply{}, err
	}
	at := display.Stamp(a.CreatedAt)
	return action.OK([]workspaceJSON{{uint64(a.ID), cmp.Or(a.Name, a.Email), at, at}}), nil
}
