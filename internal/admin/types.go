package admin

import (
	"encoding/json"
	"errors"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
)

// None is no input, or no output.
type None struct{}

// Credentials are an account's address and its new password.
type Credentials struct {
	Email      string
	Password   Clear
	KeepTokens bool // for UserPasswd: the account's API tokens stay valid
}

// An Address names an account.
type Address struct{ Email string }

// A User is an account, without its secrets.
type User struct {
	Email     string
	CreatedAt time.Time
	Disabled  bool
	Removing  bool       // its removal was interrupted; the next sweep finishes it
	Room      store.Room // what its live pushes take
}

func newUser(a store.Account, takes store.Room) User {
	return User{Email: a.Email, CreatedAt: a.CreatedAt, Disabled: a.Disabled, Removing: a.Removing, Room: takes}
}

// A TokenRequest asks for an API token.
type TokenRequest struct {
	Email string
	store.TokenTerms
}

// A TokenRef names an API token.
type TokenRef struct{ ID store.TokenID }

// A Token is an API token, without the token itself.
type Token struct {
	ID         store.TokenID
	Label      string
	Scopes     store.Scopes
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	LastUsedAt time.Time // zero: never
}

func newToken(t store.APIToken) Token {
	return Token{ID: t.ID, Label: t.Label, Scopes: t.Scopes, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt}
}

// A NewToken is a new API token, with the token itself.
type NewToken struct {
	Token
	Secret Clear
}

// A WebhookRequest asks for a webhook.
type WebhookRequest struct {
	Email  string
	URL    Clear
	Events []string // by name
}

// A WebhookRef names a webhook.
type WebhookRef struct{ ID store.HookID }

// A Webhook is a webhook, without its signing secret.
type Webhook struct {
	ID        store.HookID
	URL       Clear
	Events    []string
	CreatedAt time.Time
	Disabled  bool // its receiver answered 410
}

// A NewWebhook is a webhook with its signing secret.
type NewWebhook struct {
	Webhook
	Secret Clear
}

func newWebhook(h store.HookInfo) Webhook {
	return Webhook{
		ID: h.ID, URL: Clear{h.URL}, CreatedAt: h.CreatedAt, Disabled: h.Disabled,
		Events: each(h.Events.Events(), store.Event.String),
	}
}

// EventsPage is the most events that Events lists at once.
const EventsPage = 10_000

// An EventQuery asks for events of the instance log.
type EventQuery struct {
	Since time.Time // those at this time or later
	After uint64    // those with a greater number
}

// An EventList is a part of the instance log.
type EventList struct {
	Events []Event
	More   bool // ask again: there are more events, or a damaged one
}

// An Event is an event of the instance log. The names of its fields and of its actors are
// what `pushbox events --json` prints.
type Event struct {
	Number    uint64          `json:"number"`
	Time      time.Time       `json:"time"`
	Event     string          `json:"event"`
	Actor     string          `json:"actor"` // operator, system, account, or anonymous
	IP        string          `json:"ip,omitempty"`
	UserAgent string          `json:"user_agent,omitempty"`
	AccountID store.AccountID `json:"account_id,omitempty"`
	Account   string          `json:"account,omitempty"` // its address
	Token     store.TokenID   `json:"token,omitempty"`
	Webhook   store.HookID    `json:"webhook,omitempty"`
	Detail    string          `json:"detail,omitempty"`
}

func newEvent(i store.AdminEventInfo) Event {
	e := Event{
		Number: i.Number, Time: i.At, Event: i.Kind.String(), IP: i.By.IP, UserAgent: i.By.UserAgent,
		AccountID: i.Account, Account: i.Email, Detail: i.Detail,
	}
	switch i.Kind {
	case store.AdminTokenCreate, store.AdminTokenRevoke:
		e.Token = store.TokenID(i.Subject)
	case store.AdminWebhookAdd, store.AdminWebhookRemove, store.AdminWebhookDisable, store.AdminWebhookEnable:
		e.Webhook = store.HookID(i.Subject)
	}
	switch {
	case i.By.Role == store.Operator:
		e.Actor = "operator"
	case i.By.Role == store.System:
		e.Actor = "system"
	case i.By.Account != 0:
		e.Actor = "account"
	default:
		e.Actor = "anonymous"
	}
	return e
}

// Facts are the state of a store, and of the process that has it open.
type Facts struct {
	Version  string
	Dumpable string // why a core dump may contain the memory of the process; empty: it cannot

	Key      string // where the master key comes from
	KeyFault string // why the next start would find no key that fits; empty: it would find it

	Clock  time.Time // the time of the clock
	Latest time.Time // the latest time in the database
	Doubt  bool      // the clock jumped while the store was open, and is not trusted yet
	Away   bool      // by the clock the store was closed for more than a day, and the clock is not trusted yet
	Swept  time.Time // when the last successful sweep ended; zero: there was none

	Size, Unused int64 // bytes of the database's file

	CertFrom, CertTo time.Time // validity of the server's own certificate; zero: it has none
}

// A Path is the path of a URL of the server.
type Path struct{ Path string }

// Reloaded is the result of a Reload. If there are problems, nothing was changed.
type Reloaded struct {
	Changed  []string // settings with a new value in force
	Waiting  []string // settings with a new value that needs a restart
	Problems []string // of the configuration
}

// A CompactResult has the sizes of the database file, in bytes.
type CompactResult struct{ Before, After int64 }

// A BackupResult is a copy of the store.
type BackupResult struct {
	Path string    // absolute
	Size int64     // in bytes
	At   time.Time // it has all that was done before
}

// A DeepResult is the result of a deep check: a sentence for each problem, and how much
// was read.
type DeepResult struct {
	Problems []string
	store.Coverage
}

// A Key names the master key of a store.
type Key struct{ ID string }

// A Rotation says whether the old master key is discarded or kept in a file.
type Rotation struct{ DiscardOld bool }

// Clear is a secret that crosses the socket. It prints "[redacted]", as every secret does;
// only its JSON has the text, in base64, so that every byte arrives unchanged.
type Clear struct{ secret.Text }

// MarshalJSON writes the text in base64.
func (c Clear) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(c.Reveal())) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Clear) UnmarshalJSON(b []byte) error {
	var text []byte
	if err := json.Unmarshal(b, &text); err != nil {
		return errors.New("a secret that is not base64") // err may quote it
	}
	c.Text = secret.New(string(text))
	return nil
}
