// Package moving takes accounts and live pushes of a Password Pusher server into a store.
//
// It reads the dump four times, so that it holds no more than the accounts, and the audit
// logs and files' names of live pushes:
//
//  1. It finds out which pushes are live, and which files belong to a push. If the dump has no
//     account and no push, or the master keys open nothing, the run ends here.
//  2. It stores accounts, and collects the audit logs and the files of live pushes.
//  3. It stores each live push in a separate transaction.
//  4. It compares the store with the dump.
//
// It loses no view: it leaves out a push if an entry of its audit log cannot be counted, and counts
// entries even if their texts cannot be read. It does not change records of earlier or interrupted
// runs.
package moving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"pushbox/internal/humanize"
	"pushbox/internal/pwpush"
	"pushbox/store"
	"pushbox/store/record"
)

// Options say what to move, and from where.
type Options struct {
	Dump    io.ReadSeeker // of the database, as plain SQL
	Keys    pwpush.Keys
	Storage *pwpush.Storage // of the files; nil: pushes with files are left out
	DryRun  bool            // change nothing, and report what would be imported

	// Join gives pushes and API tokens also to accounts that were not imported, but made here
	// with the same address. They keep their passwords and second factors.
	Join bool

	Actor    store.Actor                      // who moves
	Progress func(done, total int64)          // of bytes that were read, over all times
	LeftOut  func(what string, why error)     // called for each record that is left out; contains no secret
	Remark   func(what string, remark string) // called for each record that is imported with changes
}

// A Count has the results for the rows of a kind.
type Count struct {
	Came    int // with a dry run: would come
	There   int // were there before
	LeftOut int
}

// of is the number of rows of which that became.
func (c *Count) of(err error) *int {
	switch {
	case err == nil:
		return &c.Came
	case errors.Is(err, record.ErrExists):
		return &c.There
	}
	return &c.LeftOut
}

// Total is how many rows there were.
func (c Count) Total() int { return c.Came + c.There + c.LeftOut }

// A Result has the numbers of moved records.
type Result struct {
	Accounts, Tokens, Pushes, Files Count
	Entries                         int // of the audit logs of pushes that came
	Ended                           int // pushes of the dump that had ended: nothing of them comes
}

// Errors of a move.
var (
	// ErrEmpty is a dump without a row of an account or a push.
	ErrEmpty = errors.New("the dump has no account and no push")

	// ErrDiffers says that a push in the store differs from the dump.
	ErrDiffers = errors.New("it differs from the dump")

	// ErrNoStorage is a push with files where no directory of files was named.
	ErrNoStorage = errors.New("its files are in the storage directory, which was not named")

	// ErrMadeHere is an account whose address one has that was made here, maybe by another
	// person.
	ErrMadeHere = errors.New("an account with its address was made here")

	errUnconfirmed = errors.New("its address was never confirmed, so it could not be used")

	errNoBlob = errors.New("the dump does not have its file")
	errOwner  = errors.New("its account was left out")
	errToken  = errors.New("its url_token has a form that a link cannot have")
)

type move struct {
	Options
	store *store.Store
	Result

	owners   map[int64]record.Account // by the ID in the dump
	live     map[pwpush.Ref]bool
	spoiled  map[pwpush.Ref]error // pushes to which a row belongs that means nothing
	rows     int                  // of accounts and pushes
	shut     bool                 // an encrypted value was found, and no master key has opened one yet
	opened   bool                 // they opened something
	tokens   map[string]bool      // of the table current, whose rows count where older tables have them too
	attached map[pwpush.Ref][]int64
	blobs    map[int64]pwpush.Blob
	logs     map[pwpush.Ref][]pwpush.Entry
}

// Run moves accounts and live pushes. If a dump cannot be read to its end, the error is a
// *pwpush.DumpError; records imported until then stay.
func Run(ctx context.Context, s *store.Store, o Options) (Result, error) {
	m := &move{
		Options: o, store: s,
		owners: make(map[int64]record.Account),
		live:   make(map[pwpush.Ref]bool), spoiled: make(map[pwpush.Ref]error), tokens: make(map[string]bool),
		attached: make(map[pwpush.Ref][]int64), blobs: make(map[int64]pwpush.Blob), logs: make(map[pwpush.Ref][]pwpush.Entry),
	}
	steps := []func(context.Context, pwpush.Row) error{m.first, m.second, m.third, m.compare}
	if o.DryRun {
		steps = steps[:3]
	}
	for i, step := range steps {
		if err := m.pass(ctx, i, len(steps), step); err != nil {
			return m.Result, err
		}
		switch {
		case m.rows == 0:
			return m.Result, ErrEmpty
		case m.shut && !m.opened:
			return m.Result, pwpush.ErrSealed
		}
		if i == 0 {
			m.wanted()
		}
	}
	if o.DryRun {
		return m.Result, nil
	}
	came := humanize.Count(m.Accounts.Came, "account", "accounts") + ", " + humanize.Count(m.Pushes.Came, "push", "pushes")
	return m.Result, s.NoteImport(ctx, o.Actor, came)
}

// pass gives each row of the dump to a function. It is pass i of n.
func (m *move) pass(ctx context.Context, i, n int, each func(context.Context, pwpush.Row) error) error {
	size, err := m.Dump.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = m.Dump.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	in := &counted{Reader: m.Dump, done: func(done int64) { m.Progress(int64(i)*size+done, int64(n)*size) }}
	rows := pwpush.NewReader(in)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := rows.Next()
		bad := (*pwpush.RowError)(nil)
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &bad):
			if i == 0 {
				m.refuse(bad)
			}
		case err != nil:
			return err
		default:
			if err := each(ctx, row); err != nil {
				return err
			}
		}
	}
}

type counted struct {
	io.Reader
	n    int64
	done func(int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	c.done(c.n)
	return n, err
}

// refuse leaves out a row that means nothing, and the push that it belongs to: it may be a
// view, or a file.
func (m *move) refuse(bad *pwpush.RowError) {
	switch bad.Table {
	case "users":
		m.rows++
		m.Accounts.LeftOut++
	case current, "passwords", "file_pushes", "urls":
		m.rows++
		m.Pushes.LeftOut++
		if bad.Table == current {
			m.tokens[bad.URLToken.Reveal()] = true
		}
	}
	if bad.Push != (pwpush.Ref{}) {
		m.spoiled[bad.Push] = bad
		return
	}
	m.LeftOut("a row", bad)
}

// first notes which pushes are live, which files they have, and whether the keys fit.
func (m *move) first(_ context.Context, row pwpush.Row) error {
	switch r := row.(type) {
	case pwpush.User:
		m.rows++
		m.try(r.TOTP)
	case pwpush.Push:
		m.rows++
		if r.Table == current {
			m.tokens[r.URLToken.Reveal()] = true
		}
		if r.Expired || r.Deleted {
			m.Ended++
			return nil
		}
		m.live[r.Ref] = true
		m.try(r.Payload)
	case pwpush.Attachment:
		m.attached[r.Push] = append(m.attached[r.Push], r.BlobID)
	}
	return nil
}

func (m *move) try(sealed pwpush.Sealed) {
	if m.opened || sealed.IsZero() {
		return
	}
	_, err := m.Keys.Open(sealed)
	m.opened, m.shut = err == nil, true
}

// current is the table of pushes since version 1.56. A dump from the time of that change has
// pushes in the older tables, too.
const current = "pushes"

// second stores accounts, and collects the files and the audit logs of live pushes.
func (m *move) second(ctx context.Context, row pwpush.Row) error {
	switch r := row.(type) {
	case pwpush.User:
		return m.user(ctx, r)
	case pwpush.Blob:
		if _, ok := m.blobs[r.ID]; ok {
			m.blobs[r.ID] = r
		}
	case pwpush.Entry:
		if m.live[r.Push] {
			m.logs[r.Push] = append(m.logs[r.Push], r)
		}
	}
	return nil
}

// wanted selects the files to look for, and drops those of pushes that have ended.
func (m *move) wanted() {
	for ref, ids := range m.attached {
		if !m.live[ref] {
			delete(m.attached, ref)
			continue
		}
		for _, id := range ids {
			m.blobs[id] = pwpush.Blob{}
		}
	}
}

func (m *move) third(ctx context.Context, row pwpush.Row) error {
	p, ok := row.(pwpush.Push)
	if !ok || !m.mine(p) {
		return nil
	}
	what := naming(p)
	err := m.push(ctx, p)
	if err != nil {
		delete(m.live, p.Ref) // one that was there may have changed here
	}
	switch {
	case errors.Is(err, store.ErrEnded):
		m.Ended++
	case fatal(err):
		return fmt.Errorf("%s: %w", what, err)
	default:
		*m.Pushes.of(err)++
		*m.Files.of(err) += len(m.attached[p.Ref])
		m.leaveOut(what, err)
	}
	return nil
}

// mine reports whether the push is live, and its row the one that counts.
func (m *move) mine(p pwpush.Push) bool {
	return m.live[p.Ref] && (p.Table == current || !m.tokens[p.URLToken.Reveal()])
}

// entryKinds are the kinds of entries that come. Administrators of Password Pusher can see
// pushes, which pushbox does not have.
var entryKinds = map[string]record.EntryKind{
	"creation": record.EntryCreation, "view": record.EntryView, "failed_view": record.EntryFailedView, "expire": record.EntryExpire,
	"failed_passphrase": record.EntryFailedPassphrase, "owner_view": record.EntryOwnerView, "edit": record.EntryEdit,
}

// plain removes what no text may have.
func plain(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
