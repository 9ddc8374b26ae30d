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

// Errors that callers distinguish, beside *StatusError and *RedirectError.
var (
	// ErrExpired says that the push has ended.
	ErrExpired = errors.New("the push has expired")

	// ErrPassphrase says that the push has a passphrase, and this one is missing or wrong.
	ErrPassphrase = errors.New("that passphrase is incorrect")

	// ErrStalled says that no byte moved for longer than Options.Stall.
	ErrStalled = errors.New("the transfer stalled: no data arrived for too long")

	// ErrAnswer says that the answer does not follow this API.
	ErrAnswer = errors.New("the server does not answer as the API of Password Pusher, version 2, does")

	// ErrChanged says that the length of a file changed during the upload.
	ErrChanged = errors.New("the file changed while it was read")
)

// A StatusError is a refusal by the server.
type StatusError struct {
	Status     int
	Reason     string        // the server's own words, on one line; empty if it has none
	RetryAfter time.Duration // 0: unknown

	passphrase bool // it is about the passphrase
	takesOurs  bool // the server accepts passphraseHeader
}

// Error returns the reason, or else the meaning of the status.
func (e *StatusError) Error() string {
	if e.Reason != "" {
		return e.Reason
	}
	return fmt.Sprintf("the server answers %d %s", e.Status, http.StatusText(e.Status))
}

// Is reports whether the refusal is ErrPassphrase.
func (e *StatusError) Is(target error) bool { return target == ErrPassphrase && e.passphrase }

// A RedirectError says that the server redirects to another address. Nothing is sent
// there.
type RedirectError struct {
	To string // scheme, host and port; empty if the address is not usable
}

// Error names the other address, without its path.
func (e *RedirectError) Error() string {
	if e.To == "" {
		return "the server redirects to an address that cannot be followed"
	}
	return "the server redirects to another address, on " + e.To
}

// A CutError says that a download ended before the end of the file.
type CutError struct {
	Done, Total int64 // bytes; a Total below 0 is not known
	Err         error // why the download ended
}

func (e *CutError) Error() string { return e.Err.Error() }
func (e *CutError) Unwrap() error { return e.Err }

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

// cause returns why a request ended: the cause of its context, if that has ended, and not
// the error of the connection that follows from it.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
