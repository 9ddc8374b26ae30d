// Package record has what a store keeps, and the wall between what a store does and where it
// keeps it: package store decides, and asks an Engine; packages bolt and postgres are the
// engines. Both sides import this package, and it imports neither.
//
//   - Push, Entry, Account, Session, APIToken, Hook, Request, Message and others are the
//     records. AppendBinary writes one and UnmarshalBinary reads it; keys are not part of it.
//   - Rules decide changes inside an engine's transaction: see Rule.
//   - Errors are what engines and stores answer.
//   - SealRow and OpenRow authenticate rows, so that an engine believes only what pushbox wrote.
//
// What is sealed in a record was sealed before: an engine sees no secret and needs no key but
// those of rows.
package record
