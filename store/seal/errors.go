package seal

import "errors"

// The errors of this package. They come wrapped with what is known; none holds
// key material, plain text or a passphrase.
var (
	// ErrKey says that a master key is mangled, badly kept, or not the one
	// that the key ring was sealed under.
	ErrKey = errors.New("the master key cannot be used")
	// ErrOpen says that a record is damaged, or is not where it belongs, or was
	// sealed under another key.
	ErrOpen = errors.New("a sealed record does not open")
	// ErrPassphrase says that a passphrase is missing or wrong. Damage to what
	// it protects looks the same.
	ErrPassphrase = errors.New("the passphrase does not open the push")
)
