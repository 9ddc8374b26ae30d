package record

import (
	"bytes"
	"slices"
)

// The tables of records that operations over a Tx change.
var (
	Accounts    = table("account", RecordAccount, keyless[Account], AccountsByEmail, AccountsByIdentity).numbered()
	Sessions    = table("session", RecordSession, readSession, SessionsByOwner).numbered().owned(SessionsByOwner)
	Tokens      = table("token", RecordToken, keyless[APIToken], TokensByID, TokensByOwner).numbered().owned(TokensByOwner)
	Hooks       = placed[Hook](Table{Name: "hook", Dumped: RecordHook, many: "webhooks", most: MaxHooks})
	AdminEvents = table("event", RecordEvent, readEvent)
	Requests    = table("request", RecordRequest, readRequest, RequestsByOwner).owned(RequestsByOwner)
	Messages    = table("message", RecordMessage, readMessage)
	Quotas      = table("quota", RecordQuota, readCount)
	Repeats     = table("repeat", 0, readRepeat).added(Added{Bolt: 10, Postgres: 5})
)

// Their indexes.
var (
	AccountsByEmail    = index("address", func(a Account) [][]byte { return [][]byte{[]byte(a.Email)} })
	AccountsByIdentity = index("identity", func(a Account) (all [][]byte) {
		for _, d := range a.Identities.Digests() {
			all = append(all, bytes.Clone(d[:]))
		}
		return all
	})
	SessionsByOwner = index("owner", func(s Session) [][]byte { return [][]byte{PairKey(uint64(s.Owner), uint64(s.ID))} })
	TokensByID      = index("ID", func(t APIToken) [][]byte { return [][]byte{NumberKey(uint64(t.ID))} })
	TokensByOwner   = index("owner", func(t APIToken) [][]byte { return [][]byte{PairKey(uint64(t.Owner), uint64(t.ID))} })
	RequestsByOwner = &Index{Name: "owner", Tail: len(RequestID{}), Keys: func(r Record) [][]byte {
		q := r.(Request)
		return [][]byte{append(OwnedRequests(q.Owner, q.EndedAt.IsZero()), q.ID[:]...)}
	}}
)

// tables are all of them. Others come behind these.
var tables = func() []*Table {
	all := []*Table{
		Accounts.Table, Sessions.Table, Tokens.Table, Hooks.Table, Requests.Table, Quotas.Table, AdminEvents.Table, Messages.Table,
		Repeats.Table,
	}
	for i, t := range all {
		if t.Dumped == 0 {
			t.Dumped = recordKinds + RecordKind(i)
		}
	}
	return all
}()

// Tables lists them all.
func Tables() []*Table { return slices.Clone(tables) }

// TableOf returns the table of a kind of record in a dump, or nil.
func TableOf(k RecordKind) *Table {
	for _, t := range tables {
		if t.Dumped == k {
			return t
		}
	}
	return nil
}

// Numbered lists the tables that assign numbers, which a dump has, in its order.
func Numbered() (all []*Table) {
	for _, t := range tables {
		if t.isNumbered {
			all = append(all, t)
		}
	}
	return all
}

func index[R Record](name string, keys func(R) [][]byte) *Index {
	return &Index{Name: name, Keys: func(r Record) [][]byte { return keys(r.(R)) }}
}

// keyless begins a record of which the value of its row says all.
func keyless[R Record]([]byte) (r R, ok bool) { return r, true }
