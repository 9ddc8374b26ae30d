package httpd

import (
	"net"
	"net/http"
	"sync"
)

// silent are the connections that have not sent a byte yet. http.Server.Shutdown
// waits for such a one for five seconds, although nobody asked for anything.
type silent struct {
	mu       sync.Mutex
	conns    map[net.Conn]struct{}
	stopping bool
}

// note is the server's ConnState.
func (s *silent) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.conns, c)
	case s.stopping:
		_ = c.Close()
	default:
		s.conns[c] = struct{}{}
	}
}

// stop closes those that there are, and those that come.
func (s *silent) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	for c := range s.conns {
		_ = c.Close()
	}
}
