package admin

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

// None is no input, or no output.
type None struct{}

// Credentials are an account's address and its new password.
type Credentials struct {
	Email      string
	Password   Clear
	KeepTokens bool // for UserPasswd: the account's API tokens stay valid
	Admin      bool // for UserAdd: the account is an administrator
}

// An Address names an account.
type Address struct{ Email string }

// An Invitation is an account to be made without a password.
type Invitation struct {
	Email string
	Admin bool
}

// A MailedLink is a link that sets the password of an account, to be mailed there.
type MailedLink struct {
	Email string
	Base  string // the address of the server, with which the link begins
}

// A PasswordLink sets the password of an account.
type PasswordLink struct {
	Code  Clear // the end of its path
	Until time.Time
}

// A Role is the new role of an account: administrator or member.
type Role struct {
	Email    string
	Admin    bool
	EvenLast bool // the instance may be left without an administrator
}

// A NewPolicy is the new policy of an account; empty: none.
type NewPolicy struct{ Email, Policy string }

// A Rename gives an account another address.
type Rename struct{ Email, To string }

// A Number is how many things an operation has changed.
type Number struct{ N int }

// A User is an account, without its secrets. The names of its fields are what
// `pushbox user list --json` prints.
type User struct {
	ID           record.AccountID `json:"id"`
	Email        string           `json:"email"`
	CreatedAt    time.Time        `json:"created_at"`
	LastSignInAt time.Time        `json:"last_sign_in_at,omitzero"` // through the pages, not by an API token
	Confirmed    bool             `json:"confirmed"`                // its address is confirmed
	SecondFactor bool             `json:"second_factor"`
	Admin        bool             `json:"admin"`
	Invited      bool             `json:"invited"`          // it has no way to sign in yet
	Policy       string           `json:"policy,omitempty"` // empty: none
	Disabled     bool             `json:"disabled"`
	Removing     bool             `json:"removing"` // its removal was interrupted; the next sweep finishes it
	Room         record.Room      `json:"room"`     // the room of its live pushes
	Identities   []Identity       `json:"identities,omitempty"`
}

// An Identity is the name of the account's user at a sign-in provider.
type Identity struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

func newUser(a record.Account, used record.Room) User {
	u := User{
		ID: a.ID, Email: a.Email, CreatedAt: a.CreatedAt, LastSignInAt: a.SignedInAt,
		Confirmed: !a.Unconfirmed, SecondFactor: a.MFA(), Admin: a.Admin, Invited: a.Invited(), Policy: a.Policy, Disabled: a.Disabled, Removing: a.Removing, Room: used,
	}
	for _, i := range a.Identities.List() {
		u.Identities = append(u.Identities, Identity(i))
	}
	return u
}

// A TokenRequest asks for an API token.
type TokenRequest struct {
	Email string
	store.TokenTerms
}

// A TokenRef names an API token.
type TokenRef struct{ ID record.TokenID }

// A Token is an API token, without the token itself. The names of its fields are what
// `pushbox token list --json` prints.
type Token struct {
	ID         record.TokenID `json:"id"`
	Label      string         `json:"label"`
	Scopes     record.Scopes  `json:"scope"`
	CreatedAt  time.Time      `json:"created_at"`
	ExpiresAt  time.Time      `json:"expires_at,omitzero"`   // zero: never
	LastUsedAt time.Time      `json:"last_used_at,omitzero"` // zero: never
}

func newToken(t record.APIToken) Token {
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
	Form   string   // by name; empty, as older commands send it: standard
}

// A WebhookRef names a webhook.
type WebhookRef struct{ ID record.HookID }

// A Webhook is a webhook, without its signing secret.
type Webhook struct {
	ID        record.HookID
	URL       Clear
	Form      record.HookForm
	Language  string // of its account; empty: none, or it is not needed
	Events    []string
	CreatedAt time.Time
	Disabled  bool // its receiver answered 410
	Waiting   int  // messages that wait for it
}

// A NewWebhook is a webhook with its signing secret.
type NewWebhook struct {
	Webhook
	Secret Clear
}

func newWebhook(h store.HookInfo) Webhook {
	return Webhook{
		ID: h.ID, URL: Clear{h.URL}, Form: h.Form, Language: h.Language, CreatedAt: h.CreatedAt, Disabled: h.Disabled,
		Events: each(h.Events.Events(), record.Event.String),
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
	Events []store.AdminLine
	More   bool // ask again: there are more events, or a damaged one
}

// Facts are the state of a store, and of the process that has it open.
type Facts struct {
	Version   string
	CertFault string // why browsers refuse the server's certificate; empty: they accept it, as far as is known
	DumpFault string // why a core dump may contain the memory of the process; empty: it cannot

	Key      string // where the master key comes from
	KeyFault string // why the next start would not find the key; empty: it would

	Clock  time.Time // the time of the clock
	Latest time.Time // the latest time in the database
	Doubt  bool      // the clock jumped while the store was open, and is not trusted yet
	Away   bool      // by the clock the store was closed for more than a day, and the clock is not trusted yet
	Swept  time.Time // when the last successful sweep ended; zero: there was none

	Lost bool // the database file was deleted or replaced while it was open

	NoAdmin      bool     // there are accounts, but no administrator
	LostPolicies []string // policies of accounts that the settings do not define
	Unsure       []string // doubts of the last checks of the directory's users, in sentences

	Size, Unused int64 // bytes of the database's file

	CertFrom, CertTo time.Time // validity of the server's own certificate; zero: it has none

	BackupFault string     // why the last scheduled backup failed; empty: it did not, or none was due
	AfterFault  string     // why the last run of backup.after failed; empty: it did not
	Webhooks    Deliveries // to webhooks
	Mail        Deliveries
}

// Deliveries are the figures of a route of messages.
type Deliveries struct {
	Waiting int        // messages that wait
	Dropped uint64     // messages that were never delivered, since the server started
	Failing []Receiver // receivers whose last try failed
}

// A Receiver is a webhook, or the mail server, whose last try failed.
type Receiver struct {
	Webhook record.HookID // 0: the webhook of the instance; of mail: the mail server
	Tries   int           // that failed, in a row
	Next    time.Time     // when the next try is due; zero: not known
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

// A DeepResult is the result of a deep check: a sentence for each problem, and how much
// was read.
type DeepResult struct {
	Problems []string
	record.Coverage
}

// A Key names the master key of a store.
type Key struct{ ID string }

// A PublicKey is that of certificates.
type PublicKey struct{ Key ed25519.PublicKey }

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
