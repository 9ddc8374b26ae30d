//go:build !linux && !darwin && !freebsd

package bolt

// dontNeed is left to the system here.
func dontNeed([]byte) {}
