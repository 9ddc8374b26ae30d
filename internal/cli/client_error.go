package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"pushbox/internal/client"
	"pushbox/internal/hint"
)

// remoteError says what could not be done where, and what to do about it.
func remoteError(doing string, s client.Server, err error) error {
	next := remoteHint(err)
	switch {
	case errors.Is(err, context.Canceled):
		err = errInterrupted
	case errors.Is(err, client.ErrStalled):
		err = fmt.Errorf("%w: %v without a byte", err, stallTimeout)
	}
	return hint.With(fmt.Errorf("%s %s: %w", doing, s, err), "%s", next)
}

func remoteHint(err error) string {
	refused, redirect := (*client.StatusError)(nil), (*client.RedirectError)(nil)
	switch {
	case errors.Is(err, client.ErrPassphrase):
		return "give the passphrase with --passphrase or --passphrase-file"
	case errors.As(err, &refused):
		return statusHint(refused)
	case errors.As(err, &redirect):
		return "if that is the server you mean, use its address: nothing was sent there"
	}
	for _, known := range remoteHints() {
		if errors.Is(err, known.err) {
			return known.hint
		}
	}
	return connectionHint(err)
}

func remoteHints() []knownHint {
	return []knownHint{
		{context.Canceled, "run the command again"},
		{client.ErrExpired, "ask the sender to push it again"},
		{client.ErrAnswer, "check the address; what answers there is neither pushbox nor Password Pusher with its API"},
		{client.ErrStalled, "check the network, then run the command again"},
		{client.ErrChanged, "wait until nothing writes to the file, then run the command again"},
		{syscall.ECONNREFUSED, "check the address and its port, and that the server runs"},
	}
}

// connectionHint is for failures of the connection.
func connectionHint(err error) string {
	untrusted, name, plain := (*tls.CertificateVerificationError)(nil), (*net.DNSError)(nil), tls.RecordHeaderError{}
	switch {
	case errors.As(err, &plain):
		return "the server has no TLS at this address: check the port, or use http:// where that is safe"
	case errors.As(err, &untrusted):
		return "check the address; if the server has a certificate of a private authority, name that with --ca-file"
	case errors.As(err, &name):
		return "check the name of the host, and the network"
	}
	return "check the network, and run the command again"
}

// statusHint is what to do about a refusal.
func statusHint(e *client.StatusError) string {
	switch {
	case e.RetryAfter > 0:
		return fmt.Sprintf("run the command again in %v", e.RetryAfter.Round(time.Second))
	case e.Status == http.StatusUnauthorized:
		return "give a valid API token of the server with --token-file, and the server it is for with --url; `pushbox token create EMAIL` makes one there"
	case e.Status == http.StatusForbidden:
		return "give an API token of the push's owner with --token-file"
	case e.Status == http.StatusNotFound:
		return "check the link; the server forgets pushes some time after they expire"
	case e.Status == http.StatusRequestEntityTooLarge:
		return "push less, or ask the server's administrator for a higher limit"
	case e.Status == http.StatusUnprocessableEntity:
		return "correct what it names, then run the command again"
	case e.Status == http.StatusTooManyRequests, e.Status == http.StatusServiceUnavailable:
		return "run the command again in a minute"
	case e.Status == http.StatusInsufficientStorage:
		return "ask the server's administrator to make room"
	case e.Status >= http.StatusInternalServerError:
		return "try again later; the server's log has the cause"
	default:
		return "check the address, and what was asked for"
	}
}
