// Package slow has slow clients connect to pushbox, and a healthy client use it at the same
// time.
//
// TestSlowClientsKeepNoOtherClientOut runs slowhttptest with many connections of each
// kind, one kind after the other: they send headers or bodies of forms slowly, or read a
// page, a text of 1 MB or a file slowly. Meanwhile a healthy client creates, retrieves and
// opens pushes. It must get every answer before a slow request ends; the server's memory is
// bounded. How long its answers took is in the log of the test.
//
// It needs Linux and slowhttptest, and as many descriptors as connections: where a process
// may not have them it takes fewer and says so.
//
// PUSHBOX_TEST_SLOW_CLIENTS is how many connections there are; docs/testing.md has the
// ordinary number. From 4,000 on each kind lasts 75 s, longer than a request may take, so
// that the server must end them:
//
//	PUSHBOX_TEST_SLOW_CLIENTS=4000 go test ./internal/harness/slow -timeout 20m -v
//
// Measured before e53b252 (2026-11-22) with 1,000 connections: median 1 to 2 ms (15 beside
// readers of a long text), worst 0.24 s, at most 121 MiB. With 4,000: median 1 to 20 ms,
// worst 1.5 s, at most 124 MiB, and 176 for readers of what is large.
package slow
