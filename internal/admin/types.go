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

// Credentials are an account's address and the password it is to have.
type Credentials struct {
	Email    string
	Password Clear
}

// An Address names an account.
type Address struct{ Email string }

// A User is what is shown of an account.
type User struct {
	Email     string
	CreatedAt time.Time
	Disabled  bool
	Removing  bool // its removal was cut short; the next sweep finishes it
}

func newUser(a store.Account) User {
	return User{Email: a.Email, CreatedAt: a.CreatedAt, Disabled: a.Disabled, Removing: a.Removing}
}

// A TokenRequest asks for an API token.
type TokenRequest struct {
	Email    string
	Label    string
	Lifetime time.Duration // 0: for good
}

// A TokenRef names an API token.
type TokenRef struct{ ID store.TokenID }

// A Token is what is shown of an API token.
type Token struct {
	ID         store.TokenID
	Label      string
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	LastUsedAt time.Time // zero: never
}

func newToken(t store.APIToken) Token {
	return Token{ID: t.ID, Label: t.Label, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt}
}

// A NewToken is an API token that was just made, with the token itself.
type NewToken struct {
	Token
	Secret Clear
}

// A CompactResult tells the size of the database's file, in bytes.
type CompactResult struct{ Before, After int64 }

// A BackupResult tells of a copy of the store. Its path is absolute.
type BackupResult struct {
	Path string
	Size int64
	At   time.Time // it holds all that was done before
}

// A DeepResult is what a deep check found: a sentence for each thing that is wrong,
// and what was read.
type DeepResult struct {
	Problems []string
	store.Coverage
}

// A Key names the master key of a store.
type Key struct{ ID string }

// A Rotation says what becomes of the old master key.
type Rotation struct{ DiscardOld bool }

// Clear is a secret on its way through the socket. It prints "[redacted]", as
// every secret does; only its JSON holds the text, in base64, so that each byte
// arrives as it was.
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
