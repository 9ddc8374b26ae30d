package env

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

var given sync.Map // ports

// FreeAddress is an address of this machine that refuses connections, until a program that is
// started later listens there. Its port is below those that the system gives to a process that asks
// for any, so that no other process gets it meanwhile.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const lowest, below = 10_000, 32_768
	for range below {
		port := lowest + rand.IntN(below-lowest)
		if _, again := given.LoadOrStore(port, true); again {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue // it is in use
		}
		_ = l.Close()
		return l.Addr().String()
	}
	t.Fatal("no port is free")
	return ""
}
