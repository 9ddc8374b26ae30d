package seal

import "crypto/sha256"

// crypto/hkdf and crypto/hmac take any hash, behind an interface, so that deriving
// a key costs them a dozen allocations and more. These take SHA-256 alone and work
// on the stack; a test holds that they give the same.

// deriveKey returns HKDF-SHA256(secret, salt, info), RFC 5869: the first 32 bytes,
// which are its first block.
func deriveKey(secret, salt []byte, info string) [keySize]byte {
	var room [sha256.BlockSize]byte
	extracted := authenticate(salt, secret) // no salt is one of zeros, and so is what a short key is filled up with
	return authenticate(extracted[:], append(append(room[:0], info...), 1))
}

// authenticate returns HMAC-SHA256(key, message), RFC 2104.
func authenticate(key, message []byte) [sha256.Size]byte {
	if len(key) > sha256.BlockSize {
		digest := sha256.Sum256(key)
		key = digest[:]
	}
	var room [4 * sha256.BlockSize]byte
	inner := sha256.Sum256(append(pad(room[:0], key, 0x36), message...))
	return sha256.Sum256(append(pad(room[:0], key, 0x5c), inner[:]...))
}

// pad appends a key, filled up with zeros to a block, each byte of it XORed with x.
func pad(dst, key []byte, x byte) []byte {
	var block [sha256.BlockSize]byte
	copy(block[:], key)
	for i := range block {
		block[i] ^= x
	}
	return append(dst, block[:]...)
}
