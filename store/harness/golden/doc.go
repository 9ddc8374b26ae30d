// Package golden opens a database of each older schema, as a version of that time left
// it, and finds in it all that was put into it: every kind of push in
// every state, accounts, sessions, tokens, files, grants and messages. The databases
// lie in testdata/databases, beside their keys and a list of what they hold.
//
//	go test ./store/harness/golden
//
// docs/upgrading.md says when to make a new one:
//
//	go test ./store/harness/golden -run MakeAGoldenDatabase -update
package golden
