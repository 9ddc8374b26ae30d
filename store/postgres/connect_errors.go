package postgres

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"pushbox/store/record"
)

const lateAnswer = "no answer in time"

// ErrRefused says that the database servers answer but refuse pushbox: the database or role does
// not exist, or the password is wrong. It wraps record.ErrUnavailable: pushbox continues once they
// accept it.
var ErrRefused = errors.New("the database server refuses the connection")

// A refusedError is ErrRefused with the answer of each host.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return ErrRefused.Error() + ": " + e.text }
func (e *refusedError) Is(target error) bool {
	return target == ErrRefused || target == record.ErrUnavailable
}

// Classes of SQLSTATEs with which a server refuses a connection for good.
const (
	noDatabase = "3D"
	noEntry    = "28" // an unknown role, a wrong password, or no line in pg_hba.conf
)

// isRefusal reports whether an error is such a refusal.
func isRefusal(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (strings.HasPrefix(answer.Code, noDatabase) || strings.HasPrefix(answer.Code, noEntry))
}

// reason describes why the database was not reached: each host once, with its answer. refused
// reports whether a host answered and refused.
func reason(err error) (text string, refused bool) {
	var failed *pgconn.ConnectError
	switch {
	case errors.As(err, &failed):
	case errors.Is(err, context.DeadlineExceeded):
		return lateAnswer, false
	default:
		return err.Error(), false
	}
	var hosts []string
	did := map[string][]string{}      // by host; a host is tried with and without TLS
	refusals := map[string][]string{} // replaces all other answers of these hosts
	for _, e := range parts(failed.Unwrap()) {
		host, what := hostReason(e)
		if isRefusal(e) {
			refusals[host] = []string{what}
		}
		if _, known := did[host]; !known {
			hosts = append(hosts, host)
		}
		if !slices.Contains(did[host], what) {
			did[host] = append(did[host], what)
		}
	}
	maps.Copy(did, refusals)
	for i, host := range hosts {
		if hosts[i] = strings.Join(did[host], ", "); host != "" {
			hosts[i] = host + ": " + hosts[i]
		}
	}
	return strings.Join(hosts, "; "), len(refusals) > 0
}

// parts returns the errors that were joined into one.
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

// hostReason returns the host of a connection's error, and its answer.
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
		what = "it accepts no writes"
	case errors.Is(err, errOldPrimary):
		what = errOldPrimary.Error()
	}
	return host, what
}
