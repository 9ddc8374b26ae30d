//go:build !unix

package daemon

// harden does nothing: there are no core dumps, and modes mean nothing.
func harden() error { return nil }
