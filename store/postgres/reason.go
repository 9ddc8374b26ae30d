package postgres

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

const lateAnswer = "no answer in time"

// reason says in words why the database was not reached: each host once, with what it did.
func reason(err error) string {
	var refused *pgconn.ConnectError
	switch {
	case errors.As(err, &refused):
	case errors.Is(err, context.DeadlineExceeded):
		return lateAnswer
	default:
		return err.Error()
	}
	var hosts []string
	did := map[string][]string{} // by host; a host is tried with and without TLS
	for _, e := range parts(refused.Unwrap()) {
		host, what := hostReason(e)
		if _, known := did[host]; !known {
			hosts = append(hosts, host)
		}
		if !slices.Contains(did[host], what) {
			did[host] = append(did[host], what)
		}
	}
	for i, host := range hosts {
		if hosts[i] = strings.Join(did[host], ", "); host != "" {
			hosts[i] = host + ": " + hosts[i]
		}
	}
	return strings.Join(hosts, "; ")
}

// parts are the errors that were joined into one.
func parts(err error) (all []error) {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if joined, ok := e.(interface{ Unwrap() []error }); ok {
			for _, part := range joined.Unwrap() {
				all = append(all, parts(part)...)
			}
			return all
		}
	}
	return []error{err}
}

// hostReason returns the host that an error of a connection is about, and what the host did.
func hostReason(err error) (host, what string) {
	var unknown *net.DNSError
	if errors.As(err, &unknown) {
		return unknown.Name, unknown.Err
	}
	host, what, _ = strings.Cut(err.Error(), ": ") // ADDRESS (NAME): STEP: CAUSE
	if _, cause, ok := strings.Cut(what, ": "); ok {
		what = cause
	}
	if address, name, ok := strings.Cut(strings.TrimSuffix(host, ")"), " ("); ok && strings.Contains(address, name) {
		host = address
	}
	var code syscall.Errno
	var answer *pgconn.PgError
	switch {
	case errors.As(err, &answer):
		what = answer.Message
	case errors.As(err, &code):
		what = code.Error()
	case errors.Is(err, context.DeadlineExceeded):
		what = lateAnswer
	case errors.Is(err, pgconn.ErrReadOnlyConnection):
		what = "it takes no writes"
	case errors.Is(err, errOldPrimary):
		what = errOldPrimary.Error()
	}
	return host, what
}
