package seal

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"sync"
	"time"

	"pushbox/internal/secret"
)

// SealPayload seals the text of the push with that id and kind.
func (k DEK) SealPayload(id []byte, kind byte, text secret.Text) []byte {
	return sealRecord(k.aead(infoPayload), id, text.Reveal(), kind)
}

// OpenPayload opens what SealPayload sealed with the same id and kind. The error is
// ErrOpen if it does not open.
func (k DEK) OpenPayload(id []byte, kind byte, sealed []byte) (secret.Text, error) {
	plain, err := openRecord("payload", k.aead(infoPayload), id, sealed, kind)
	if err != nil {
		return secret.Text{}, err
	}
	defer clear(plain)
	return secret.New(string(plain)), nil
}

// SealList seals the list of the files of the push with that id.
func (k FilesKey) SealList(id, plain []byte) []byte {
	return sealRecord(k.aead(infoList), id, plain)
}

// OpenList opens what SealList sealed with the same id. The error is ErrOpen if it does
// not open.
func (k FilesKey) OpenList(id, sealed []byte) ([]byte, error) {
	return openRecord("list of files", k.aead(infoList), id, sealed)
}

// SealLink seals the token of a push for its owner. created is the time of the push.
func (r *Ring) SealLink(created time.Time, id []byte, token secret.Text) []byte {
	plain := []byte(token.Reveal())
	defer clear(plain)
	return r.current(created).seal(forLink, id, plain)
}

// OpenLink opens what SealLink sealed with the same id. The error is ErrOpen if it does
// not open.
func (r *Ring) OpenLink(id, sealed []byte) (secret.Text, error) {
	plain, err := r.open(forLink, id, sealed)
	if err != nil {
		return secret.Text{}, err
	}
	defer clear(plain)
	return secret.New(string(plain)), nil
}

// SealEntry seals an audit entry of the push with that id.
//
//go:noinline // inlined in another package, it would move id and plain to the heap
func (r *Ring) SealEntry(id, plain []byte) []byte {
	return r.newest(AuditKeys).seal(forEntry, id, plain)
}

// OpenEntry opens what SealEntry sealed with the same id. The error is ErrOpen if it
// does not open.
func (r *Ring) OpenEntry(id, sealed []byte) ([]byte, error) { return r.open(forEntry, id, sealed) }

// SealEvent seals the text of an event of the instance log. digest is the digest to which the row
// of the event commits.
func (r *Ring) SealEvent(digest [32]byte, plain []byte) []byte {
	return r.newest(AuditKeys).seal(forEvent, digest[:], plain)
}

// OpenEvent opens what SealEvent sealed with the same digest. The error is ErrOpen if it
// does not open.
func (r *Ring) OpenEvent(digest [32]byte, sealed []byte) ([]byte, error) {
	return r.open(forEvent, digest[:], sealed)
}

// SealAccount seals a part of an account, such as the origin of a session. The id says
// which part: ids of different parts differ in length.
func (r *Ring) SealAccount(id, plain []byte) []byte {
	return r.newest(AuditKeys).seal(forAccount, id, plain)
}

// OpenAccount opens what SealAccount sealed with the same id. The error is ErrOpen if
// it does not open.
func (r *Ring) OpenAccount(id, sealed []byte) ([]byte, error) { return r.open(forAccount, id, sealed) }

// SealDetails seals the words of the push with that id, which its owner may read without its link,
// even after it has ended.
func (r *Ring) SealDetails(id, plain []byte) []byte {
	return r.newest(DetailKeys).seal(forDetails, id, plain)
}

// OpenDetails opens what SealDetails sealed with the same id. The error is ErrOpen if
// it does not open.
func (r *Ring) OpenDetails(id, sealed []byte) ([]byte, error) { return r.open(forDetails, id, sealed) }

// SealHook seals the address and the signing secret of a webhook. place identifies its
// owner.
func (r *Ring) SealHook(place, plain []byte) []byte {
	return r.newest(DetailKeys).seal(forHook, place, plain)
}

// OpenHook opens what SealHook sealed with the same place. The error is ErrOpen if it
// does not open.
func (r *Ring) OpenHook(place, sealed []byte) ([]byte, error) { return r.open(forHook, place, sealed) }

// SealMessage seals the content of a message of the outbox. place identifies its
// recipient.
func (r *Ring) SealMessage(place, plain []byte) []byte {
	return r.newest(DetailKeys).seal(forMessage, place, plain)
}

// OpenMessage opens what SealMessage sealed with the same place. The error is ErrOpen
// if it does not open.
func (r *Ring) OpenMessage(place, sealed []byte) ([]byte, error) {
	return r.open(forMessage, place, sealed)
}

// SealRequest seals the text and the url_token of the request with that id.
func (r *Ring) SealRequest(id, plain []byte) []byte {
	return r.newest(DetailKeys).seal(forRequest, id, plain)
}

// OpenRequest opens what SealRequest sealed with the same id. The error is ErrOpen if it
// does not open.
func (r *Ring) OpenRequest(id, sealed []byte) ([]byte, error) { return r.open(forRequest, id, sealed) }

// SealRepeat seals the token of the push that a create with a sender's key made. The key is derived
// from that and from the id key, so that neither the sender nor the ring alone opens it. fields is a
// digest of what the create asked for.
func (r *Ring) SealRepeat(by secret.Text, id []byte, fields [32]byte, token secret.Text) []byte {
	return sealRecord(derive(r.id.bytes(), []byte(by.Reveal()), infoRepeat), id, token.Reveal(), fields[:]...)
}

// OpenRepeat opens what SealRepeat sealed with the same. The error is ErrOpen if it does not open:
// the fields are others, too.
func (r *Ring) OpenRepeat(by secret.Text, id []byte, fields [32]byte, sealed []byte) (secret.Text, error) {
	plain, err := openRecord("repeat", derive(r.id.bytes(), []byte(by.Reveal()), infoRepeat), id, sealed, fields[:]...)
	if err != nil {
		return secret.Text{}, err
	}
	defer clear(plain)
	return secret.New(string(plain)), nil
}

// sealRecord seals a record whose head is only version and algorithm. It authenticates
// id and more: the record opens only with the same.
func sealRecord[T string | []byte](a cipher.AEAD, id []byte, plain T, more ...byte) []byte {
	head := []byte{version1, xchacha20}
	return encrypt(a, head, bind(head, id, more...), plain)
}

// openRecord opens what sealRecord sealed. name is the name of the record in errors.
func openRecord(name string, a cipher.AEAD, id, sealed []byte, more ...byte) (plain []byte, err error) {
	head, err := checkHead(sealed, version1, plainHead)
	if err == nil {
		plain, err = decrypt(a, sealed, plainHead, bind(head, id, more...))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return plain, nil
}

// infoMark is the info text of HKDF for marks.
const infoMark = "pushbox mark 1"

// Mark authenticates a nonce for a subject: the first 16 bytes of an HMAC-SHA256 under a key that
// is derived from the id key. So it never changes for a store, and does not reveal the subject
// without the ring.
func (r *Ring) Mark(subject, nonce []byte) [16]byte {
	k := hkdfSHA256(r.id.bytes(), nil, infoMark)
	message := slices.Concat([]byte{byte(len(nonce))}, nonce, subject)
	sum := hmacSHA256(k[:], message)
	return [16]byte(sum[:16])
}

// IsMark reports whether a mark matches the subject and the nonce. Its time does not depend on the
// mark.
func (r *Ring) IsMark(subject, nonce, mark []byte) bool {
	want := r.Mark(subject, nonce)
	return hmac.Equal(want[:], mark)
}

// A rowState is the working memory for a row's sum. It keeps the state of HMAC after the key, so
// that a sum needs no work for the key and allocates nothing.
type rowState struct {
	mac hash.Hash
	row []byte
	sum []byte
}

func rowStates(k key) *sync.Pool {
	return &sync.Pool{New: func() any { return &rowState{mac: hmac.New(sha256.New, k.bytes())} }}
}

// of returns HMAC-SHA256(key, bucket ‖ 0 ‖ length of the row's key 4 ‖ its key ‖ its
// value).
func (s *rowState) of(bucket string, key, value []byte) [sha256.Size]byte {
	s.row = append(append(s.row[:0], bucket...), 0)
	s.row = append(binary.BigEndian.AppendUint32(s.row, uint32(len(key))), key...)
	s.row = append(s.row, value...) // copied, or the caller's memory would move to the heap
	s.mac.Reset()
	_, _ = s.mac.Write(s.row)
	s.sum = s.mac.Sum(s.sum[:0])
	return [sha256.Size]byte(s.sum)
}

// RowVersion returns the version of the newest row key.
func (r *Ring) RowVersion() uint16 { return uint16(r.newest(RowKeys).version) }

// RowSum returns the sum that authenticates the place and the value of a row of the database. The
// name of a bucket has no zero byte. ok is false if the ring has no row key of that version. RowSum
// takes about a microsecond, and allocates nothing.
func (r *Ring) RowSum(version uint16, bucket string, key, value []byte) (sum [sha256.Size]byte, ok bool) {
	for i := len(r.keys[RowKeys]) - 1; i >= 0; i-- {
		if k := &r.keys[RowKeys][i]; k.version == uint32(version) {
			s := k.rows.Get().(*rowState)
			sum = s.of(bucket, key, value)
			k.rows.Put(s)
			return sum, true
		}
	}
	return sum, false
}
