// Package httpd runs an HTTP server until it is told to stop, and stops it in
// good order.
package httpd

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// ErrCut says that requests were still running when a stop could wait no
// longer, and were cut off.
var ErrCut = errors.New("requests were cut off")

// Run answers requests on l until ctx ends. Then it takes no more, and lets
// those that run finish for as long as drain; after that their contexts end and
// their connections are closed, which is ErrCut. When Run returns, no handler
// runs any more and l is closed. It sets srv.Handler, srv.BaseContext,
// srv.ConnContext and srv.ConnState.
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
		return ctx
	}
	unused := &silent{conns: make(map[net.Conn]struct{})}
	srv.ConnState = unused.note

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
		abandon()
		return errors.Join(ErrCut, srv.Close())
	}
	return err
}

// A gate knows which handlers run: http.Server.Close does not wait for them.
type gate struct {
	next http.Handler
	open sync.RWMutex // held for reading by each handler that runs
	gone bool
}

// ServeHTTP answers a request, unless the gate is shut: its connection is
// closed already.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.open.RLock()
	defer g.open.RUnlock()
	if !g.gone {
		g.next.ServeHTTP(w, r)
	}
}

// shut waits for the handlers that run. It needs no deadline: their contexts
// have ended, and so have their connections.
func (g *gate) shut() {
	g.open.Lock()
	defer g.open.Unlock()
	g.gone = true
}
