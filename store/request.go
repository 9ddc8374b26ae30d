package store

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/record"
)

const minRequestTime = 15 * time.Minute

// RequestDays are how long a request is live.
var RequestDays = Range{Default: 7, Min: 1, Max: 90}

// A RequestToken is the part of a link that names a request, and lets its holder answer. It
// is made as a url_token is, and finds no push; a url_token finds no request.
type RequestToken struct{ secret.Text }

// ParseRequestToken reads a RequestToken in upper or lower case. For any other text it
// returns ErrNotFound.
func ParseRequestToken(s string) (RequestToken, error) {
	t, err := ParseToken(s)
	if err != nil || t.Len() != tokenLength {
		return RequestToken{}, record.ErrNotFound
	}
	return RequestToken(t), nil
}

// ParseRequestID reads an ID in upper or lower case. For any other text it returns
// ErrNotFound.
func ParseRequestID(s string) (record.RequestID, error) {
	n, err := ParseName(s)
	h, ok := n.(Handle)
	if err != nil || !ok {
		return record.RequestID{}, record.ErrNotFound
	}
	return record.RequestID(h), nil
}

// requestTakes reports whether an answer may be of that kind.
func requestTakes(r record.Request, k record.Kind) bool {
	return k == record.Text && r.Texts || k == record.File && r.Files
}

// endRequestRule ends a live request for its owner. One that has ended stays as it is.
func endRequestRule(by Actor, at clock.Instant) record.RequestRule {
	return func(r record.Request) (record.Request, bool, error) {
		switch {
		case by.Account == 0 || r.Owner != by.Account:
			return r, false, record.ErrNotFound
		case r.Live(at.Ends):
			r.EndedAt = at.Now
		}
		return r, false, nil
	}
}

// sweepRequestRule notes that the time of a request is over, and removes one that ended
// before a time.
func sweepRequestRule(at clock.Instant, before time.Time) record.RequestRule {
	return func(r record.Request) (record.Request, bool, error) {
		if r.EndedAt.IsZero() && !at.Ends.Before(r.ExpiresAt) {
			r.EndedAt = r.ExpiresAt
		}
		return r, !r.EndedAt.IsZero() && r.EndedAt.Before(before), nil
	}
}

// NewRequest is what an account asks for. Nil and zero fields take defaults.
type NewRequest struct {
	Text         secret.Text // what is asked for
	Texts, Files bool        // what answers may be; neither: both
	MaxAnswers   *int        // 1 to MaxAnswers; nil: 1

	Days     *int          // the request's own time limit
	Lifetime time.Duration // instead of Days, which wins when both are given

	// The limits of the pushes that come.
	AnswerDays     *int
	AnswerLifetime time.Duration
	AnswerViews    *int
	RetrievalStep  *bool

	X25519, P256 []byte // public keys, for answers that their sender encrypts
}

// RequestInfo is a request as one caller may see it, at one instant.
type RequestInfo struct {
	record.Request
	At    time.Time // the instant of the call
	Text  secret.Text
	Token RequestToken // only for the owner, while the request is live
	Asker string       // only for the sender of an answer: the address of the owner

	Policy Policy // only for the sender of an answer: that of the owner

	Unread int // only where the owner lists requests: answers that are live, and that the owner has not opened

	// Only where the owner asks for one request: the pushes that came and are not purged,
	// oldest first, as in the owner's lists.
	Pushes []PushInfo
}

// Live reports whether the request takes answers at the instant of the call.
func (r RequestInfo) Live() bool { return r.Request.Live(r.At) }

// Title is the first line of the text, for lists and for the names of answers.
func (r RequestInfo) Title() secret.Text {
	line, _, _ := strings.Cut(strings.TrimSpace(r.Text.Reveal()), "\n")
	line = strings.TrimSpace(line)
	end := min(len(line), MaxName)
	for end > 0 && end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	return secret.New(line[:end])
}

func (s *Store) sealRequest(r *record.Request, text secret.Text, t RequestToken) {
	r.Sealed = s.ring.Load().SealRequest(r.ID[:], record.AppendBytes(record.AppendBytes(nil, text.Reveal()), t.Reveal()))
}

// openRequest opens a request for its owner.
func (s *Store) openRequest(r record.Request, at clock.Instant) (RequestInfo, error) {
	plain, err := s.ring.Load().OpenRequest(r.ID[:], r.Sealed)
	in := record.Reader{Rest: plain}
	info := RequestInfo{Request: r, At: at.Denies, Text: in.Text(), Token: RequestToken{in.Text()}}
	if err != nil || in.End() != nil {
		return RequestInfo{}, fmt.Errorf("%w: request %s does not open", record.ErrCorrupt, r.ID)
	}
	if !info.Live() {
		info.Token = RequestToken{}
	}
	return info, nil
}
