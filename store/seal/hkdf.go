package seal

import "crypto/sha256"

// crypto/hkdf and crypto/hmac take any hash through an interface, so that deriving a
// key costs a dozen allocations and more. These functions use only SHA-256 and work on
// the stack; a test compares their results.

// hkdfSHA256 returns HKDF-SHA256(secret, salt, info), RFC 5869: the first 32 bytes,
// which are its first block.
func hkdfSHA256(secret, salt []byte, info string) [keySize]byte {
	var room [sha256.BlockSize]byte
	extracted := hmacSHA256(salt, secret) // no salt means zeros, which also fill up a short key
	return hmacSHA256(extracted[:], append(append(room[:0], info...), 1))
}

// hmacSHA256 returns HMAC-SHA256(key, message), RFC 2104.
func hmacSHA256(key, message []byte) [sha256.Size]byte {
	if len(key) > sha256.BlockSize {
		digest := sha256.Sum256(key)
		key = digest[:]
	}
	var room [4 * sha256.BlockSize]byte
	inner := sha256.Sum256(append(pad(room[:0], key, 0x36), message...))
	return sha256.Sum256(append(pad(room[:0], key, 0x5c), inner[:]...))
}

// pad appends a key, filled up with zeros to a block, and XORs each byte with x.
func pad(dst, key []byte, x byte) []byte {
	var block [sha256.BlockSize]byte
	copy(block[:], key)
	for i := range block {
		block[i] ^= x
	}
	return append(dst, block[:]...)
}
