// Package backup keeps copies of a database as files: how they are named, written
// so that they last, encrypted to age recipients, read again, and kept in number.
// What is in a copy it does not know.
package backup
