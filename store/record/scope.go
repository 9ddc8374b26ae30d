package record

import (
	"errors"
	"strings"
)

// Scopes say what a program may do with an API token. The numbers are stored.
type Scopes uint8

// The scopes.
const (
	ScopeCreate Scopes = 1 << iota // create pushes
	ScopeRead                      // open and list pushes, and read audit logs
	ScopeManage                    // delete pushes, and send their links by mail
	ScopeAdmin                     // administer the instance, as long as the token's account may

	// AllScopes are all scopes for the data of an account. They are the default of a new token,
	// which has ScopeAdmin only on request.
	AllScopes = ScopeCreate | ScopeRead | ScopeManage

	KnownScopes = AllScopes | ScopeAdmin
)

// scopeNames are in the order of the numbers.
var scopeNames = [...]string{"create", "read", "manage", "admin"}

// ScopeNames lists the names of the scopes.
func ScopeNames() []string { return scopeNames[:] }

// Has reports whether s contains all of other.
func (s Scopes) Has(other Scopes) bool { return s&other == other }

// String lists the names of the scopes, with a space between two.
func (s Scopes) String() string {
	var names []string
	for i, name := range scopeNames {
		if s.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// ParseScopes reads names of scopes with spaces or commas between them. An empty text is
// AllScopes. It returns false if one of the names is unknown.
func ParseScopes(text string) (all Scopes, ok bool) {
	names := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	if len(names) == 0 {
		return AllScopes, text == ""
	}
	for _, name := range names {
		one := Scopes(0)
		for i, known := range scopeNames {
			if name == known {
				one = 1 << i
			}
		}
		if one == 0 {
			return 0, false
		}
		all |= one
	}
	return all, true
}

// MarshalText returns what String returns.
func (s Scopes) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (s *Scopes) UnmarshalText(text []byte) error {
	all, ok := ParseScopes(string(text))
	if !ok {
		return errors.New("unknown scope")
	}
	*s = all
	return nil
}
