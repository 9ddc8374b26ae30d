package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The errors that callers tell apart, beside *StatusError and *RedirectError.
var (
	// ErrExpired: there was a push, and nothing of it is left.
	ErrExpired = errors.New("the push has expired")

	// ErrPassphrase: the push opens with a passphrase, and this was not it.
	ErrPassphrase = errors.New("that passphrase is incorrect")

	// ErrStalled: nothing moved for longer than Options.Stall.
	ErrStalled = errors.New("nothing moves any more")

	// ErrAnswer: the answer is none of this API.
	ErrAnswer = errors.New("the server does not answer as the API of Password Pusher, version 2, does")

	// ErrChanged: a file is not as long as it was when the upload began.
	ErrChanged = errors.New("the file changed while it was read")
)

// A StatusError is a refusal by the server.
type StatusError struct {
	Status     int
	Reason     string        // the server's own words, on one line; empty if it has none
	RetryAfter time.Duration // 0: it does not say

	passphrase bool // it is about the passphrase
	takesOurs  bool // the server knows the header that passphrases are sent in
}

// Error is the reason, or else what the status means.
func (e *StatusError) Error() string {
	if e.Reason != "" {
		return e.Reason
	}
	return fmt.Sprintf("the server answers %d %s", e.Status, http.StatusText(e.Status))
}

// Is reports whether the refusal is ErrPassphrase.
func (e *StatusError) Is(target error) bool { return target == ErrPassphrase && e.passphrase }

// A RedirectError says that the server points to another address, to which
// nothing is sent.
type RedirectError struct {
	To string // scheme, host and port; empty if it is none to go to
}

// Error names the other address, without its path.
func (e *RedirectError) Error() string {
	if e.To == "" {
		return "the server points to another address, and that is none to go to"
	}
	return "the server points to another address, on " + e.To
}

// A CutError is a download that ended before its file did.
type CutError struct {
	Done, Total int64 // bytes; a Total below 0 is not known
	Err         error // why it was given up
}

func (e *CutError) Error() string { return e.Err.Error() }
func (e *CutError) Unwrap() error { return e.Err }

// reasonOf makes one line of what a refusal says: the fields that are wrong, or
// else a sentence, or else a word.
func reasonOf(body object) string {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(body)) {
		texts, _ := read[[]string](body, name)
		for _, text := range texts {
			wrong = append(wrong, name+" "+text)
		}
	}
	if len(wrong) > 0 {
		return plain(strings.Join(wrong, "; "))
	}
	return plain(body.first("message", "error"))
}

// plain makes a text from a server fit for a line of a terminal.
func plain(text string) string {
	const longest = 500 // bytes
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > longest {
		text = text[:longest]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		text += "…"
	}
	return strings.Join(strings.Fields(text), " ")
}

// cause is why a request ended: that its context did, rather than what the
// connection made of it.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
