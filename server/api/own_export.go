package api

import (
	"errors"
	"net/http"

	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/manage"
	"pushbox/store"
	"pushbox/store/record"
)

// An exportLine is an item that the server keeps about an account: one of the fields is set. An
// export contains no links, tokens, secrets or contents.
type exportLine struct {
	Account *accountJSON      `json:"account,omitempty"`
	SignsIn *exportedIdentity `json:"identity,omitempty"` // the name of its user at a sign-in provider
	Passkey *exportedPasskey  `json:"passkey,omitempty"`
	Session *exportedSession  `json:"session,omitempty"`
	Token   *exportedToken    `json:"token,omitempty"`
	Webhook *exportedHook     `json:"webhook,omitempty"`
	Push    *exportedPush     `json:"push,omitempty"`
	Request *exportedRequest  `json:"request,omitempty"`
	Event   *store.AdminLine  `json:"event,omitempty"` // event of the instance log, by the account or about it
}

type exportedIdentity struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

type exportedPasskey struct {
	Name       string  `json:"name"`
	CreatedAt  string  `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`
}

type exportedSession struct {
	CreatedAt  string `json:"created_at"`
	LastUsedAt string `json:"last_used_at"`
	IP         string `json:"ip"`
	UserAgent  string `json:"user_agent"`
}

type exportedToken struct {
	Name       string        `json:"name"`
	Scopes     record.Scopes `json:"scopes"`
	CreatedAt  string        `json:"created_at"`
	ExpiresAt  *string       `json:"expires_at"`
	LastUsedAt *string       `json:"last_used_at"`
}

type exportedHook struct {
	Host      string   `json:"host"`
	Form      string   `json:"form"`
	Events    []string `json:"events"`
	CreatedAt string   `json:"created_at"`
	Disabled  bool     `json:"disabled"`

	Deliveries []exportedDelivery `json:"deliveries"`
}

type exportedDelivery struct {
	Time   string `json:"time"`
	Event  string `json:"event"`
	Status int    `json:"status"` // 0: there was no answer
}

type exportedPush struct {
	Kind      string      `json:"kind"`
	Name      string      `json:"name"`
	Note      string      `json:"note"`
	CreatedAt string      `json:"created_at"`
	ExpiresAt string      `json:"expires_at"`
	ExpiredOn *string     `json:"expired_on"`
	Deleted   bool        `json:"deleted"`
	Views     int         `json:"views"`
	MostViews int         `json:"expire_after_views"`
	Audit     []entryJSON `json:"audit"`
}

type exportedRequest struct {
	Text      string `json:"text"`
	Name      string `json:"name"`
	Note      string `json:"note"`
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at"`
	Answered  int    `json:"answered"`
}

// exportStep is how many pushes or requests an export has in memory at a time, while it waits
// for its reader.
const exportStep = 4

// exportOwnAccount answers with all that the server keeps about the account, as JSON lines. It
// reads the data in parts while it sends, and counts as a download.
func (s *Service) exportOwnAccount(r *action.Request) (rep action.Reply, err error) {
	by := r.Holder()
	if !s.Downloads.Take(by) {
		return action.Reply{}, action.ErrDownloads
	}
	done := func() { s.Downloads.Free(by) }
	defer func() {
		if err != nil {
			done()
		}
	}()
	a, err := s.Store.AccountByID(r.Context(), r.Actor.Account)
	if err != nil {
		return action.Reply{}, err
	}
	j, err := s.accountNow(r, a)
	if err != nil {
		return action.Reply{}, err
	}
	return action.Reply{
		Done:   done,
		Status: http.StatusOK, Header: [][2]string{{"Content-Disposition", `attachment; filename="pushbox-account.jsonl"`}},
		Lines: func(write func(any) error) error {
			err := write(exportLine{Account: &j})
			for _, part := range s.exports() {
				if err == nil {
					err = part(r, a, write)
				}
			}
			return err
		},
	}, nil
}

// An exportPart writes lines about an account.
type exportPart func(r *action.Request, a record.Account, write func(any) error) error

// writeEach writes a line for each item of a list.
func writeEach[T, L any](list []T, err error, write func(any) error, line func(T) L) error {
	for _, one := range list {
		if err == nil {
			err = write(line(one))
		}
	}
	return err
}

func (s *Service) exportFactors(r *action.Request, a record.Account, write func(any) error) error {
	err := writeEach(a.Identities.List(), nil, write, func(i record.Identity) exportLine { return exportLine{SignsIn: &exportedIdentity{i.Issuer, i.Subject}} })
	if err != nil {
		return err
	}
	list, err := s.Store.Passkeys(r.Context(), r.SessionSecret())
	return writeEach(list, err, write, func(k store.PasskeyInfo) exportLine {
		return exportLine{Passkey: &exportedPasskey{k.Name, display.Stamp(k.CreatedAt), display.OptionalStamp(k.UsedAt)}}
	})
}

func (s *Service) exportSessions(r *action.Request, _ record.Account, write func(any) error) error {
	list, err := s.Store.Sessions(r.Context(), r.SessionSecret())
	return writeEach(list, err, write, func(i store.SessionInfo) exportLine {
		return exportLine{Session: &exportedSession{display.Stamp(i.CreatedAt), display.Stamp(i.LastUsedAt), i.IP, i.UserAgent}}
	})
}

func (s *Service) exportTokens(r *action.Request, a record.Account, write func(any) error) error {
	list, err := s.Store.Tokens(r.Context(), a.Email)
	return writeEach(list, err, write, func(t record.APIToken) exportLine {
		return exportLine{Token: &exportedToken{t.Label, t.Scopes, display.Stamp(t.CreatedAt), display.OptionalStamp(t.ExpiresAt), display.OptionalStamp(t.LastUsedAt)}}
	})
}

func (s *Service) exportHooks(r *action.Request, a record.Account, write func(any) error) error {
	list, err := s.Store.Hooks(r.Context(), a.Email)
	return writeEach(list, err, write, func(h store.HookInfo) exportLine {
		x := exportedHook{Host: action.HostIn(h.URL), Form: h.Form.String(), CreatedAt: display.Stamp(h.CreatedAt), Disabled: h.Disabled, Deliveries: []exportedDelivery{}}
		for _, e := range h.Events.Events() {
			x.Events = append(x.Events, e.String())
		}
		for _, d := range h.Tried {
			x.Deliveries = append(x.Deliveries, exportedDelivery{display.Stamp(d.At), d.Event.String(), d.Status})
		}
		return exportLine{Webhook: &x}
	})
}

// exportPushes writes the account's own pushes with their audit logs, newest first.
func (s *Service) exportPushes(r *action.Request, _ record.Account, write func(any) error) error {
	var last record.ID
	for {
		list, err := s.Store.PushesBefore(r.Context(), r.Actor, last, exportStep)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, p := range list {
			if err := s.exportPush(r, p, write); err != nil {
				return err
			}
		}
		last = list[len(list)-1].ID
	}
}

func (s *Service) exportPush(r *action.Request, p store.PushInfo, write func(any) error) error {
	x := exportedPush{
		Kind: p.Kind.String(), Name: p.Name.Reveal(), Note: p.Note.Reveal(), CreatedAt: display.Stamp(p.CreatedAt), ExpiresAt: display.Stamp(p.ExpiresAt),
		ExpiredOn: display.OptionalStamp(p.ExpiredAt), Deleted: p.State == record.Deleted, Views: p.Views, MostViews: p.ViewLimit, Audit: []entryJSON{},
	}
	defer r.Memory.Release()
	held := int64(0)
	for page := 1; ; page++ { // the order of entries never changes
		log, err := s.Store.Audit(r.Context(), r.Actor, nameOf(p), page)
		switch {
		case errors.Is(err, record.ErrNotFound): // it was purged meanwhile
			return nil
		case err != nil:
			return err
		}
		for _, e := range log {
			held += int64(entrySize + len(e.UserAgent) + e.Referrer.Len() + e.Recipients.Len())
			x.Audit = append(x.Audit, newEntryJSON(e))
		}
		if err := holds(r, held); err != nil {
			return err
		}
		if len(log) < store.PageSize {
			return write(exportLine{Push: &x})
		}
	}
}

// entrySize is the memory of an audit entry without its texts, and lineFactor the factor for its
// encoding.
const (
	entrySize  = 256
	lineFactor = 3
)

// holds reserves memory for a line of that size.
func holds(r *action.Request, size int64) error {
	if size <= action.SmallBody {
		return nil
	}
	return r.Reserve(lineFactor * size)
}

// nameOf returns the name of a push for its owner: its url_token, or its handle once it has ended.
func nameOf(p store.PushInfo) store.Name {
	if p.Live() {
		return p.Token
	}
	return store.Handle(p.ID)
}

func (s *Service) exportRequests(r *action.Request, _ record.Account, write func(any) error) error {
	written := make(map[record.RequestID]bool) // requests without an end, of which an account has few
	var last record.Request
	for {
		list, err := s.Store.RequestsAfter(r.Context(), r.Actor, last, exportStep)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, q := range list {
			if written[q.ID] { // the request has ended meanwhile
				continue
			}
			if q.EndedAt.IsZero() {
				written[q.ID] = true
			}
			if err := write(exportLine{Request: &exportedRequest{q.Text.Reveal(), q.Name.Reveal(), q.Note.Reveal(), display.Stamp(q.CreatedAt), display.Stamp(q.ExpiresAt), len(q.Answers)}}); err != nil {
				return err
			}
		}
		last = list[len(list)-1].Request
	}
}

// exportOwnEvents writes the events that the account caused, and those about it.
func (s *Service) exportOwnEvents(r *action.Request, a record.Account, write func(any) error) error {
	last, err := s.Store.LastAdminEvent(r.Context())
	if err != nil {
		return err
	}
	return s.Manage.ExportEvents(r, manage.LogQuery{Account: a.ID, Before: last + 1}, 1, func(event store.AdminLine) error {
		if event.ActorID != a.ID { // the client of an administrator is the administrator's data
			event.ActorID, event.IP, event.UserAgent = 0, "", ""
		}
		if event.AccountID != a.ID {
			event.Account = ""
		}
		return write(exportLine{Event: &event})
	})
}
