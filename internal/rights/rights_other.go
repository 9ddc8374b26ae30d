//go:build !unix

// Package rights has nothing to do on a system where no user has the rights of all others.
package rights

// An Owner does not exist.
type Owner struct{ At string }

// String returns nothing.
func (*Owner) String() string { return "" }

// Of returns nil.
func Of(string) (*Owner, error) { return nil, nil }

// Take returns nil.
func Take(string) error { return nil }

// Taken returns nil.
func Taken() *Owner { return nil }

// AsCaller does something.
func AsCaller(do func() error) error { return do() }

// An Access has no effect.
type Access struct{}

// At returns an Access.
func At(string) (Access, error) { return Access{}, nil }

// Owner returns nil.
func (Access) Owner() *Owner { return nil }

// Do does something.
func (Access) Do(do func() error) error { return do() }

// Beside does something.
func Beside(_ string, do func() error) error { return do() }
