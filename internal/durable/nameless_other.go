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

// isRoot is false: there is no such user.
func isRoot() bool { return false }

func belongsToRoot(fs.FileInfo) bool { return false }

// hasOtherNames is not known on this system.
func hasOtherNames(fs.FileInfo) bool { return false }
