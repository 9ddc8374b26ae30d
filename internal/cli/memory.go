package cli

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"pushbox/server"
)

const argonMemory = 20 << 20 // bytes; what a core takes while it hashes a passphrase

// tuneMemory sets the garbage collector as it suits a server, but for what the
// environment says of it.
func tuneMemory(environ []string) {
	told := func(name string) bool {
		return slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	}
	if !told("GOGC") {
		debug.SetGCPercent(server.GCPercent)
	}
	if !told("GOMEMLIMIT") {
		debug.SetMemoryLimit(server.MemoryLimit + argonMemory*int64(runtime.GOMAXPROCS(0)))
	}
}
