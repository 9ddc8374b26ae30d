// Package servertest starts a server for tests: on a listener of its own, over a store
// in a temporary file whose clock the test sets. New without options is a server with
// the default configuration.
//
// It also has the clients that tests need: requests to the API, uploads as bytes on a
// connection, a browser with cookies, and answers that check themselves. An error ends
// the test.
//
// An account comes from one of these:
//
//   - AddAccount adds one with a password, such as for the form of signing in.
//   - AddTokenUser adds one, and returns the header of a program with its API token.
//   - AddSessionUser adds one, and returns the header of a browser with its session.
//   - Actor adds one if it does not exist, and returns who acts in calls of the store.
//
// SignedIn and Browser.SignIn add none: they fill in the form for signing in.
package servertest
