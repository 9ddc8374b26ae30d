// Package mail sends the links of pushes to people, through a server that takes mail
// for everybody.
//
// What is to be sent waits in the store's outbox, where it was put in the same
// transaction as the push or as the audit entry. A Mailer takes it from there, one mail
// after the other, over one connection at a time. A mail is accepted by the server at
// least once; or its push ends before, and then it is not sent; or it is refused for
// good, or given up, with a line in the log. Of addresses and links nothing reaches a
// log.
//
// The connection is encrypted and the server's certificate is checked, unless the
// settings say otherwise: a server that does not offer STARTTLS any more gets no mail.
package mail
