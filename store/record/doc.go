// Package record has the records of a store, and the interface between decisions and storage:
// package store decides and calls an Engine; packages bolt and postgres are the engines. Both sides
// import this package, and it imports neither.
//
//   - Push, Entry, Account, Session, APIToken, Hook, Request, Message and others are the
//     records. AppendBinary writes one and UnmarshalBinary reads it; keys are not part of it.
//   - Rules decide changes inside an engine's transaction: see Rule.
//   - Errors are those of engines and stores.
//   - SealRow and OpenRow authenticate rows, so that an engine believes only what pushbox wrote.
//
// Sealed parts of a record are sealed before an engine gets them: it sees no secret and needs only
// the keys of rows.
package record
