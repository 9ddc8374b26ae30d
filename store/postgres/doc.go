// Package postgres keeps a store in a PostgreSQL database, which several servers share. It
// is the only importer of pgx, and nothing of pgx leaves it.
//
// # What it promises
//
// What package store promises of an engine holds for all servers over one database
// together: a step happens as a whole or not at all, in one order for all of them, and is
// as durable as a commit of that database is. No server keeps anything in memory that
// decides; what it keeps is compared when it writes.
//
// # One statement for a change
//
// A rule runs in Go, on a push that was read; no rule is repeated in SQL. What it decided is
// written by one statement, in one round trip: its part p changes the row of the push if
// that still has the number of changes (seq) that was read, and all other parts take their
// rows from p. If p has no row, another change came first: the push is read again, and the
// rule runs again. This needs no isolation beyond READ COMMITTED, no lock between round
// trips, and no function or trigger. Every row of a push has the push's id first in its key,
// so the tables can be distributed by it.
//
// In front of that, changes of one push wait for each other within a process (turns): rivals
// that meet here cost nothing. The first attempt of a change is by the row that the client's request
// has just read, if it is still there (recent). Such a row may be out of date, so nothing that is
// decided by it counts but a write that succeeds.
//
// A create is one statement, too. Its parts lock what it depends on: the owner's account,
// against its removal; the orphan of its chunks, against those that free them; the quotas of
// its mail.
//
// Creates that wait at the same time share a statement, and so do reads of pushes (batches). With a
// statement for each, on 64 connections, they reach 0.4 of the rate of bare statements; see
// docs/performance.md. Changes share none.
//
// Accounts, sessions, tokens, webhooks and the key ring change together with the instance
// log, which is a chain. So these changes compare the head of the chain, and read it before
// all else that they decide by. The head also has the last number that each kind of record
// was given: there are no sequences.
//
// # Rows that are not believed
//
// A value is a record as package store encodes it, with the same tag as in a bbolt file
// (record.SealRow), for its table and its key. The tag of a push is also for the number of its
// changes. Columns beside a value are for indexes. A read that decides verifies the tag and
// compares the columns. Payloads and chunks are sealed for their place.
//
// Three things are weaker than in a bbolt file. A whole row may be set back to what it was,
// with its columns: there is no sum over all rows, since every write would wait for it. But
// a push counts its audit entries, and the instance log is a chain, so both must be set back
// together. What senders have live (room) has no tag: it is a sum that statements add to,
// and Check compares it with the pushes. Nor have the tries that are counted (tally). And what was deleted stays in dead rows until
// vacuum, in the log, and in backups: keys that turn over are what makes it useless.
//
// # Outcomes that are not known
//
// An answer may be lost after a commit, and PostgreSQL reports success with a mere warning
// when the wait for a standby was cancelled. So each step has a name, 16 random bytes that
// its attempts share and that the audit entry or the row of the push keeps (op). Attempts of
// what the instance log orders have a name each, which its head and the event keep.
// After an error or a warning the step reads again: where it finds its name, it was done,
// and it confirms that with another small write, whose commit waits for the log before it.
// An attempt that may still come can no longer succeed once another has: it compares. So
// none counts as undone while the push is still the one that it was for (trial). If
// a change without an audit entry was overwritten before it could be seen, the step fails
// with record.ErrUnavailable: it may have been done.
//
// A payload is returned only after a write that was acknowledged: where a rule changes
// nothing of a live push, its row is written all the same. So an old primary that comes back
// delivers nothing. An attempt may take three seconds. While no primary answers, steps fail
// with record.ErrUnavailable after a few attempts, and that does not end the server.
//
// # Hosts
//
// Of several hosts the one that takes writes is used. It may be an old primary, in whose
// place a standby is: its timeline tells, to a process that has met the new one. So each
// process asks all hosts every few seconds. After a statement that hung, the next connection
// tries another host first (primaries). A connection that was cut off makes room in the pool at
// once.
//
// Each process looks every second whether the database answers, and whether writes wait for a
// standby that is not connected (record.ErrStandby), as those of an old primary do. It reports
// a change once (Options.Trouble), and is not ready meanwhile.
//
// # Versions
//
// The row schema of meta has the number of the tables, and the lowest number that a program
// must know to use them. So a server keeps running beside a later version whose migration allows
// that. One that does not allow it raises the floor of the key ring in its own transaction,
// after the statements that began: from then on older servers write nothing. They look every
// second, and end (Failed).
//
// # Keys
//
// The row ring has the sealed key ring, with a version that grows. Each server looks at it
// every second, and when it meets a row under a key that it does not know. Rows that are
// sealed anew could miss one that another server writes under an older key just then. So
// Reseal first raises a floor below which statements write nothing, and waits for those that
// began before. A server below the floor reads the ring and continues. What an operation had
// sealed itself before its server took the new ring (record.SealedUnder) is no longer kept:
// the store begins that operation again.
//
// # Moves
//
// A move out of the database marks it by a floor above all versions of the key ring. So each
// statement that compares the floor refuses, and each server that looks for a new ring sees
// the mark within a second and refuses all else. The move first waits for the statements that
// began before: it locks their tables, since one that has no lock yet has no snapshot yet.
//
// # Messages
//
// A message has a lease: a server claims what it is about to send, and no other sends it
// until the lease ends. After a crash another does.
//
// # Connections
//
// Statements are sent unnamed (see poolConfig) where there is a pooler, and nothing depends
// on the state of a connection, so PgBouncer may be in front of the database in transaction
// mode. Without one, what is run often is prepared (see planAge). There is one advisory lock, that of a migration, and it ends with its transaction.
package postgres
