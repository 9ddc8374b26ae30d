package server

import (
	"errors"
	"strconv"
	"time"

	"pushbox/config"
	"pushbox/internal/limit"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/store/record"
)

// limits are the counters that all requests share. A reload changes their bounds and
// keeps what they have counted.
type limits struct {
	unknown   *limit.Window // requests for url_tokens that do not exist, per client
	anonymous *limit.Rate   // requests per anonymous client
	tokens    *limit.Rate   // requests per API token, or account
	lines     *lines        // in the log, of requests that cost nothing

	downloads *limit.Slots
	uploads   *limit.Slots

	requestMemory *limit.Memory // of request bodies and most pages
	answerMemory  *limit.Memory // for answers that open a push, so that other requests cannot delay them
}

func newLimits(l config.Limits, clock limit.Clock) *limits {
	return &limits{
		unknown:       limit.NewWindow(l.UnknownTokensPerMinute, time.Minute, l.Clients, clock),
		anonymous:     limit.NewRate(l.AnonymousPerMinute, l.Clients, clock),
		tokens:        limit.NewRate(l.TokenPerMinute, l.Clients, clock),
		lines:         newLines(l.Clients, clock),
		downloads:     limit.NewSlots(l.Downloads),
		uploads:       newUploadSlots(int64(l.BodyMemory)),
		requestMemory: limit.NewMemory(int64(l.BodyMemory), action.MemoryWait),
		answerMemory:  limit.NewMemory(int64(l.BodyMemory), action.MemoryWait),
	}
}

// newUploadSlots returns a slot for each upload that fits into the memory.
func newUploadSlots(memory int64) *limit.Slots {
	return limit.NewSlots(int(max(1, memory/body.UploadMemory)))
}

// bound changes the bounds that a reload may change.
func (l *limits) bound(c config.Limits) {
	l.unknown.SetHits(c.UnknownTokensPerMinute)
	l.anonymous.SetPerMinute(c.AnonymousPerMinute)
	l.tokens.SetPerMinute(c.TokenPerMinute)
	l.downloads.Resize(c.Downloads, c.Downloads/8)
}

// Stats are figures of the work in progress on a server.
type Stats struct {
	Uploads, Downloads          int   // of files, in progress
	RequestMemory, AnswerMemory int64 // bytes that large requests hold, and large answers that open pushes
}

// Stats returns the present figures.
func (s *Server) Stats() Stats { return s.limits.stats() }

func (l *limits) stats() Stats {
	return Stats{
		Uploads: l.uploads.Taken(), Downloads: l.downloads.Taken(),
		RequestMemory: l.requestMemory.Held(), AnswerMemory: l.answerMemory.Held(),
	}
}

// Names of limits that are not the store's.
const (
	limitAnonymous  = "anonymous"      // requests of an anonymous client
	limitToken      = "token"          // requests with an API token, or of an account
	limitUnknown    = "unknown_tokens" // url_tokens that do not exist
	limitQueue      = "queue"          // of passphrases to be checked, and of searches
	limitBodyMemory = "body_memory"    // for large bodies and answers
	limitUploads    = "uploads"
	limitDownloads  = "downloads"
	limitSpace      = "space" // on the disk, or in the database
	limitRoom       = "room"  // of a sender, for live pushes
)

// Limits lists the names of all limits that an Observer gets.
func Limits() []string {
	return []string{
		limitAnonymous, limitToken, limitUnknown, limitQueue, limitBodyMemory, limitUploads, limitDownloads, limitSpace, limitRoom,
		record.LimitPassphrasesPerClient, record.LimitPassphrasesPerPush, record.LimitSignInsPerClient, record.LimitSignInsPerAccount, record.LimitSignUps,
		record.LimitTokensPerAccount, record.LimitCodesPerAccount, record.LimitChangesPerAccount, record.LimitCodesPerRecipient,
	}
}

// noteLimit tells the observer if the error comes from a limit.
func (s *Server) noteLimit(err error) {
	if name := limitOf(err); name != "" {
		s.monitoring.Observer.Limited(name)
	}
}

// limitOf names the limit that an error comes from; empty if it comes from none.
func limitOf(err error) string {
	var (
		limited *action.LimitError
		locked  *record.LockedError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &limited):
		return limited.Name
	case errors.As(err, &locked):
		return locked.Limit
	case errors.Is(err, action.ErrUploads):
		return limitUploads
	case errors.Is(err, action.ErrDownloads):
		return limitDownloads
	case errors.Is(err, limit.ErrBusy):
		return limitBodyMemory
	case errors.Is(err, record.ErrBusy):
		return limitQueue
	case errors.Is(err, record.ErrRoom):
		return limitRoom
	case errors.Is(err, record.ErrFull):
		return limitSpace
	default:
		return ""
	}
}

// countUnknown counts a request whose action ended with err, if it is for a url_token that does not
// exist. It returns err, or a limit error beyond the limit. A request for an existing url_token is
// always answered, since 125 random bits need no limit. Otherwise images of a foreign page could
// lock out all its visitors.
//
// For the same reason requests for a part of a foreign page do not count, nor do those for an
// expired push. Beyond the limit both get the same answer as counted requests.
func (s *Server) countUnknown(r *action.Request, err error) error {
	if !r.Route.Guessable() || !errors.Is(err, record.ErrNotFound) {
		return err
	}
	count := s.limits.unknown.TakeFor
	if errors.Is(err, action.ErrExpired) || isForeignPart(r.Header) {
		count = s.limits.unknown.FullFor
	}
	if full, wait := count(r.Actor.Client); full {
		return &action.LimitError{Wait: wait, Name: limitUnknown}
	}
	return err
}

// countRequest counts the request for its API token, account or client, and refuses
// one too many. It does not count a program on this machine that uses no proxy.
func (s *Server) countRequest(r *action.Request) error {
	r.Counted = r.Client.Direct || r.Route == nil || !r.Route.Has(action.NotCounted)
	if r.Client.Direct || !r.Counted {
		return nil
	}
	allow, name, key := s.limits.anonymous.AllowFor, limitAnonymous, r.Actor.Client
	switch {
	case r.Unconfirmed, r.Session.Unconfirmed: // a client must not avoid its limits by signing up
	case r.Token != nil:
		allow, name, key = s.limits.tokens.Allow, limitToken, strconv.FormatUint(uint64(r.Token.ID), 10)
	case r.Actor.Account != 0:
		allow, name, key = s.limits.tokens.Allow, limitToken, "account "+strconv.FormatUint(uint64(r.Actor.Account), 10)
	}
	if ok, wait := allow(key); !ok {
		return &action.LimitError{Wait: wait, Name: name}
	}
	return nil
}
