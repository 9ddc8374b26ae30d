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

func uidOf(fs.FileInfo) int { return -1 }

// hasOtherNames is not known on this system.
func hasOtherNames(fs.FileInfo) bool { return false }
