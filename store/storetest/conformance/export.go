package conformance

import (
	"fmt"
	"testing"
	"time"

	"pushbox/store/record"
)

// What tests of one engine use of the suites.

// ErrLimit is the error of View where no view is left.
var ErrLimit = errLimit

// LivePush is the n-th push, as a store would create it.
func LivePush(n int, owner record.AccountID) record.Push { return livePush(n, owner) }

// Creation is the first entry of a push.
func Creation(p record.Push) record.Entry { return creation(p) }

// RequestOf is the n-th request, which takes so many answers for a day.
func RequestOf(n int, owner record.AccountID, answers int) record.Request {
	at := epoch.Add(time.Duration(n) * time.Millisecond)
	return record.Request{
		ID: record.RequestID(pushID(n)), Owner: owner, CreatedAt: at, ExpiresAt: at.Add(24 * time.Hour),
		Texts: true, MaxAnswers: answers, Lifetime: time.Hour, Views: 3, Sealed: []byte("sealed request"),
	}
}

// AnswerTo is the n-th push, as an answer to a request.
func AnswerTo(r record.Request, n int) record.Push {
	p := livePush(n, r.Owner)
	p.Request, p.WrappedKey = r.ID, []byte("wrapped key")
	return p
}

// EndRequest ends a request, at the time of its creation.
func EndRequest(r record.Request) (record.Request, bool, error) {
	r.EndedAt = r.CreatedAt
	return r, false, nil
}

// APIToken is the n-th API token, before it gets its ID.
func APIToken(n int, owner record.AccountID) record.APIToken {
	return record.APIToken{
		Digest: record.TokenDigest{31: byte(n), 0: byte(n) * 37}, Owner: owner, Label: fmt.Sprint("token ", n), Scopes: record.ScopeRead,
		CreatedAt: epoch, ExpiresAt: epoch.Add(time.Hour),
	}
}

// Session is the n-th session, before it gets its ID and owner. Later ones have lesser digests.
func Session(n int, pending bool) *record.Session {
	return &record.Session{
		Digest: record.SessionDigest{0: byte(200 - n), 31: byte(n)}, CreatedAt: epoch, LastUsedAt: epoch,
		ExpiresAt: epoch.Add(time.Duration(n) * time.Hour), Pending: pending, Sealed: []byte("sealed origin"),
	}
}

// PushID is the ID of the n-th push. Later ones are greater.
func PushID(n int) record.ID { return pushID(n) }

// Payload is that of the n-th push.
func Payload(n int) []byte { return payloadOf(n) }

// View counts a view, or fails where none is left.
func View(p record.Push) (record.Push, record.Entry, error) { return view(p) }

// Purge removes a push.
func Purge(p record.Push) (record.Push, record.Entry, error) { return purge(p) }

// MailTo is a mail to each of these, at most that many on a day.
func MailTo(day, most uint64, to ...byte) *record.MailBatch { return mailTo(day, most, to...) }

// SendMail is a change of a push that sends mail.
func SendMail(b *record.MailBatch) record.Rule { return sendMail(b) }

// NothingSealed is a Resealer that finds nothing to do.
type NothingSealed struct{ nothingSealed }

// A Version is the keys of rows, of versions from 1 to its number.
type Version uint16

// RowVersion returns the number.
func (v Version) RowVersion() uint16 { return uint16(v) }

// RowSum returns the sum of a row. Versions differ by their number alone.
func (v Version) RowSum(version uint16, bucket string, key, value []byte) (sum [32]byte, ok bool) {
	if version == 0 || version > uint16(v) {
		return sum, false
	}
	sum, _ = Keys{}.RowSum(1, bucket, key, value)
	sum[0] ^= byte(version) - 1
	return sum, true
}

// CreateFiles keeps the n-th push, holding files.
func CreateFiles(t *testing.T, e record.Engine, n int, owner record.AccountID) record.Push {
	t.Helper()
	return createFiles(t, e, n, owner)
}

// Release ends a push if it is live, and gives up its files.
func Release(p record.Push) (record.Push, record.Entry, error) { return release(p) }

// Retrieve counts a view and issues a new grant of the n-th push.
func Retrieve(n, k int) record.Rule { return retrieve(newGrant(n, k)) }

// Leave changes nothing.
func Leave(p record.Push) (record.Push, record.Entry, error) { return leave(p) }
