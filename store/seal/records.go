package seal

import (
	"fmt"
	"time"

	"pushbox/internal/secret"
)

// SealPayload seals the text of the push of that id and kind.
func (k DEK) SealPayload(id []byte, kind byte, text secret.Text) []byte {
	head := []byte{version1, xchacha20}
	return encrypt(k.aead(infoPayload), head, bind(head, id, kind), text.Reveal())
}

// OpenPayload opens what SealPayload made, given the same id and kind. ErrOpen
// if it does not open.
func (k DEK) OpenPayload(id []byte, kind byte, sealed []byte) (secret.Text, error) {
	head, err := checkHead(sealed, plainHead)
	if err != nil {
		return secret.Text{}, fmt.Errorf("payload: %w", err)
	}
	plain, err := decrypt(k.aead(infoPayload), sealed, plainHead, bind(head, id, kind))
	if err != nil {
		return secret.Text{}, fmt.Errorf("payload: %w", err)
	}
	defer clear(plain)
	return secret.New(string(plain)), nil
}

// SealDetails seals what the owner of a push may read again without its link.
// The push is created at that time.
func (r *Ring) SealDetails(created time.Time, id, plain []byte) []byte {
	k := r.current(created)
	head := k.head()
	return encrypt(k.details, head, bind(head, id), plain)
}

// OpenDetails opens what SealDetails made, given the same id. ErrOpen if it
// does not open.
func (r *Ring) OpenDetails(id, sealed []byte) ([]byte, error) {
	head, k, err := r.readHead(sealed)
	if err != nil {
		return nil, fmt.Errorf("details: %w", err)
	}
	plain, err := decrypt(k.details, sealed, kekHead, bind(head, id))
	if err != nil {
		return nil, fmt.Errorf("details: %w", err)
	}
	return plain, nil
}

// SealEntry seals an audit entry of that id.
func (r *Ring) SealEntry(id, plain []byte) []byte {
	head := []byte{version1, xchacha20}
	return encrypt(r.entries, head, bind(head, id), plain)
}

// OpenEntry opens what SealEntry made, given the same id. ErrOpen if it does
// not open.
func (r *Ring) OpenEntry(id, sealed []byte) ([]byte, error) {
	head, err := checkHead(sealed, plainHead)
	if err != nil {
		return nil, fmt.Errorf("audit entry: %w", err)
	}
	plain, err := decrypt(r.entries, sealed, plainHead, bind(head, id))
	if err != nil {
		return nil, fmt.Errorf("audit entry: %w", err)
	}
	return plain, nil
}
