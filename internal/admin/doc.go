// Package admin administers a store: accounts, API tokens, webhooks, the master key,
// checks, compaction and backups.
//
// Each operation is an Op. A command does it to a store that it opened itself (Op.Do), or
// calls the server that has the store open (Op.Call). Both give the same result and the
// same errors.
//
// The server listens on a Unix socket in the data directory. A process that can connect to
// it may do every operation, so the socket and the directory are for their owner alone.
package admin
