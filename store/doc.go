// Package store says what a push is and what can never happen to it.
//
// A push is created with a view limit and a time limit. It is live until the
// first of: its last view, its time, a hand. These hold, under concurrency and
// across crashes and restarts:
//
//   - A push that was acknowledged can be retrieved until one of the three.
//   - Payloads are delivered no more often than the view limit allows. A view is
//     counted, and in the audit log, durably, before its payload is given out.
//   - After a push was deleted, or anybody was told that it has expired, nothing
//     is delivered any more, whatever the clock does.
//   - A wrong passphrase, a preview and an error count no view.
//   - Files come back as they were sent, or with an error. They can be downloaded
//     under a grant, which a retrieval gives and which ends soon, with the push's
//     time limit, or by a hand, but not with the last view.
//   - What belongs to no push is gone after a sweep.
//   - What is unknown, malformed and purged is one: ErrNotFound.
//   - The database holds no payload, file, passphrase, url_token, API token, grant,
//     session, second factor, name or note in clear; a url_token it does not hold at all, but sealed for owners.
//
// Every change of a push is a Rule: a pure function, applied and audited by an
// Engine in one atomic, durable step (rules.go). The store seals, opens, keeps
// the time, and bounds guessing; it never logs and knows nothing of HTTP. An
// engine sees sealed bytes and decides nothing.
package store
