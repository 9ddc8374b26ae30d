package action

import (
	"pushbox/store"
	"pushbox/store/record"
)

// A Proxied is a person whom a header of a proxy names. The zero value is none.
type Proxied struct {
	Email  string
	Groups []string
}

// Identity is that of the person.
func (p Proxied) Identity() record.Identity {
	return record.Identity{Issuer: store.ByProxy, Subject: p.Email}
}

// IsOther reports whether a session belongs to a person whom the proxy no longer names.
func (p Proxied) IsOther(i store.SessionInfo) bool {
	return i.Via.Issuer == store.ByProxy && i.Via != p.Identity()
}
