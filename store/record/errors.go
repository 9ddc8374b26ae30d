package record

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Errors of opening a store.
var (
	ErrInUse   = errors.New("the database is in use by another process")
	ErrKey     = errors.New("the master key does not fit this database")
	ErrSchema  = errors.New("the database was written by another build of pushbox")
	ErrCorrupt = errors.New("the database is damaged")
)

// Errors of finding things.
var (
	// ErrNotFound is the same for unknown, malformed and purged names.
	ErrNotFound = errors.New("not found")
	// ErrExists says that the name is in use.
	ErrExists = errors.New("exists already")
)

// ErrIdentityTaken says that another account has the identity.
var ErrIdentityTaken = errors.New("another account has the identity")

// ErrTokens says that the account has MaxTokens API tokens.
var ErrTokens = errors.New("the account has as many API tokens as it may have")

// ErrRequests says that the account has MaxRequests live requests.
var ErrRequests = errors.New("the account has as many live requests as it may have")

// ErrNoAnswers says that a request accepts no answers now, since its owner has no room. It does not
// name the reason: the sender of an answer must learn nothing about the owner.
var ErrNoAnswers = errors.New("the request takes no answers now")

// ErrOwnAccount says that an administrator may do this only to accounts of others. For their own
// account, its pages ask for the password and a second factor.
var ErrOwnAccount = errors.New("this is the administrator's own account")

// ErrLastAdmin says that the change would leave the instance without an administrator.
var ErrLastAdmin = errors.New("this is the last administrator")

// ErrRoom says that a sender may not have more live pushes; it comes as a *RoomError.
var ErrRoom = errors.New("the sender has no room for more pushes")

// Errors of permission.
var (
	// ErrToken says that an API token is unknown, expired, or of a disabled account.
	ErrToken = errors.New("the API token is not valid")
	// ErrCredentials says that the address or the password is wrong, or the code
	// of the second factor; it does not say which.
	ErrCredentials = errors.New("the address or the password is wrong")
	// ErrStale says that the last sign-in at a provider is too long ago to replace a password.
	ErrStale = errors.New("the last sign-in was too long ago")
	// ErrSession says that a session is unknown or has ended.
	ErrSession = errors.New("the session has ended")
	// ErrDenied says that the actor is not allowed to do this.
	ErrDenied = errors.New("not allowed")
	// ErrPassphrase says that the passphrase is missing or wrong; it comes as a *PassphraseError.
	ErrPassphrase = errors.New("the passphrase is incorrect")
	// ErrFrozen says that a push had too many wrong passphrases in all; its sender can thaw it.
	ErrFrozen = errors.New("the push is frozen")
	// ErrEarly says that a push cannot be opened yet; it comes as an *EarlyError.
	ErrEarly = errors.New("the push cannot be opened yet")
	// ErrNetwork says that a push opens only from other networks than that of the client.
	ErrNetwork = errors.New("the push cannot be opened from this network")
	// ErrRecipient says that a push is for a named recipient, who has not proved to be it; if that was
	// tried, it comes as a *RecipientError.
	ErrRecipient = errors.New("the push is for a named recipient")
	// ErrQuota says that this day's limit is reached; it comes as a *QuotaError.
	ErrQuota = errors.New("the limit of mails for today is reached")
	// ErrUnconfirmed says that an account sends no mail, since its address is not confirmed.
	ErrUnconfirmed = errors.New("the address of the account is not confirmed")
	// ErrCode says that a code is not the one that was mailed, or has expired.
	ErrCode = errors.New("the code is wrong or has expired")
	// ErrLocked says that there were too many wrong passphrases, passwords or
	// codes, too many sign-ins or sign-ups of a client, or too many new API tokens or
	// mailed codes of an account; it comes as a *LockedError.
	ErrLocked = errors.New("too many tries")
)

// ErrFileSize says that a file is larger than files may be.
var ErrFileSize = errors.New("the file is too large")

// Errors of the store's state.
var (
	// ErrBusy says that too many passphrases wait to be checked or too many pushes to be ended; or
	// that a compaction or backup runs, or cannot keep up with writes.
	ErrBusy = errors.New("too much is waiting")
	// ErrClock says that the system clock jumped, and is not trusted yet.
	ErrClock = errors.New("the system clock jumped")
	// ErrFull says that there is no room for more data.
	ErrFull = errors.New("the store is full")
	// ErrFailed says that the outcome of a commit is unknown. Nothing is read or
	// written until the file is opened again.
	ErrFailed = errors.New("the store has failed")
	// ErrUnavailable says that the database of several servers does not answer, or that changes of
	// other servers conflicted too often. Unlike ErrFailed it is temporary.
	ErrUnavailable = errors.New("the database does not answer")
	// ErrStandby is ErrUnavailable for a database that answers but completes no write: writes wait
	// for a standby, and none is connected. An old primary that a standby has replaced does the
	// same.
	ErrStandby error = standbyError{}
	// ErrStaleKeys says that another server has replaced the key ring; the store reads it
	// again within a second.
	ErrStaleKeys = errors.New("another server has replaced the key ring")
	// ErrMoved says that all records were moved out of the database, or are being moved, so
	// that no server may use it.
	ErrMoved = errors.New("the database was moved")
	// ErrNoKeys says that an engine has not been unlocked.
	ErrNoKeys = errors.New("the store has no keys yet")
	// ErrLost says that the engine's file was deleted, or replaced by another, while the engine had
	// it open: its data is lost when it closes. Everything else works until then.
	ErrLost = errors.New("the server's database file was deleted or replaced: when the server stops, all data is lost")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("the store is closed")
)

// ErrLive says that a push has not ended.
var ErrLive = errors.New("the push is live")

// An ErasingError says that a push has ended, and that not all of it is known to be gone yet.
type ErasingError struct{ RetryAfter time.Duration }

func (*ErasingError) Error() string { return "the push is being erased" }

// A LockedError is an ErrLocked with the time to wait.
type LockedError struct {
	RetryAfter time.Duration
	Limit      string // LimitPassphrasesPerClient, for example
}

// Limits that a LockedError names.
const (
	LimitPassphrasesPerClient = "passphrases_per_client"
	LimitPassphrasesPerPush   = "passphrases_per_push"
	LimitSignInsPerClient     = "sign_ins_per_client"
	LimitSignInsPerAccount    = "sign_ins_per_account"
	LimitSignUps              = "sign_ups"
	LimitTokensPerAccount     = "tokens_per_account"
	LimitCodesPerAccount      = "codes_per_account"
	LimitChangesPerAccount    = "changes_per_account"
	LimitCodesPerRecipient    = "codes_per_recipient"
)

func (*LockedError) Error() string { return ErrLocked.Error() }

// Unwrap returns ErrLocked.
func (*LockedError) Unwrap() error { return ErrLocked }

// A RecipientError is an ErrRecipient with the number of wrong codes that the challenge still takes:
// 0 if it has run out or is used up.
type RecipientError struct{ Left int }

func (*RecipientError) Error() string { return ErrRecipient.Error() }

// Unwrap returns ErrRecipient.
func (*RecipientError) Unwrap() error { return ErrRecipient }

// An EarlyError is an ErrEarly with the time from which the push can be opened.
type EarlyError struct {
	OpensAt time.Time
	Wait    time.Duration // until then
}

func (*EarlyError) Error() string { return ErrEarly.Error() }

// Unwrap returns ErrEarly.
func (*EarlyError) Unwrap() error { return ErrEarly }

// A PassphraseError is an ErrPassphrase with the number of tries that the same client
// has left before ErrLocked.
type PassphraseError struct {
	Left       int           // math.MaxInt: any number
	RetryAfter time.Duration // until the next try, if none is left
}

func (*PassphraseError) Error() string { return ErrPassphrase.Error() }

// Unwrap returns ErrPassphrase.
func (*PassphraseError) Unwrap() error { return ErrPassphrase }

// A QuotaOf says which limit of mails is reached.
type QuotaOf uint8

// Whose limit it is.
const (
	QuotaOfAccount QuotaOf = 1 + iota
	QuotaOfInstance
	QuotaOfAddressee // of an address that mail goes to
)

// A QuotaError is an ErrQuota that says whose limit it is and how long to wait.
type QuotaError struct {
	Of         QuotaOf
	RetryAfter time.Duration // until the next day begins
}

func (*QuotaError) Error() string { return ErrQuota.Error() }

// Unwrap returns ErrQuota.
func (*QuotaError) Unwrap() error { return ErrQuota }

// A RefusedError is ErrCredentials with the cause for the instance log. The person who tries to
// sign in does not get the cause.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return ErrCredentials.Error() + ": " + e.Why }

// Unwrap returns ErrCredentials.
func (e *RefusedError) Unwrap() error { return ErrCredentials }

// An InvalidError says what is wrong with an input, field by field. It never holds the
// input itself.
type InvalidError struct{ Fields map[string][]string }

// Add adds a problem of a field.
func (e *InvalidError) Add(field, message string) {
	if e.Fields == nil {
		e.Fields = make(map[string][]string)
	}
	e.Fields[field] = append(e.Fields[field], message)
}

// Err returns e as an error, or nil if nothing was added.
func (e *InvalidError) Err() error {
	if len(e.Fields) == 0 {
		return nil
	}
	return e
}

func (e *InvalidError) Error() string {
	var parts []string
	for field, messages := range e.Fields {
		parts = append(parts, field+" "+strings.Join(messages, ", "))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

// A standbyError is ErrStandby.
type standbyError struct{}

func (standbyError) Error() string {
	return "the database completes no write, since no standby that confirms it is connected"
}

// Is reports that it is ErrUnavailable, too.
func (standbyError) Is(target error) bool { return target == ErrUnavailable }
