package store

import (
	"context"
	"time"
)

// A Rule decides one change of a push. It is pure, quick, and may run several
// times: no passphrase hashing, no clock, no I/O inside; those come before, as
// its arguments.
//
// It gets the push as it is and returns the push as it is to be, with the
// audit entry to append. The entry is appended where next.Seq is p.Seq+1, under
// the number p.Seq, and its grant and its messages are kept with it, and its mail is
// sent. Where next
// equals p nothing is written. A next that is no longer live loses its payload; one that holds files
// no more loses its grants, and its chunks become orphans; one whose state is
// Purged goes altogether.
type Rule func(p Push) (next Push, e Entry, err error)

// A Change tells what a Rule did.
type Change struct {
	Push    Push   // as it is now
	Entry   Entry  // what the rule said, appended or not; of its messages those that were kept
	Payload []byte // the sealed payload as it was before; nil if there was none
}

// An Engine keeps what the store tells it to keep. Each method is one atomic,
// linearizable step that is durable when it returns nil; an engine sees sealed
// bytes only and takes no decision of its own. Results are copies.
//
// Every method returns ErrFailed after an outcome became unknown, ErrClosed
// after Close, and ctx.Err() when ctx ended before the step began.
type Engine interface {
	// CreatePush keeps a new push, its sealed payload and its first audit
	// entry. ErrExists if the ID is taken, ErrFull if there is no room,
	// ErrToken if the owner is not an account that may act (Account.Active).
	// The chunks of a push that holds files must be orphans, and stop to be;
	// ErrCorrupt if they are not there. A *QuotaError if its mail would be too much,
	// and ErrFull if there is no room for that.
	CreatePush(ctx context.Context, p Push, payload []byte, e Entry) error
	// Push returns ErrNotFound if there is none.
	Push(ctx context.Context, id ID) (Push, error)
	// Sized is Push that also tells how many bytes the sealed payload has; 0 if
	// there is none.
	Sized(ctx context.Context, id ID) (p Push, payload int, err error)
	// Change applies r. ErrNotFound if there is no such push; an error of r
	// is returned as it is, and then nothing was changed. Where there is no room for
	// messages, they are left out, and the change is made; not so for mail, which is
	// refused as that of CreatePush.
	Change(ctx context.Context, id ID, r Rule) (Change, error)
	// Pushes lists an owner's pushes, live ones or the others, newest first.
	Pushes(ctx context.Context, owner AccountID, live bool, skip, limit int) ([]Push, error)
	// Entries lists a push's audit entries, oldest first.
	Entries(ctx context.Context, id ID, skip, limit int) ([]Entry, error)
	// Due lists pushes of a shelf whose time is not after t, earliest first,
	// and tells the earliest time after those (zero: none).
	Due(ctx context.Context, s Shelf, t time.Time, limit int) (due []ID, next time.Time, err error)
	// Scan lists pushes of all owners by ID, from the first after the one given.
	Scan(ctx context.Context, after ID, limit int) ([]Push, error)

	// PutChunks keeps chunks of a file of a push that is not there yet, under
	// numbers from first on. Until CreatePush they are orphans. ErrExists if the
	// push is there, ErrFull if there is no room. The chunks are not kept beyond the call.
	PutChunks(ctx context.Context, id ID, file, first int, chunks [][]byte) error
	// Chunk appends a chunk of a file to dst and returns the grant that it is read
	// under. ErrNotFound if there is no such grant, ErrCorrupt if its push has no
	// such chunk.
	Chunk(ctx context.Context, d GrantDigest, file, n int, dst []byte) (Grant, []byte, error)
	// Grant returns the grant of that digest and its push, or ErrNotFound.
	Grant(ctx context.Context, d GrantDigest) (Grant, Push, error)
	// ChangeGrant applies r, which changes of the push no more than GrantsEnd.
	// ErrNotFound if there is no such grant.
	ChangeGrant(ctx context.Context, d GrantDigest, r GrantRule) (Grant, error)
	// Orphans lists the IDs that orphaned chunks are kept under, from the first
	// after the one given.
	Orphans(ctx context.Context, after ID, limit int) ([]ID, error)
	// FreeOrphans removes that many of the orphaned chunks of an ID, and tells
	// whether there are more.
	FreeOrphans(ctx context.Context, id ID, limit int) (more bool, err error)

	// CreateAccount keeps a new account under a new ID, which it returns.
	// ErrExists if the address is taken.
	CreateAccount(ctx context.Context, a Account) (AccountID, error)
	// CreateFirstAccount is CreateAccount where there is no account; else
	// ErrExists.
	CreateFirstAccount(ctx context.Context, a Account) (AccountID, error)
	// Account returns ErrNotFound if there is none.
	Account(ctx context.Context, id AccountID) (Account, error)
	// AccountByEmail returns ErrNotFound if there is none.
	AccountByEmail(ctx context.Context, email string) (Account, error)
	// Accounts lists accounts by ID, from the first after the one given.
	Accounts(ctx context.Context, after AccountID, limit int) ([]Account, error)
	// ChangeAccount applies r to the account and to its sessions; ID and address
	// stay as they are. Where by is not zero, it must be the digest of one of its
	// sessions: else ErrSession. ErrNotFound if there is no such account; an error
	// of r is returned as it is, and then nothing was changed.
	ChangeAccount(ctx context.Context, id AccountID, by SessionDigest, r AccountRule) (AccountChange, error)
	// RemoveAccount forgets an account, its tokens, sessions, webhooks and quota. ErrExists if
	// it still owns pushes; then nothing was changed.
	RemoveAccount(ctx context.Context, id AccountID) error

	// Session returns the session with that digest and its account, or
	// ErrNotFound.
	Session(ctx context.Context, d SessionDigest) (Session, Account, error)
	// Sessions lists an account's sessions, newest first.
	Sessions(ctx context.Context, owner AccountID, limit int) ([]Session, error)
	// TouchSession sets when the session was last used, if it still exists.
	TouchSession(ctx context.Context, d SessionDigest, t time.Time) error
	// RemoveSession returns ErrNotFound if that account has no such session.
	RemoveSession(ctx context.Context, owner AccountID, id SessionID) error
	// ClearSessions looks at that many sessions of all accounts by digest, from the
	// first after the one given, and removes those that are over. It tells the last
	// one that it looked at, and whether there are more. over is quick, and may run
	// several times.
	ClearSessions(ctx context.Context, after SessionDigest, limit int, over func(Session) bool) (last SessionDigest, more bool, err error)

	// CreateToken keeps a new API token under a new ID, which it returns.
	// ErrNotFound if there is no such account.
	CreateToken(ctx context.Context, t APIToken) (TokenID, error)
	// Token returns the token with that digest and its account, or ErrNotFound.
	Token(ctx context.Context, d TokenDigest) (APIToken, Account, error)
	// Tokens lists an account's tokens by ID, from the first after the one given.
	Tokens(ctx context.Context, owner AccountID, after TokenID, limit int) ([]APIToken, error)
	// TouchToken sets when the token was last used, if it still exists.
	TouchToken(ctx context.Context, d TokenDigest, t time.Time) error
	// RemoveToken returns ErrNotFound if there is none, or it is not the owner's;
	// owner 0 stands for whoever it is.
	RemoveToken(ctx context.Context, owner AccountID, id TokenID) error

	// CreateHook keeps a new webhook under a new ID, which it returns. ErrToken if
	// its owner is not an account that may act.
	CreateHook(ctx context.Context, h Hook) (HookID, error)
	// Hooks lists webhooks by owner and ID, from the first after the one given.
	Hooks(ctx context.Context, owner AccountID, after HookID, limit int) ([]Hook, error)
	// SetHook replaces the webhook of the same owner and ID; ErrNotFound if there is
	// none.
	SetHook(ctx context.Context, h Hook) error
	// RemoveHook returns ErrNotFound if that account has no such webhook.
	RemoveHook(ctx context.Context, owner AccountID, id HookID) error

	// DueMessages lists messages of the outbox whose next try is not after t and that
	// skip does not skip, earliest first, and tells the earliest time after those
	// (zero: none). skip is quick, and may run several times.
	DueMessages(ctx context.Context, t time.Time, skip func(Message) bool, limit int) (due []Message, next time.Time, err error)
	// CountMessages tells how many messages wait in the outbox.
	CountMessages(ctx context.Context) (int, error)
	// RetryMessage counts a try of a message and sets when the next one is.
	// ErrNotFound if it does not wait for the try that m tells of.
	RetryMessage(ctx context.Context, m Message, next time.Time) error
	// EndMessages removes messages that wait for the tries that these tell of, and
	// tells how many there were.
	EndMessages(ctx context.Context, gone []Message) (n int, err error)

	// KeyRing returns the sealed key ring; nil in a new store.
	KeyRing(ctx context.Context) ([]byte, error)
	// SetKeyRing replaces the sealed key ring.
	SetKeyRing(ctx context.Context, sealed []byte) error
	// LatestTime is the time last kept by SetLatestTime; zero in a new store.
	LatestTime(ctx context.Context) (time.Time, error)
	// SetLatestTime keeps t if it is after the time kept.
	SetLatestTime(ctx context.Context, t time.Time) error

	// SetRoom bounds what may be put in from now on. It waits for nothing, and
	// nothing of it is kept.
	SetRoom(r Room)
	// Check reads everything and calls report with a sentence for each thing
	// that is wrong: the engine's own checks, then what Audit says of each
	// push, then records that belong to nothing.
	Check(ctx context.Context, report func(problem string)) error
	// CheckContents reads every payload and every chunk of a file, in steps that
	// hold up nobody, compares them with digests that were kept beside them, without
	// any key, and calls report with a sentence for each that differs. It calls
	// progress, from one goroutine, with bytes done and bytes in all, which is a
	// guess.
	CheckContents(ctx context.Context, report func(problem string), progress func(done, total int64)) (Coverage, error)
	// Space tells what the engine takes of its disk.
	Space(ctx context.Context) (Space, error)
	// Stats tells how the engine is. It waits for nobody, so what it tells may be
	// a moment ahead of what is durable.
	Stats() (Stats, error)
	// CountLive counts the live pushes while everything else goes on. When it
	// returns nil, Stats knows their number from then on.
	CountLive(ctx context.Context) error
	// Compact gives space that is not in use back to the file system, while
	// everything else goes on. It calls progress, from one goroutine, with bytes
	// done and bytes in all, which may grow. ErrBusy if a compaction or a backup runs,
	// ErrFull if there is no room for the copy that it makes; whatever the error
	// or the moment of a crash, nothing is lost.
	Compact(ctx context.Context, progress func(done, total int64)) error
	// Backup makes a copy of everything as it is at one instant, without what was
	// deleted, while everything else goes on, and opens it. The copy is a file of mode
	// 0600 beside path, or beside the engine's own where path is empty, under a
	// temporary name, that durable.RemoveLeftovers finds; whoever asked for it closes
	// and removes it. Progress and errors are those of Compact, and one of the two
	// runs at a time.
	Backup(ctx context.Context, path string, progress func(done, total int64)) (backup Engine, temp string, err error)
	// Forget removes every session, every grant, and what waits to be sent to
	// somebody: what a backup does not bring back.
	Forget(ctx context.Context) error
	// Failed is closed when an outcome became unknown.
	Failed() <-chan struct{}
	// Close waits for what was begun and refuses the rest with ErrClosed.
	Close() error
}

// Space tells how large an engine's file is, and how much of it is not in use.
type Space struct{ Size, Unused int64 } // bytes

// Tally is what an engine holds of one push beside its record, counted anew.
type Tally struct {
	Payload  bool   // there is a payload
	Entries  uint32 // audit entries
	Views    int    // of them: of kind view
	Minor    uint32 // of them: of a kind that stops at MaxMinorEntries
	Numbered bool   // the entries are numbered from 0 without a gap
	Indexed  bool   // it has the owner row and the expiry row that it should, and no other

	Stored    int64     // bytes of its chunks
	GrantsEnd time.Time // when the last of its grants ends; zero if it has none
}
