// Package model compares a store with maps.
//
// It runs random sequences of operations of the whole store: pushes of all
// kinds, grants and downloads, edits, lists, search, audit, accounts, tokens, sessions,
// sweeps, a moving clock and restarts. After each operation it compares every push,
// after each sequence it checks the file.
//
// Longer:
//
//	PUSHBOX_TEST_MODEL_SEQUENCES=100000 go test ./store/harness/model -timeout 2h
//
// A failure prints the sequence, shrunk by rapid, and the -rapid.seed that repeats it.
package model
