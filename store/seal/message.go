package seal

import (
	"fmt"
	"time"
)

// SealHook seals where a webhook leads and what it signs with. It is made at that
// time; place says whose it is.
func (r *Ring) SealHook(made time.Time, place, plain []byte) []byte {
	k := r.current(made)
	head := k.head()
	return encrypt(k.hooks, head, bind(head, place), plain)
}

// OpenHook opens what SealHook made, given the same place. ErrOpen if it does not
// open.
func (r *Ring) OpenHook(place, sealed []byte) ([]byte, error) {
	head, k, err := r.readHead(sealed)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	plain, err := decrypt(k.hooks, sealed, kekHead, bind(head, place))
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	return plain, nil
}

// SealMessage seals what a message of the outbox says. It is made at that time;
// place says to whom it goes.
func (r *Ring) SealMessage(made time.Time, place, plain []byte) []byte {
	k := r.current(made)
	head := k.head()
	return encrypt(k.messages, head, bind(head, place), plain)
}

// OpenMessage opens what SealMessage made, given the same place. ErrOpen if it
// does not open.
func (r *Ring) OpenMessage(place, sealed []byte) ([]byte, error) {
	head, k, err := r.readHead(sealed)
	if err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	plain, err := decrypt(k.messages, sealed, kekHead, bind(head, place))
	if err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	return plain, nil
}
