// Package linear checks that histories of mixed operations on a server are
// linearizable.
//
// Twelve clients create, retrieve (with the right passphrase, a wrong one, none),
// delete, preview and audit over a real listener, while a clock moves and sweeps run.
// Each push's history must have an order that a sequential model allows; porcupine
// searches for it. Time is no operation of the model: each call has the clock before
// and after it, and the instant in its answer must lie between.
//
// In one round of six the server is this test's own binary in another process, which
// is killed at random and started again over the same files, after a check of them. A
// call in flight then has no answer: the model lets it take effect before the kill or
// never, not later.
//
// The same is done with two servers over one PostgreSQL: half of the clients ask each of
// them, and in one round of six they are two processes, one of which is killed at a time.
//
// Longer:
//
//	PUSHBOX_TEST_LINEAR_OPS=10000000 go test ./server/harness/linear -run MixedOperations -timeout 24h
//
// PUSHBOX_TEST_SEED repeats the clients' choices, not their timing. A failure prints
// the push's history; -artifacts keeps a picture.
//
// Beside it are the races for the last views of a push, over HTTP and by the page.
package linear
