package store

import "pushbox/store/record"

// An AdminLine is an event of the instance log as programs read it: an object in the API, and a
// line of what `pushbox events --json` prints and of an export. It has no empty keys.
type AdminLine struct {
	Number       uint64           `json:"number"`
	Time         string           `json:"time"` // RFC 3339 in UTC, with milliseconds
	Event        string           `json:"event"`
	Actor        string           `json:"actor"`                   // operator, system, admin, account, or anonymous
	ActorID      record.AccountID `json:"actor_id,omitempty"`      // the account that acted
	ActorAccount string           `json:"actor_account,omitempty"` // its address, where that is not Account
	IP           string           `json:"ip,omitempty"`
	UserAgent    string           `json:"user_agent,omitempty"`
	AccountID    record.AccountID `json:"account_id,omitempty"`
	Account      string           `json:"account,omitempty"` // its address
	Token        record.TokenID   `json:"token,omitempty"`
	Webhook      record.HookID    `json:"webhook,omitempty"`
	Detail       string           `json:"detail,omitempty"`
}

// Line returns the event for programs.
func (i AdminEventInfo) Line() AdminLine {
	l := AdminLine{
		Number: i.Number, Time: i.At.UTC().Format("2006-01-02T15:04:05.000Z"), Event: i.Kind.String(),
		Actor: i.By.Kind(), ActorID: i.By.Account, IP: i.By.IP, UserAgent: i.By.UserAgent,
		AccountID: i.Account, Account: i.Email, Detail: i.Detail,
	}
	if i.By.Account != i.Account {
		l.ActorAccount = i.ByEmail
	}
	switch i.Kind {
	case record.AdminTokenCreate, record.AdminTokenRevoke:
		l.Token = record.TokenID(i.Subject)
	case record.AdminWebhookAdd, record.AdminWebhookRemove, record.AdminWebhookDisable, record.AdminWebhookEnable:
		l.Webhook = record.HookID(i.Subject)
	}
	return l
}
