package record

import "time"

// RepeatTime is how long a create can be repeated.
const RepeatTime = Day

// A RepeatID is an HMAC of the key that a sender gave a create, and of who the sender is.
type RepeatID [16]byte

// A Repeat says which push a create with a key of its sender made, so that the same create, sent
// again, makes no other one.
type Repeat struct {
	ID     RepeatID
	At     time.Time // when the push was made
	Sealed []byte    // its url_token, which opens only with the sender's key
}

// Over reports whether the create can no longer be repeated at t.
func (r Repeat) Over(t time.Time) bool { return !t.Before(r.At.Add(RepeatTime)) }

// AppendBinary appends the record to b. The ID is not part of it: it is the key.
func (r Repeat) AppendBinary(b []byte) ([]byte, error) {
	return AppendBytes(AppendTime(append(b, recordVersion), r.At), r.Sealed), nil
}

// UnmarshalBinary reads a record and leaves the ID as it is. The repeat shares no memory with b.
func (r *Repeat) UnmarshalBinary(b []byte) error {
	in := Reader{Rest: b}
	in.Version()
	r.At, r.Sealed = in.Time(), in.Bytes()
	return in.End()
}

// Key is the ID.
func (r Repeat) Key() []byte { return r.ID[:] }

// Title does not name it: the ID says nothing to people.
func (Repeat) Title() string { return "a repeat" }

// Belongs returns 0: a repeat ends after a day, even if its account was removed.
func (Repeat) Belongs() AccountID { return 0 }

func readRepeat(key []byte) (r Repeat, ok bool) {
	if len(key) != len(r.ID) {
		return r, false
	}
	return Repeat{ID: RepeatID(key)}, true
}
