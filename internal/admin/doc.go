// Package admin administers a store: accounts, API tokens, the check of
// everything, compaction, and backups.
//
// There is one table of operations. A command runs an operation on a store
// that it opened itself (Op.Do), or asks the server that has it open to do so
// (Op.Call); the outcome is the same, errors included.
//
// The server answers on a Unix socket in the data directory. Whoever can
// connect to it may do everything, so the socket is for its owner alone, in a
// directory that is for its owner alone.
package admin
