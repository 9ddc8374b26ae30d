// Package httpd makes HTTP servers with limits, runs them, and drains them at a stop.
package httpd

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// ErrCut says that requests still ran at the end of the drain, and were cut off.
var ErrCut = errors.New("running requests were aborted")

// Run serves requests on l until ctx ends. Then it accepts no further requests, and gives running
// ones the time drain to finish. After that it closes their connections, ends their contexts, and
// returns ErrCut. When Run returns, no handler runs and l is closed. It sets srv.Handler,
// srv.BaseContext, srv.ConnContext and srv.ConnState.
func Run(ctx context.Context, l net.Listener, srv *http.Server, drain time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	g := &gate{next: srv.Handler}
	srv.Handler = g
	srv.BaseContext = func(net.Listener) context.Context { return work }
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		limitUnsent(c)
		return context.WithValue(ctx, connKey{}, boundOf(c))
	}
	unused := &silent{conns: make(map[net.Conn]struct{})}
	srv.ConnState = func(c net.Conn, state http.ConnState) {
		unused.note(c, state)
		noteState(c, state)
	}

	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		unused.stop()
		stopped <- stop(srv, abandon, drain)
	}()
	err := srv.Serve(l)
	cancel()
	cut := <-stopped
	g.shut()
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return cut
}

func stop(srv *http.Server, abandon context.CancelFunc, drain time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	err := srv.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err := srv.Close() // first, because the output of a handler whose context has ended is not an answer
		abandon()
		return errors.Join(ErrCut, err)
	}
	return err
}

// A gate waits for running handlers at a stop: http.Server.Close does not.
type gate struct {
	next http.Handler
	open sync.RWMutex // held for reading by each handler that runs
	gone bool
}

// ServeHTTP serves a request, unless the gate is shut: then its connection is closed already.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.open.RLock()
	defer g.open.RUnlock()
	if !g.gone {
		g.next.ServeHTTP(w, r)
	}
}

// shut waits for running handlers. It needs no deadline: their contexts have ended, and
// their connections are closed.
func (g *gate) shut() {
	g.open.Lock()
	defer g.open.Unlock()
	g.gone = true
}

// silent are the connections that have not sent a byte yet. http.Server.Shutdown waits for
// them for five seconds, although there is no request.
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

// stop closes the silent connections, and new ones from then on.
func (s *silent) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	for c := range s.conns {
		_ = c.Close()
	}
}
