package httpd_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/httpd"
	"pushbox/internal/testkit/env"
)

// A site is a server under test whose handler says when it begins.
type site struct {
	url   string
	begun chan struct{}
	stop  context.CancelFunc
	ended chan error
}

func start(t *testing.T, drain time.Duration, work func(r *http.Request)) *site {
	t.Helper()
	l := env.Listen(t)
	ctx, stop := context.WithCancel(t.Context())
	s := &site{url: "http://" + l.Addr().String(), begun: make(chan struct{}, 1), stop: stop, ended: make(chan error, 1)}
	srv := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			s.begun <- struct{}{}
			work(r)
		}),
	}
	go func() { s.ended <- httpd.Run(ctx, l, srv, drain) }()
	t.Cleanup(stop)
	return s
}

// get asks the site and returns the outcome.
func (s *site) get(t *testing.T) <-chan error {
	t.Helper()
	answer := make(chan error, 1)
	req := env.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.url, nil))(t)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			err = errors.Join(err, res.Body.Close())
		}
		answer <- err
	}()
	return answer
}

func TestAStopWaitsForTheRequestThatRuns(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := start(t, time.Minute, func(*http.Request) { <-release })
	answer := s.get(t)
	<-s.begun
	s.stop()
	select {
	case err := <-s.ended:
		t.Fatalf("it ended while a request ran: %v", err)
	default:
	}
	close(release)
	if err := <-answer; err != nil {
		t.Errorf("the request that ran got %v", err)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("Run returned %v", err)
	}
}

func TestARequestThatOutlastsTheDrainIsCutOff(t *testing.T) {
	t.Parallel()
	done := false
	s := start(t, time.Millisecond, func(r *http.Request) {
		<-r.Context().Done()
		done = true
	})
	answer := s.get(t)
	<-s.begun
	s.stop()
	if err := <-s.ended; !errors.Is(err, httpd.ErrCut) {
		t.Errorf("Run returned %v, not ErrCut", err)
	}
	if !done { // no lock: that Serve has returned must be enough
		t.Error("Run returned while a handler ran")
	}
	if err := <-answer; err == nil {
		t.Error("the request that was cut off was answered")
	}
}

func TestAListenerThatBreaksEndsTheServer(t *testing.T) {
	t.Parallel()
	l := env.Listen(t)
	env.OK(t, l.Close())
	srv := &http.Server{ReadHeaderTimeout: time.Minute}
	if err := httpd.Run(t.Context(), l, srv, time.Second); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Run returned %v, not that its listener is closed", err)
	}
}

// A pipeListener accepts the ends of pipes. Their deadlines follow the clock of a bubble.
type pipeListener struct {
	net.Listener
	conns  chan net.Conn
	closed chan struct{}
}

// Accept returns the next connection.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (l *pipeListener) Close() error { close(l.closed); return nil }

func TestAConnectionThatSaysNothingHoldsUpNoStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- httpd.Run(ctx, l, &http.Server{ReadHeaderTimeout: time.Hour}, time.Minute) }()
		silent, accepted := net.Pipe()
		defer silent.Close()
		l.conns <- accepted
		synctest.Wait()
		begin := time.Now()
		stop()
		if err := <-ended; err != nil || time.Since(begin) > 4*time.Second { // net/http would wait five
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
	})
}
