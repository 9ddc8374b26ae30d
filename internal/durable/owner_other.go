//go:build !unix

package durable

import "os"

// chownLike does nothing: the file belongs to the user who created it.
func chownLike(_, _ *os.File) error { return nil }
