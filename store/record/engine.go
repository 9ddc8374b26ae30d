package record

import (
	"context"
	"time"

	"pushbox/internal/limit"
)

// A Rule decides one change of a push. It is quick and may run several times; the last
// run counts. Passphrase hashing, the clock and I/O come before it, and their results
// are its arguments.
//
// A rule gets the push as it is. It returns the new state of the push, and the audit
// entry to append. The engine does the rest in the same step:
//
//   - It appends the entry, under the number p.Seq, if next.Seq is p.Seq+1. It leaves out
//     one that is dispensable while there is no space for creates. An engine in a file refuses
//     views and edits with ErrFull, unless they end the push, once most of what is kept free
//     is used.
//   - It keeps the entry's grant, messages and mail, even where it appends no entry.
//   - It writes nothing where next equals p.
//   - It destroys the payload of a push that is no longer live.
//   - It removes the grants of a push that has a GrantsEnd no longer. Where the push no longer
//     holds files, it also makes orphans of its chunks.
//   - It removes a push whose state is Purged, with all that belongs to it.
type Rule func(p Push) (next Push, e Entry, err error)

// A Change tells what a Rule did.
type Change struct {
	Push    Push   // as it is now
	Entry   Entry  // what the rule returned, appended or not; its Messages are those that were kept
	Payload []byte // the sealed payload as it was before; nil if there was none
}

// An Engine keeps what the store gives it. Each method is one atomic, linearizable
// step, and durable when it returns nil. An engine sees sealed bytes and decides
// nothing. Results are copies.
//
// Every method returns ErrFailed after an outcome became unknown for good, ErrUnavailable
// while a database that several processes share does not answer, ErrClosed after Close,
// and ctx.Err() when ctx ended before the step began. Until Unlock has returned nil, all
// but KeyRing return ErrNoKeys.
type Engine interface {
	PushEngine
	FileEngine
	TableEngine
	OutboxEngine
	TallyEngine
	KeyEngine
	UpkeepEngine

	// Failed is closed when an outcome became unknown, or when a later version of pushbox
	// changed the database so that this one may no longer use it.
	Failed() <-chan struct{}
	// Close waits for the steps that began and refuses others with ErrClosed.
	Close() error
}

// A PushEngine keeps pushes, their sealed payloads, and their audit logs.
type PushEngine interface {
	// CreatePush keeps a new push, its sealed payload and its first audit entry, and returns the entry with
	// those of its messages that it kept, and without mail that was optional and that it left out. A push
	// that answers a request changes that as Request.Answer does. The chunks of a push with files must be
	// orphans, and stop being so. ErrExists if the ID is taken, or that of
	// the entry's Repeat; ErrFull if there is no room for the push or
	// its mail; a *RoomError if its sender has no room for it; ErrToken if the owner is not an account that
	// may act (Account.Active); ErrCorrupt if the chunks are missing; ErrNotFound if there is no such request,
	// or it refuses the push; for its mail the errors of MailBatch.Plan.
	CreatePush(ctx context.Context, p Push, payload []byte, e Entry) (kept Entry, err error)
	// Push returns a push and the length of its sealed payload in bytes, 0 if there is none.
	// ErrNotFound if there is no such push.
	Push(ctx context.Context, id ID) (p Push, payload int, err error)
	// PushesByID returns those of the pushes that there are, in the order of the IDs.
	PushesByID(ctx context.Context, ids []ID) ([]Push, error)
	// Change applies r. ErrNotFound if there is no such push. An error of r is returned
	// as it is, and nothing was changed. Messages without room are left out, and the
	// change is made; mail that may not be sent refuses it, with the errors of CreatePush,
	// unless it is optional: then Entry.Mail is nil.
	Change(ctx context.Context, id ID, r Rule) (Change, error)
	// Pushes lists an owner's pushes, live ones or the others, newest first: from the first
	// behind the given one, which may be gone; from the newest if that is zero.
	Pushes(ctx context.Context, owner AccountID, live bool, before ID, skip, limit int) ([]Push, error)
	// CountPushes returns how many pushes that list has, or most if it has more. It reads
	// no record of a push.
	CountPushes(ctx context.Context, owner AccountID, live bool, most int) (int, error)
	// Entries lists a push's audit entries, oldest first.
	Entries(ctx context.Context, id ID, skip, limit int) ([]Entry, error)
	// Due lists pushes of an expiry queue behind a place whose time is not after t, earliest first,
	// and returns the earliest time behind those (zero: none).
	Due(ctx context.Context, s ExpiryQueue, behind ExpiryPlace, t time.Time, limit int) (due []ID, next time.Time, err error)
	// Rooms returns the room that the sender of each of these pushes has: its client's where RoomOf says
	// so, else its account's. That of all anonymous clients together is not asked for.
	Rooms(ctx context.Context, of []Push) ([]Room, error)
	// Scan lists pushes of all owners by ID, from the first after the given one.
	Scan(ctx context.Context, after ID, limit int) ([]Push, error)
}

// A FileEngine keeps the sealed chunks of files, and the grants to download them.
type FileEngine interface {
	// PutChunks keeps chunks of a file, under numbers from first on. They are orphans
	// until CreatePush makes their push. It keeps no reference to them. ErrExists if
	// the push exists, ErrFull if there is no room.
	PutChunks(ctx context.Context, id ID, file, first int, chunks [][]byte) error
	// Chunk appends a chunk of a file to dst, and returns its grant too. ErrNotFound if
	// there is no such grant, ErrCorrupt if its push has no such chunk.
	Chunk(ctx context.Context, d GrantDigest, file, n int, dst []byte) (Grant, []byte, error)
	// Grant returns the grant of that digest and its push, or ErrNotFound.
	Grant(ctx context.Context, d GrantDigest) (Grant, Push, error)
	// ChangeGrant applies r, which changes nothing of the push but GrantsEnd.
	// ErrNotFound if there is no such grant.
	ChangeGrant(ctx context.Context, d GrantDigest, r GrantRule) (Grant, error)
	// Orphans lists the IDs that have orphaned chunks, from the first after the given
	// one.
	Orphans(ctx context.Context, after ID, limit int) ([]ID, error)
	// FreeOrphans removes at most limit orphaned chunks of an ID, and reports whether
	// there are more.
	FreeOrphans(ctx context.Context, id ID, limit int) (more bool, err error)
}

// An OutboxEngine has what is asked of the table Messages, the outbox, that no range says.
type OutboxEngine interface {
	// DueMessages lists the messages that q selects, by the time of their next try.
	// next is the time of the first message that only q.Until, q.Limit or a lease keeps
	// off the list (zero: none).
	DueMessages(ctx context.Context, q MessageQuery) (due []Message, next time.Time, err error)
	// CountMessages returns how many messages wait for each recipient.
	CountMessages(ctx context.Context) (map[Recipient]int, error)
}

// A TallyEngine counts tries: of passphrases, of passwords and codes, of sign-ups. All
// servers of a database count together. Counts need not be durable where one server
// counts, and outlive no restart of it then.
type TallyEngine interface {
	// Tries does a turn to tallies, and returns how they stood before.
	Tries(ctx context.Context, turn limit.Turn, at time.Time, ts []limit.Tally) (stood []limit.Standing, err error)
}

// A KeyEngine keeps the key ring and the latest time seen.
type KeyEngine interface {
	// KeyRing returns the sealed key ring; nil in a new store. It works before Unlock.
	KeyRing(ctx context.Context) ([]byte, error)
	// Unlock gives the engine the keys of its rows, once: those in the ring that KeyRing returned
	// last. What an older version of pushbox wrote is then brought to the present form, with c;
	// without c, that is ErrCorrupt. From then on f follows the key rings that other processes keep;
	// nil: they keep none. If Unlock fails, what is kept is as it was, and Unlock may be called
	// again.
	Unlock(ctx context.Context, keys RowKeys, c Converter, f Follower) error
	// SetKeyRing replaces the sealed key ring, and the keys by those that are in it. They
	// must have every version of the keys before under which there are rows. ErrStaleKeys
	// if another process replaced the ring since this one read it.
	SetKeyRing(ctx context.Context, sealed []byte, keys RowKeys, e AdminEvent) error
	// KeepTime keeps a time if it is later than the time kept, goes the way of a write also if it is not,
	// and returns the time that is kept then; zero in a new store.
	KeepTime(ctx context.Context, t time.Time) (latest time.Time, err error)
}

// RowKeys are the keys by which an engine authenticates its rows. Their methods are
// quick, allocate nothing, and are safe for concurrent use.
type RowKeys interface {
	// RowVersion returns the version of the key for rows that are written now.
	RowVersion() uint16
	// RowSum returns the sum of a row under the key of that version; ok is false if
	// there is no such key. The name of a bucket has no zero byte.
	RowSum(version uint16, bucket string, key, value []byte) (sum [32]byte, ok bool)
}

// A Follower takes a sealed key ring that another process kept, and returns the keys of rows from
// then on. An engine that one process has to itself never calls it.
type Follower func(sealed []byte) (RowKeys, error)

// A Converter gives the records that an older version of pushbox wrote the form that they
// have now. It keeps no reference to what it gets.
type Converter interface {
	// ConvertPush reads the record of a push, whose sealed payload has that size.
	ConvertPush(id ID, record []byte, size int64) (Push, error)
	// ConvertToken reads the record of an API token.
	ConvertToken(record []byte) (APIToken, error)
	// ConvertHook returns a webhook in the present form.
	ConvertHook(h Hook) (Hook, error)
	// ConvertMessage returns a message in the present form.
	ConvertMessage(m Message) (Message, error)
}

// An UpkeepEngine checks, copies and measures what is kept, and gives space back.
type UpkeepEngine interface {
	// SetSpaceLimits bounds what is put in from now on, until the engine closes. It
	// waits for nothing.
	SetSpaceLimits(l SpaceLimits)
	// Check reads everything and calls report with a sentence for each problem: first
	// of the engine's own structure, then of each push (Push.Problems), then of records
	// that belong to nothing.
	Check(ctx context.Context, report func(problem string)) error
	// CheckContents compares every payload and every chunk with the digest that is kept
	// beside it, in steps that hold up no other work, and calls report with a sentence
	// for each that differs. It needs no key. It calls progress, from one goroutine,
	// with bytes done and an estimate of all bytes.
	CheckContents(ctx context.Context, report func(problem string), progress func(done, total int64)) (Coverage, error)
	// Ready returns nil if the engine answers, and nothing tells that it would not complete a
	// write. ErrLost if what is written would not outlast this process.
	Ready(ctx context.Context) error
	// Stats returns figures of the engine. It waits for no commit, so they may be a
	// moment ahead of what is durable. Shared is set also with an error.
	Stats(ctx context.Context) (EngineStats, error)
	// Compact gives unused space back to the file system, beside everything else. It
	// calls progress, from one goroutine, with bytes done and bytes in all, which may
	// grow. ErrBusy if a compaction or a backup runs, ErrFull if there is no room for
	// the copy that it makes. No error and no crash loses anything.
	Compact(ctx context.Context, progress func(done, total int64)) error
	// Backup makes a copy of everything at one instant, without what was deleted,
	// beside everything else, and opens it; it has to be unlocked. The copy is a file of mode 0600 beside
	// path, or beside the engine's own file if path is empty. It has a temporary name,
	// which durable.RemoveLeftovers finds; the caller closes and removes it. Progress
	// and errors are those of Compact, and only one of the two runs at a time.
	Backup(ctx context.Context, path string, progress func(done, total int64)) (backup Engine, temp string, err error)
	// Reseal puts every record again that r seals anew, or that is authenticated under an
	// older key than the newest, in steps beside everything else. It returns how many
	// that were. It calls progress, from one goroutine, with bytes done; the total is 0,
	// since it is not known. After an error some records are still as they were.
	Reseal(ctx context.Context, r Resealer, progress func(done, total int64)) (changed int64, err error)
}

// A FileUpkeep is an engine that has a file of its own, and looks for what that or other files still hold.
type FileUpkeep interface {
	// FindRing reads all of the file, in use or not, and reports whether opens says yes to anything
	// that may have been a sealed key ring. opens gets the ring and whatever follows it.
	FindRing(ctx context.Context, opens func(b []byte) bool) (found bool, err error)
	// RemoveCopies removes what upgrades before that time have kept of earlier forms of
	// the store, and overwrites it. It returns how many files there were. What has a time
	// that cannot be known stays.
	RemoveCopies(ctx context.Context, before time.Time) (n int, err error)
	// AwaitErased waits until what the file held of a push beside its record has been overwritten. The
	// push must have ended, and its files must be gone. If ctx ends first, nothing is known.
	AwaitErased(ctx context.Context, id ID) error
}

// A Resealer seals what a record has sealed anew under the newest keys, and returns it
// unchanged if it is under those already. It is quick, and keeps no reference.
type Resealer interface {
	ResealPush(p Push) (Push, error)
	ResealEntry(id ID, e Entry) (Entry, error)
	// ResealRecord takes a record of any table.
	ResealRecord(r Record) (Record, error)
}
