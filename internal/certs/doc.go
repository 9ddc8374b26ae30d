// Package certs has the certificates that the server shows: a pair of files that
// somebody else looks after, or certificates that are fetched by ACME (RFC 8555)
// and renewed in time.
//
// What it serves it keeps on serving: a new pair of files that is broken, or a
// certificate authority that does not answer, takes away nothing. What an operator
// should know of it is told as an Event; nothing is logged here. The protocol is
// acmez's; when to order, what to serve meanwhile and where to keep it is decided
// here.
package certs
