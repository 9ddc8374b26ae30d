package seal

import (
	"slices"
	"time"
)

const (
	rotateAfter = 30 * 24 * time.Hour
	// A new KEK comes into use a while after it was made: by then the ring that
	// has it is durable and in service.
	rotateAhead = time.Hour
)

// A KEKPeriod tells which pushes and grants a KEK seals: those created or issued
// at From or later and before To. The first KEK of a ring also seals any from
// before that; the newest has no end, and its To is zero.
type KEKPeriod struct {
	Version  uint32
	From, To time.Time
}

// Versions lists the KEKs of the ring, oldest first.
func (r *Ring) Versions() []KEKPeriod {
	periods := make([]KEKPeriod, len(r.keks))
	for i, k := range r.keks {
		periods[i] = KEKPeriod{Version: k.version, From: time.UnixMilli(k.from).UTC()}
		if i > 0 {
			periods[i-1].To = periods[i].From
		}
	}
	return periods
}

// Rotate returns a ring with one more KEK, and true, if the newest has been in
// use for 30 days; else r itself, and false. The new KEK comes into use an hour
// after now: until then the ring may be kept and put into service at leisure.
func (r *Ring) Rotate(now time.Time) (*Ring, bool) {
	newest := r.keks[len(r.keks)-1]
	if now.Before(time.UnixMilli(newest.from).Add(rotateAfter)) {
		return r, false
	}
	next := newKEK(newKey(), newest.version+1, now.Add(rotateAhead).UnixMilli())
	return newRing(r.id, r.audit, append(slices.Clone(r.keks), next)), true
}

// Drop returns a ring without a KEK. What that KEK sealed never opens again, so
// its period must be over, with nothing of that time still being created, and
// no wrap, details, grant, webhook or message may be sealed under it (KEKVersion).
// The newest KEK stays, and then Drop returns r.
func (r *Ring) Drop(version uint32) *Ring {
	i := slices.IndexFunc(r.keks, func(k kek) bool { return k.version == version })
	if i < 0 || i == len(r.keks)-1 {
		return r
	}
	return newRing(r.id, r.audit, slices.Delete(slices.Clone(r.keks), i, i+1))
}
