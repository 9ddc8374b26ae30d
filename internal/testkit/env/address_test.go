package env

import (
	"net"
	"testing"
)

func TestFreeAddressesDifferAndCanBeTaken(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for range 20 {
		address := FreeAddress(t)
		if c, err := net.Dial("tcp", address); err == nil {
			t.Errorf("%s takes connections", c.RemoteAddr())
		}
		if l, err := net.Listen("tcp", address); err != nil || l.Close() != nil || seen[address] {
			t.Errorf("%s: %v", address, err)
		}
		seen[address] = true
	}
}
