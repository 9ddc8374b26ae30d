// Package postgres keeps a store in a PostgreSQL database, which several servers share. Only this
// package imports pgx, and its API does not show pgx.
//
// # What it promises
//
// The promises of an engine hold for all servers over one database together: a step happens as a
// whole or not at all, in one order for all of them, and is as durable as a commit of that
// database. A server may cache rows in memory, but each write compares them with the database.
//
// # One statement for a change
//
// A rule runs in Go, on a push that was read; no rule is repeated in SQL. What it decided is
// written by one statement, in one round trip: its part p changes the row of the push if
// that still has the number of changes (seq) that was read, and all other parts take their
// rows from p. If p has no row, another change was first: the push is read again, and the
// rule runs again. This needs no isolation beyond READ COMMITTED, no lock between round
// trips, and no function or trigger. Every row of a push has the push's id first in its key,
// so the tables can be distributed by it.
//
// Before that, changes of one push wait for each other within a process (turns), which avoids
// conflicts in the database. The first attempt of a change uses the row that the client's request
// has just read, if it is still cached (recent). Such a row may be out of date, so a decision from
// it counts only if its write succeeds.
//
// A create is one statement, too. Its parts lock the rows that it depends on: the owner's account,
// so that it is not removed; the orphan of its chunks, so that they are not freed; and the quotas
// of its mail.
//
// Creates that wait at the same time share a statement, and so do reads of pushes (batches). With a
// statement for each, on 64 connections, they reach 0.4 of the rate of bare statements; see
// docs/performance.md. Changes do not share statements.
//
// Accounts, sessions, tokens, webhooks and the key ring change together with the instance log,
// which is a chain. So these changes compare the head of the chain, and read it before all other
// rows. The head also has the last number of each kind of record: there are no sequences.
//
// # Rows that pushbox did not write
//
// A value is an encoded record with the same tag as in a bbolt file (record.SealRow), which covers
// its table and its key. The tag of a push also covers the number of its changes. Columns beside a
// value are for indexes. A read that decides verifies the tag and compares the columns. Payloads
// and chunks are sealed for their place.
//
// Three things are weaker than in a bbolt file. An attacker may restore an older version of a row
// with its columns: there is no sum over all rows, since every write would wait for it. But a push
// counts its audit entries, and the instance log is a chain, so both must be set back together. The
// room of senders (room) has no tag: statements add to it, and Check compares it with the pushes.
// Counted tries (tally) have no tag, either. And deleted data stays in dead rows until vacuum, in
// the log, and in backups: it becomes useless when its keys are dropped.
//
// # Unknown outcomes
//
// An answer may be lost after a commit, and PostgreSQL reports success with a mere warning when the
// wait for a standby was cancelled. So each step has a name of 16 random bytes, which its attempts
// share and which the audit entry or the row of the push keeps (op). For changes that the instance
// log orders, each attempt has its own name, which the head and the event keep. After an error or a
// warning the step reads again. If it finds its name, it was committed, and it confirms that with
// another small write, whose commit waits for the log before it. An attempt that still runs cannot
// succeed once another has, because it compares. So no attempt counts as undone while the row of
// the push is still the one that it was planned for (trial). If a change without an audit entry was
// overwritten before it could be seen, the step fails with record.ErrUnavailable: it may have been
// committed.
//
// A payload is returned only after an acknowledged write: if a rule does not change a live push,
// its row is written anyway. So an old primary that comes back delivers nothing. An attempt may
// take three seconds. While no primary answers, steps fail with record.ErrUnavailable after a few
// attempts, and that does not end the server.
//
// # Hosts
//
// Of several hosts, pushbox uses the one that accepts writes. That may be an old primary that a
// standby has replaced: a process that has met the new primary can see this by the timeline. So
// each process asks all hosts every few seconds. After a statement that hung, the next connection
// tries another host first (primaries). A broken connection frees its place in the pool at once.
//
// Each process checks every second whether the database answers, and whether writes wait for a
// standby that is not connected (record.ErrStandby), as on an old primary. It reports a change once
// (Options.Trouble), and is not ready meanwhile.
//
// # Versions
//
// The row schema of meta has the number of the tables, and the lowest number that a program must
// know to use them. So a server keeps running beside a later version if its migration allows that.
// Any other migration raises the floor of the key ring in its own transaction, after the running
// statements: from then on older servers cannot write. They check every second, and end (Failed).
//
// # Keys
//
// The row ring has the sealed key ring, with a version that grows. Each server reads it every
// second, and when it meets a row under an unknown key. Reseal could miss a row that another server
// writes under an older key at the same time. So it first raises a floor below which statements
// write nothing, and waits for running statements. A server below the floor reads the ring and
// continues. An operation that sealed something before its server loaded the new ring
// (record.SealedUnder) is refused: the store begins it again.
//
// # Moves
//
// A move out of the database marks it by a floor above all versions of the key ring. So each
// statement that compares the floor refuses, and each server that looks for a new ring sees the
// mark within a second and refuses everything else. The move first waits for running statements by
// locking their tables: a statement without a lock has no snapshot yet.
//
// # Messages
//
// A message has a lease: a server claims a message before it sends it, and no other server sends it
// until the lease ends. After a crash another server does.
//
// # Connections
//
// Behind a pooler, statements are sent unnamed (see poolConfig). Nothing depends on the state of a
// connection, so PgBouncer may run in transaction mode. Without a pooler, frequent statements are
// prepared (see planAge). The only advisory lock is that of a migration, which ends with its
// transaction.
package postgres
