package postgres

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pushbox/store/record"
)

// Outcomes of an attempt that was not committed.
var (
	// errAgain says that nothing was changed, and that the step may begin again.
	errAgain = errors.New("another change was first")
	// errUnknown says that it is unknown whether the attempt changed anything.
	errUnknown = errors.New("the outcome is not known")
)

// An opName names an attempt, so that its outcome can be read.
type opName [16]byte

func newOp() (op opName) {
	_, _ = rand.Read(op[:]) // never fails: crypto/rand ends the program instead
	return op
}

// again is errAgain with its cause: the database did not answer, or refused.
func again(err error) error { return &againError{err} }

// An againError is errAgain with a cause other than a conflict.
type againError struct{ error }

func (e *againError) Is(target error) bool { return target == errAgain }

func (e *againError) Unwrap() error { return e.error }

// unknown is errUnknown with its cause.
func unknown(err error) error { return &unknownError{err} }

// An unknownError is errUnknown with the error that left the outcome unknown.
type unknownError struct{ error }

func (e *unknownError) Is(target error) bool { return target == errUnknown }

func (e *unknownError) Unwrap() error { return e.error }

// SQLSTATEs with a special treatment.
const (
	diskFull      = "53100"
	outOfMemory   = "53"
	readOnly      = "25006"
	uniqueness    = "23505"
	rollback      = "40" // serialization failures and deadlocks
	cancelled     = "57014"
	statementLost = "40003"
	noSuchTable   = "42P01"
	noSuchColumn  = "42703"
)

// outcome classifies an error of an attempt.
func outcome(err error) error {
	var p *pgconn.PgError
	var unconnected *pgconn.ConnectError
	switch {
	case err == nil, errors.Is(err, errAgain), errors.Is(err, errUnknown):
		return err
	case pgconn.SafeToRetry(err), errors.As(err, &unconnected):
		return again(err)
	case errors.As(err, &p):
		switch {
		case p.Code == diskFull:
			return fmt.Errorf("%w: %s", record.ErrFull, p.Message)
		case p.SeverityUnlocalized == "FATAL" || p.SeverityUnlocalized == "PANIC" || p.Code == statementLost:
			return unknown(err)
		case p.Code == readOnly, p.Code == cancelled, p.Code == noSuchStatement, p.Code == duplicateStatement, strings.HasPrefix(p.Code, rollback), strings.HasPrefix(p.Code, outOfMemory):
			return again(err)
		}
		return err
	case isOwn(err):
		return err
	default: // the connection broke, or the time ran out
		return unknown(err)
	}
}

// isOwn reports whether an error is the decision of a step, and not a failure of the connection.
func isOwn(err error) bool {
	var d *decision
	return errors.As(err, &d)
}

// A decision wraps the error of a step, to distinguish it from errors of the connection.
type decision struct{ error }

func (d *decision) Unwrap() error { return d.error }

func decide(err error) error {
	var d *decision
	if err == nil || errors.As(err, &d) {
		return err
	}
	return &decision{err}
}

// unavailable is the error of unusable with its cause.
func (db *DB) unavailable(err error) error {
	text, refused := reason(err)
	if refused {
		return &refusedError{text}
	}
	return fmt.Errorf("%w: %s", db.unusable(), text)
}

// named returns an error of the server without quoted values, and an error of the connection as
// record.ErrUnavailable.
func (db *DB) named(err error) error {
	var p *pgconn.PgError
	switch err = outcome(err); {
	case err == nil:
		return nil
	case errors.Is(err, errAgain), errors.Is(err, errUnknown):
		return db.unavailable(err)
	case hasCode(err, noSuchTable), hasCode(err, noSuchColumn):
		return fmt.Errorf("%w: its tables do not match its schema number: a build between two releases made them", record.ErrSchema)
	case errors.As(err, &p):
		return fmt.Errorf("the database refused a statement: %s (SQLSTATE %s)", p.Message, p.Code)
	default:
		return err
	}
}

// isTaken reports whether a row could not be added because its key exists.
func isTaken(err error) bool { return hasCode(err, uniqueness) }

func hasCode(err error, code string) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && p.Code == code
}
