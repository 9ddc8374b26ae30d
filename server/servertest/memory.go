package servertest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A reader is a client that reads nothing of an answer until it is released.
type reader struct {
	*httptest.ResponseRecorder
	began chan struct{}
	may   chan struct{}
	first bool
}

// Write waits until the reader is released.
func (r *reader) Write(b []byte) (int, error) {
	if !r.first {
		r.first = true
		close(r.began)
	}
	<-r.may
	return r.ResponseRecorder.Write(b)
}

// SendUnread sends a request and leaves its answer unread. read reads the answer and
// returns it.
func (a *Server) SendUnread(method, path, body string, header http.Header) (read func() *httptest.ResponseRecorder) {
	w := &reader{ResponseRecorder: httptest.NewRecorder(), began: make(chan struct{}), may: make(chan struct{})}
	hr := httptest.NewRequest(method, path, strings.NewReader(body))
	hr.RemoteAddr = "127.0.0.1:1" // a trusted proxy, if the header says so
	hr.Header = header.Clone()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Handler.ServeHTTP(w, hr)
	}()
	<-w.began
	return func() *httptest.ResponseRecorder {
		close(w.may)
		<-done
		return w.ResponseRecorder
	}
}

// Begin requests a file on a connection of its own and reads the header of the
// answer. The kernel buffers little of the body.
func (a *Server) Begin(path string) (net.Conn, *http.Response) {
	a.T.Helper()
	conn := a.Connect()
	if tcp, ok := conn.(*net.TCPConn); ok {
		env.OK(a.T, tcp.SetReadBuffer(128<<10))
	}
	req, _ := http.NewRequest(http.MethodGet, a.URL+path, nil)
	env.OK(a.T, req.Write(conn))
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), req)
	if err != nil || res.StatusCode != http.StatusOK {
		a.T.Fatalf("%v, %v", res, err)
	}
	return conn, res
}

// A Lister is an engine that calls Read before it reads a list of pushes or requests.
type Lister struct {
	storetest.Watched
	Read func()
}

// NewLister returns a Lister over an engine.
func NewLister(e record.Engine, read func()) Lister {
	return Lister{storetest.Watched{Engine: e, Look: func(of *record.Table) {
		if of == record.Requests.Table {
			read()
		}
	}}, read}
}

// Pushes calls Read first.
func (e Lister) Pushes(ctx context.Context, owner record.AccountID, live bool, before record.ID, skip, limit int) ([]record.Push, error) {
	e.Read()
	return e.Engine.Pushes(ctx, owner, live, before, skip, limit)
}

// HeapInUse is how many bytes of the heap are in use, once what is not has been collected.
func HeapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A Gauge is an empty reader. It records what is in use when a body has been read up to it.
type Gauge struct{ Held uint64 }

// Read records what is in use.
func (g *Gauge) Read([]byte) (int, error) {
	g.Held = HeapInUse()
	return 0, io.EOF
}
