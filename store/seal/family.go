package seal

import (
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// A Family is a set of keys of a ring for one purpose. Each key of a family has a version, which is
// in every record that it sealed.
type Family uint8

// The families. The numbers are stored.
const (
	KEKs       Family = 1 + iota // seal the keys and links of pushes, and grants; a new one each month
	DetailKeys                   // seal details of pushes, webhooks, messages, and requests
	AuditKeys                    // seal audit entries, events, and parts of accounts
	RowKeys                      // authenticate rows of the database
	familyEnd
)

// Families lists all of them.
func Families() []Family { return []Family{KEKs, DetailKeys, AuditKeys, RowKeys} }

// maxVersion is the greatest version of a key that is not a KEK. It is stored in two bytes.
const maxVersion = math.MaxUint16

// A use is a kind of record that keys of a family seal.
type use int

const (
	forLink use = iota
	forDetails
	forHook
	forMessage
	forRequest
	forEntry
	forEvent
	forAccount
	useCount
)

// uses has the family of keys of each use, the info text of HKDF, and the name of the record in
// errors.
var uses = [useCount]struct {
	family     Family
	info, name string
}{
	forLink:    {KEKs, "pushbox link 1", "link"},
	forDetails: {DetailKeys, "pushbox details 1", "details"},
	forHook:    {DetailKeys, "pushbox webhook 1", "webhook"},
	forMessage: {DetailKeys, "pushbox message 1", "message"},
	forRequest: {DetailKeys, "pushbox request 1", "request"},
	forEntry:   {AuditKeys, "pushbox entry 1", "audit entry"},
	forEvent:   {AuditKeys, "pushbox event 1", "event"},
	forAccount: {AuditKeys, "pushbox account 1", "part of an account"},
}

// A familyKey is a key of a family.
type familyKey struct {
	key
	version uint32
	from    int64                 // when it came into use, in milliseconds since 1970
	ciphers [useCount]cipher.AEAD // for the uses of its family, each under a key derived from key
	rows    *sync.Pool            // of *rowState; nil unless it is a row key
}

func newFamilyKey(f Family, k key, version uint32, from int64) familyKey {
	made := familyKey{key: k, version: version, from: from}
	for u, use := range uses {
		if use.family == f {
			made.ciphers[u] = k.aead(use.info)
		}
	}
	if f == RowKeys {
		made.rows = rowStates(k)
	}
	return made
}

// newest returns the newest key of a family.
func (r *Ring) newest(f Family) *familyKey { return &r.keys[f][len(r.keys[f])-1] }

// numbered returns the key of a family with that version.
func (r *Ring) numbered(f Family, version uint32) (*familyKey, error) {
	for _, keys := range [...][]familyKey{r.keys[f], r.retired[f]} {
		for i := len(keys) - 1; i >= 0; i-- {
			if k := &keys[i]; k.version == version {
				return k, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: version %d of its key is not in the key ring", ErrOpen, version)
}

// seal seals a record for a use under the newest key of its family, or the KEK k. The
// record's head has the version of that key, by which open finds it.
func (k *familyKey) seal(u use, id, plain []byte) []byte {
	head := k.head(uses[u].family)
	return encrypt(k.ciphers[u], head, bind(head, id), plain)
}

// open decrypts the result of seal for the same use and id, and records from before there were
// families.
func (r *Ring) open(u use, id, sealed []byte) (plain []byte, err error) {
	a, head, err := r.opens(u, sealed)
	if err == nil {
		plain, err = decrypt(a, sealed, head, bind(sealed[:head], id))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", uses[u].name, err)
	}
	return plain, nil
}

// opens returns the cipher of a record, and the length of the record's head.
func (r *Ring) opens(u use, sealed []byte) (a cipher.AEAD, head int, err error) {
	f := uses[u].family
	version, head, err := readHead(f, sealed)
	if err != nil {
		return nil, 0, err
	}
	if f == DetailKeys && head == kekHead {
		k, err := r.numbered(KEKs, version)
		if err != nil {
			return nil, 0, err
		}
		return k.aead(uses[u].info), head, nil
	}
	k, err := r.numbered(f, version)
	if err != nil {
		return nil, 0, err
	}
	return k.ciphers[u], head, nil
}

// head returns the first bytes of an envelope under a key of a family.
func (k *familyKey) head(f Family) []byte {
	if f == KEKs {
		return binary.BigEndian.AppendUint32(append(make([]byte, 0, kekHead), version1, xchacha20), k.version)
	}
	return binary.BigEndian.AppendUint16(append(make([]byte, 0, familyHead), version2, xchacha20), uint16(k.version))
}

// readHead reads the head of an envelope under a key of a family, and returns the version of that
// key and the length of the head. Before there were families, details, webhooks and messages had
// the version of a KEK, which readHead then returns; and there was one audit key, which is now
// version 1.
func readHead(f Family, sealed []byte) (version uint32, head int, err error) {
	switch {
	case f == KEKs, f == DetailKeys && isVersion1(sealed):
		h, err := checkHead(sealed, version1, kekHead)
		if err != nil {
			return 0, 0, err
		}
		return binary.BigEndian.Uint32(h[plainHead:]), kekHead, nil
	case f == AuditKeys && isVersion1(sealed):
		if _, err := checkHead(sealed, version1, plainHead); err != nil {
			return 0, 0, err
		}
		return 1, plainHead, nil
	default:
		h, err := checkHead(sealed, version2, familyHead)
		if err != nil {
			return 0, 0, err
		}
		return uint32(binary.BigEndian.Uint16(h[plainHead:])), familyHead, nil
	}
}

// SealedUnder returns the version of the key of a family under which something is
// sealed. For DetailKeys it is 0 if that is a KEK, as it was before there were families.
// ok is false if sealed has no such head.
func SealedUnder(f Family, sealed []byte) (version uint32, ok bool) {
	version, head, err := readHead(f, sealed)
	if f == DetailKeys && head == kekHead {
		version = 0
	}
	return version, err == nil
}

const (
	rotateAfter = 30 * 24 * time.Hour
	// A new KEK comes into use an hour after it was made: by then the ring that has it
	// is durable and in use.
	rotateAhead = time.Hour
)

// A Period is the time in which a key of a family seals: from From until before To. For KEKs that
// is the time when a push was created or a grant was issued, and the first KEK of a ring also seals
// earlier ones. The newest key has no end: its To is zero.
type Period struct {
	Version  uint32
	From, To time.Time
}

// Versions lists the keys of a family, oldest first.
func (r *Ring) Versions(f Family) []Period {
	periods := make([]Period, len(r.keys[f]))
	for i, k := range r.keys[f] {
		periods[i] = Period{Version: k.version, From: time.UnixMilli(k.from).UTC()}
		if i > 0 {
			periods[i-1].To = periods[i].From
		}
	}
	return periods
}

// Rotate returns a ring with one more KEK, and true, if the newest has been in use for
// 30 days; else r and false. The new KEK comes into use an hour after now, so the
// caller has that long to store the ring and to use it.
func (r *Ring) Rotate(now time.Time) (*Ring, bool) {
	if now.Before(time.UnixMilli(r.newest(KEKs).from).Add(rotateAfter)) {
		return r, false
	}
	return r.with(KEKs, now.Add(rotateAhead)), true
}

// Renew returns a ring with one more key in each family, in use from now, and true. The caller must
// store the ring before it uses it. Renew returns r and false if a family has no version left:
// families other than the KEKs have 65,535.
func (r *Ring) Renew(now time.Time) (*Ring, bool) {
	next := r
	for _, f := range Families() {
		if f != KEKs && r.newest(f).version >= maxVersion {
			return r, false
		}
		next = next.with(f, now)
	}
	return next, true
}

// with returns a ring with one more key in a family, in use from a time. Keys with a later time
// come into use just before it: the clock may have run back, so records may be sealed under them.
func (r *Ring) with(f Family, from time.Time) *Ring {
	keys, ms := slices.Clone(r.keys[f]), from.UnixMilli()
	next := newFamilyKey(f, newKey(), keys[len(keys)-1].version+1, ms)
	for i := len(keys) - 1; i >= 0 && keys[i].from >= ms; i-- {
		ms--
		keys[i].from = ms
	}
	return r.replace(f, append(keys, next))
}

// replace returns a ring with the keys of a family replaced.
func (r *Ring) replace(f Family, keys []familyKey) *Ring {
	all := r.keys
	all[f] = keys
	return &Ring{id: r.id, keys: all, retired: r.retired}
}

// Retire is Drop for a key under which sealed data is still in memory: the returned ring can open
// it until the process ends. The result of Sealed does not have the key.
func (r *Ring) Retire(f Family, version uint32) *Ring {
	next := r.Drop(f, version)
	if next != r {
		i := slices.IndexFunc(r.keys[f], func(k familyKey) bool { return k.version == version })
		next.retired[f] = append(slices.Clone(r.retired[f]), r.keys[f][i])
	}
	return next
}

// After returns the ring with which a store replaces an older one. It can also open data in memory
// under keys of these families that only the older one has.
func (r *Ring) After(older *Ring, families ...Family) *Ring {
	next := &Ring{id: r.id, keys: r.keys, retired: r.retired}
	for _, f := range families {
		for _, k := range slices.Concat(older.retired[f], older.keys[f]) {
			if !slices.ContainsFunc(r.keys[f], func(o familyKey) bool { return o.version == k.version }) {
				next.retired[f] = append(slices.Clone(next.retired[f]), k)
			}
		}
	}
	return next
}

// Drop returns a ring without a key of a family. Data under that key can never be decrypted again.
// So nothing may still be sealed under it (SealedUnder), or be sealed soon: the period of a KEK
// must be over, and creates and grants of that time must have ended. If it is the newest key, Drop
// returns r.
func (r *Ring) Drop(f Family, version uint32) *Ring {
	i := slices.IndexFunc(r.keys[f], func(k familyKey) bool { return k.version == version })
	if i < 0 || i == len(r.keys[f])-1 {
		return r
	}
	return r.replace(f, slices.Delete(slices.Clone(r.keys[f]), i, i+1))
}
