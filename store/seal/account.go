package seal

import "fmt"

// SealAccount seals what is kept about an account beside its pushes, such as
// where a session was begun. The id says what it is of; ids of different things
// differ in length.
func (r *Ring) SealAccount(id, plain []byte) []byte {
	head := []byte{version1, xchacha20}
	return encrypt(r.accounts, head, bind(head, id), plain)
}

// OpenAccount opens what SealAccount made, given the same id. ErrOpen if it does
// not open.
func (r *Ring) OpenAccount(id, sealed []byte) ([]byte, error) {
	head, err := checkHead(sealed, plainHead)
	if err != nil {
		return nil, fmt.Errorf("part of an account: %w", err)
	}
	plain, err := decrypt(r.accounts, sealed, plainHead, bind(head, id))
	if err != nil {
		return nil, fmt.Errorf("part of an account: %w", err)
	}
	return plain, nil
}
