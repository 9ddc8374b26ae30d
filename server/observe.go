package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"pushbox/store"
)

// An Observer is told of requests: of names that the program has, never of what a
// request says. It is called by many goroutines at the same time and must be quick.
type Observer interface {
	// Began tells of a request that begins. Ended follows in any case.
	Began()
	// Ended tells of a request that was answered: its label is one of Labels. The
	// status is 0 where there was no answer.
	Ended(l Label, status int, took time.Duration)
	// Limited tells of a request that a limit refused; it is one of Limits.
	Limited(limit string)
}

// A Label is what a request counts as: the name and the method of its route.
// Requests that no route is for are told apart by their methods alone.
type Label struct{ Route, Method string }

// otherMethod stands for all methods that have no name in HTTP (RFC 9110 section 9).
const otherMethod = "other"

// methodNames are the methods that requests without a route can be told apart by.
func methodNames() []string {
	return []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace, otherMethod,
	}
}

// Labels lists every Label there can be, once.
func Labels() []Label {
	var all []Label
	for _, row := range new(Server).routes() {
		if l := (Label{row.name, row.method}); !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	for _, m := range methodNames() {
		all = append(all, Label{noRouteName, m})
	}
	return all
}

// label is what a request counts as.
func (s *Server) label(r *request) Label {
	switch {
	case r.route != nil:
		return Label{r.route.name, r.route.method}
	case slices.Contains(methodNames(), r.Method):
		return Label{noRouteName, r.Method}
	default:
		return Label{noRouteName, otherMethod}
	}
}

// Names of limits that are none of the store's.
const (
	limitAnonymous  = "anonymous"      // requests of an anonymous client
	limitToken      = "token"          // requests with an API token, or of an account
	limitUnknown    = "unknown_tokens" // links that lead nowhere
	limitSignUps    = "sign_ups"
	limitQueue      = "queue"       // of passphrases to be checked, and of searches
	limitBodyMemory = "body_memory" // for large bodies and answers
	limitUploads    = "uploads"
	limitDownloads  = "downloads"
	limitSpace      = "space" // on the disk, or in the database
)

// Limits lists the names of all limits that an Observer hears of.
func Limits() []string {
	return []string{
		limitAnonymous, limitToken, limitUnknown, limitSignUps, limitQueue, limitBodyMemory, limitUploads, limitDownloads, limitSpace,
		"passphrases_per_client", "passphrases_per_push", "sign_ins_per_client", "sign_ins_per_account",
	}
}

// Two reasons to be crowded that are not the memory for bodies.
var (
	errUploads   = fmt.Errorf("%w: uploads", errCrowded)
	errDownloads = fmt.Errorf("%w: downloads", errCrowded)
)

// noteLimit tells the observer of an error that is a limit's.
func (s *Server) noteLimit(err error) {
	if name := limitOf(err); name != "" {
		s.watch.Observer.Limited(name)
	}
}

// limitOf is the name of the limit whose error it is; empty if it is none's.
func limitOf(err error) string {
	var (
		limited *limitError
		locked  *store.LockedError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &limited):
		return limited.name
	case errors.As(err, &locked):
		return locked.Limit
	case errors.Is(err, errUploads):
		return limitUploads
	case errors.Is(err, errDownloads):
		return limitDownloads
	case errors.Is(err, errCrowded):
		return limitBodyMemory
	case errors.Is(err, store.ErrBusy):
		return limitQueue
	case errors.Is(err, store.ErrFull):
		return limitSpace
	default:
		return ""
	}
}

// unobserved is the Observer where nobody asks.
type unobserved struct{}

func (unobserved) Began()                          {}
func (unobserved) Ended(Label, int, time.Duration) {}
func (unobserved) Limited(string)                  {}
