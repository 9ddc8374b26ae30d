// Package store says what a push is and what can never happen to it.
//
// A push is created with a view limit and a time limit. It is live until its last view,
// the end of its time limit, or a delete. These promises hold under concurrency and
// across crashes and restarts:
//
//   - A push whose creation was acknowledged can be retrieved until it ends.
//   - A payload is delivered no more often than the view limit allows. A view is counted
//     and in the audit log, durably, before its payload is returned.
//   - After a push was deleted, or a caller was told that it has expired, nothing of it
//     is delivered, whatever the clock does.
//   - A wrong passphrase, a preview and an error count no view.
//   - Files come back as they were sent, or with an error. A retrieval gives a grant to
//     download them. It outlives the last view, and ends soon: with the time limit or a
//     delete of the push at the latest.
//   - After a sweep nothing is left that belongs to no push.
//   - A token that is unknown or malformed, or whose push was purged, gives one answer:
//     ErrNotFound.
//   - The database holds no payload, file, passphrase, url_token, API token, grant,
//     session, second factor, name or note in clear. It holds url_tokens of owned pushes
//     alone, sealed.
//
// Every change of a push is a Rule: a pure function that an Engine applies and audits
// in one atomic, durable step (rules.go). The store seals, opens, keeps the time, and
// bounds guessing. It never logs and knows nothing of HTTP. An engine sees sealed bytes
// and decides nothing. What becomes of accounts, sessions, API tokens, webhooks, requests
// and events is decided in package cold, over the tables of an engine.
//
// A file named in the singular holds a record (push.go, session.go), in the plural the
// operations on it (pushes.go, sessions.go).
package store
