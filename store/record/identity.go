package record

import (
	"crypto/sha256"
	"slices"
)

// Limits of identities.
const (
	MaxIdentities = 8    // of an account
	maxIssuerURL  = 1024 // bytes
	maxSubject    = 512  // bytes
)

// An Identity names a person at a sign-in provider. Names are case-sensitive.
type Identity struct {
	Issuer  string // the provider: an address, or a word of pushbox's own
	Subject string // the person, for that provider
}

// An IdentityDigest is the key by which engines find an account.
type IdentityDigest [32]byte

// append appends the identity to b.
func (i Identity) append(b []byte) []byte { return AppendBytes(AppendBytes(b, i.Issuer), i.Subject) }

// Digest returns the identity's digest.
func (i Identity) Digest() IdentityDigest { return sha256.Sum256(i.append(nil)) }

// Valid reports whether an account can have the identity.
func (i Identity) Valid() bool {
	return i.Issuer != "" && i.Subject != "" && len(i.Issuer) <= maxIssuerURL && len(i.Subject) <= maxSubject
}

// Identities are the concatenated identities of an account. Two accounts cannot have the same
// identity.
type Identities string

// List returns each of them.
func (l Identities) List() (all []Identity) {
	for r := (Reader{Rest: []byte(l)}); len(r.Rest) > 0 && !r.Bad; {
		all = append(all, Identity{string(r.Bytes()), string(r.Bytes())})
	}
	return all
}

// Has reports whether the identity is one of them.
func (l Identities) Has(i Identity) bool { return slices.Contains(l.List(), i) }

// Digests returns the digest of each.
func (l Identities) Digests() []IdentityDigest {
	list := l.List()
	all := make([]IdentityDigest, len(list))
	for n, i := range list {
		all[n] = i.Digest()
	}
	return all
}

// With returns the identities with one more.
func (l Identities) With(i Identity) Identities { return Identities(i.append([]byte(l))) }

// Without returns the identities without those of a provider.
func (l Identities) Without(issuer string) (kept Identities) {
	for _, i := range l.List() {
		if i.Issuer != issuer {
			kept = kept.With(i)
		}
	}
	return kept
}

// wellFormed reports whether the identities have the form that With makes.
func (l Identities) wellFormed() bool {
	var again Identities
	list := l.List()
	for _, i := range list {
		if !i.Valid() || again.Has(i) {
			return false
		}
		again = again.With(i)
	}
	return again == l && len(list) <= MaxIdentities
}
