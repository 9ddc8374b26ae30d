package httpd_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/internal/httpd"
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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

// get asks the site and returns what came of it.
func (s *site) get(t *testing.T) <-chan error {
	t.Helper()
	answer := make(chan error, 1)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Minute}
	if err := httpd.Run(t.Context(), l, srv, time.Second); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Run returned %v, not that its listener is closed", err)
	}
}

func TestAConnectionThatSaysNothingHoldsUpNoStop(t *testing.T) {
	t.Parallel()
	s := start(t, time.Minute, func(*http.Request) {})
	silent, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if err := <-s.get(t); err != nil { // by now the server has accepted the silent one
		t.Fatal(err)
	}
	<-s.begun
	begin := time.Now()
	s.stop()
	if err := <-s.ended; err != nil || time.Since(begin) > 4*time.Second { // net/http would wait five
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}
