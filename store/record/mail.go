package record

import (
	"encoding/binary"
	"fmt"
)

// A MailBatch is the mail of a step. All of it goes into the outbox and counts against
// its quotas, or the step fails.
type MailBatch struct {
	Messages []Message
	Quotas   []Quota   // for different accounts and addresses
	Sender   AccountID // the sender, whose address must be confirmed; 0: the instance
	Optional bool      // if it would fail the step, it is left out instead
}

// A Quota adds to the count of a day and has its limit.
type Quota struct {
	To   Addressee // zero: it is not a quota of an address
	Of   AccountID // 0: all accounts together
	Day  uint64    // since 1970, in UTC
	Add  uint64
	Most uint64 // on that day
}

// A QuotaCount counts the mails of an address, of an account, or of all, on the last day with any.
type QuotaCount struct {
	To  Addressee // as Quota has it
	Of  AccountID
	Day uint64
	N   uint64
}

// AppendBinary appends the record of the count to b. To and Of are not part of it: they are the key.
func (c QuotaCount) AppendBinary(b []byte) ([]byte, error) {
	return append(b, PairKey(c.Day, c.N)...), nil
}

// UnmarshalBinary reads a record and leaves To and Of as they are.
func (c *QuotaCount) UnmarshalBinary(b []byte) error {
	if len(b) != 2*8 {
		return ErrRecord
	}
	c.Day, c.N = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	return nil
}

// Whose returns whose quota it is.
func (q Quota) Whose() QuotaOf {
	switch {
	case q.To != Addressee{}:
		return QuotaOfAddressee
	case q.Of != 0:
		return QuotaOfAccount
	default:
		return QuotaOfInstance
	}
}

const (
	// quotaOfAddressee begins the key of a quota of an address: no account has so high an
	// ID.
	quotaOfAddressee = 'r'
	addresseeLen     = 1 + len(Addressee{})
)

// Key is the key of the quota's count, for all days: the ID of an account as uint64 (0: of
// all together), or that of an addressee.
func (q Quota) Key() []byte {
	if q.Whose() == QuotaOfAddressee {
		return q.To.Key()
	}
	return binary.BigEndian.AppendUint64(nil, uint64(q.Of))
}

// Key is the key of the count of mails to an addressee.
func (a Addressee) Key() []byte { return append([]byte{quotaOfAddressee}, a[:]...) }

// QuotaOfKey returns To and Of of the quotas with that key; ok is false for any other key.
func QuotaOfKey(key []byte) (q Quota, ok bool) {
	switch {
	case len(key) == 8:
		return Quota{Of: AccountID(binary.BigEndian.Uint64(key))}, true
	case len(key) == addresseeLen && key[0] == quotaOfAddressee:
		q.To = Addressee(key[1:])
		return q, q.To != Addressee{}
	default:
		return q, false
	}
}

// An Addressee represents an e-mail address in the counts of quotas by an HMAC of it in lower case,
// so that the file names no recipient.
type Addressee [16]byte

// Key is Quota.Key.
func (c QuotaCount) Key() []byte { return Quota{To: c.To, Of: c.Of}.Key() }

// Title names the account of the quota, if there is one.
func (c QuotaCount) Title() string {
	if c.Of == 0 {
		return "a quota"
	}
	return fmt.Sprintf("quota of account %d", c.Of)
}

// Belongs returns the account.
func (c QuotaCount) Belongs() AccountID { return c.Of }

func readCount(key []byte) (c QuotaCount, ok bool) {
	q, ok := QuotaOfKey(key)
	return QuotaCount{To: q.To, Of: q.Of}, ok
}
