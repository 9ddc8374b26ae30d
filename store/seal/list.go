package seal

import "fmt"

// SealList seals what the files of the push of that id are.
func (k FilesKey) SealList(id, plain []byte) []byte {
	head := []byte{version1, xchacha20}
	return encrypt(k.aead(infoList), head, bind(head, id), plain)
}

// OpenList opens what SealList made, given the same id. ErrOpen if it does not
// open.
func (k FilesKey) OpenList(id, sealed []byte) ([]byte, error) {
	head, err := checkHead(sealed, plainHead)
	if err != nil {
		return nil, fmt.Errorf("list of files: %w", err)
	}
	plain, err := decrypt(k.aead(infoList), sealed, plainHead, bind(head, id))
	if err != nil {
		return nil, fmt.Errorf("list of files: %w", err)
	}
	return plain, nil
}
