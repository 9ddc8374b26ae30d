//go:build !unix

package durable

import "io/fs"

const (
	tellsNames  = false
	nonBlocking = 0
	noFollow    = 0
)

// isNameless is not known on this system.
func isNameless(fs.FileInfo) bool { return false }
