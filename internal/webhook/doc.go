// Package webhook tells people's own servers what happened to their pushes.
//
// What is to be told waits in the store's outbox, where it was put in the same
// transaction as the audit entry that it tells of. A Dispatcher takes it from there
// and sends it, as the Standard Webhooks specification has it: a POST of JSON, with
// an ID that stays the same over all tries, a time stamp, and an HMAC-SHA256 of both
// and of the body. A message is delivered at least once, or given up with a line in
// the log.
//
// An address comes from somebody who has an account, and the server that sends there
// stands where others cannot: beside databases and cloud metadata. So a Policy says
// where messages may go, and it is asked for the address that a connection is about to
// be made to, after names were resolved. No proxy stands between, and no redirect is
// followed.
package webhook
