package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/httpd"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
)

type work = func(ctx context.Context, s *store.Store, in int, tell Progress) (string, error)

func longOp(w work) Op[int, string] { return Op[int, string]{name: "dig", long: w} }

// servedBy starts a server on a new socket, and returns its client.
func servedBy(t *testing.T, srv *http.Server) *Client {
	t.Helper()
	path := filepath.Join(env.ShortDir(t), "sock")
	l := env.Must(Listen(t.Context(), path))(t)
	env.Run(t, func(ctx context.Context) error { return httpd.Run(ctx, l, srv, env.Patience) })
	return env.Must(NewClient(path))(t)
}

// served is a client of a server that has one operation.
func served(t *testing.T, w work) *Client {
	t.Helper()
	return servedBy(t, newServer(nil, []operation{longOp(w)}))
}

// answering is a client of a server that answers everything with those lines,
// and with stay keeps the connection after them.
func answering(t *testing.T, lines string, stay bool) *Client {
	t.Helper()
	return servedBy(t, &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, lines)
			if stay {
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
		}),
	})
}

// call asks for the operation, and writes down what is told.
func call(ctx context.Context, c *Client, in int) (out, told string, err error) {
	out, err = longOp(nopWork).WithProgress(func(done, total int64) {
		told += fmt.Sprintf("%d/%d ", done, total)
	}).Call(ctx, c, in)
	return out, told, err
}

func nopWork(context.Context, *store.Store, int, Progress) (string, error) { return "", nil }

func TestProgressArrivesWhileTheOperationRuns(t *testing.T) {
	t.Parallel()
	arrived := make(chan int64)
	c := served(t, func(ctx context.Context, _ *store.Store, in int, tell Progress) (string, error) {
		for i := range int64(3) {
			tell(i, int64(in))
			select {
			case got := <-arrived:
				if got != i {
					return "", fmt.Errorf("%d arrived instead of %d", got, i)
				}
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		tell(3, 4)
		return "dug", nil
	})
	var last [2]int64
	out, err := longOp(nopWork).WithProgress(func(done, total int64) {
		last = [2]int64{done, total}
		if done < 3 {
			arrived <- done
		}
	}).Call(t.Context(), c, 3)
	if out != "dug" || err != nil || last != [2]int64{3, 4} {
		t.Errorf("got %q, %v; the last that was told is %v", out, err, last)
	}
}

// A oneConn accepts one connection.
type oneConn struct {
	net.Listener
	conn net.Conn
}

// Accept returns the connection, and then that there is no other.
func (l *oneConn) Accept() (c net.Conn, err error) {
	if l.conn == nil {
		return nil, net.ErrClosed
	}
	c, l.conn = l.conn, nil
	return c, nil
}

// Close does nothing.
func (l *oneConn) Close() error { return nil }

func TestALongOperationOutlivesEveryTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // over a pipe, whose deadlines follow the clock of the bubble
		srv := newServer(nil, []operation{longOp(func(ctx context.Context, _ *store.Store, _ int, _ Progress) (string, error) {
			if _, limited := ctx.Deadline(); limited {
				return "", errors.New("it has a deadline")
			}
			select {
			case <-time.After(9 * beat):
				return "dug", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})})
		srv.ReadTimeout, srv.WriteTimeout = 4*beat, 4*beat
		here, there := net.Pipe()
		go func() { _ = srv.Serve(&oneConn{conn: there}) }()
		defer srv.Close()
		c := &Client{http: http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext:       func(context.Context, string, string) (net.Conn, error) { return here, nil },
		}}, silence: 8 * beat} // each line puts it off
		if out, told, err := call(t.Context(), c, 1); out != "dug" || told != "" || err != nil {
			t.Errorf("got %q, %q, %v", out, told, err)
		}
	})
}

func TestAQuickOperationHasADeadline(t *testing.T) {
	t.Parallel()
	o := Op[int, time.Duration]{name: "dig", do: func(ctx context.Context, _ *store.Store, _ int) (time.Duration, error) {
		end, _ := ctx.Deadline()
		return time.Until(end), nil
	}}
	c := servedBy(t, newServer(nil, []operation{o}))
	here, err := o.Do(t.Context(), nil, 1)
	there, callErr := o.Call(t.Context(), c, 1)
	if err != nil || callErr != nil {
		t.Fatal(err, callErr)
	}
	for _, left := range []time.Duration{here, there} {
		if left <= Longest-time.Minute || left > Longest {
			t.Errorf("it has %v", left)
		}
	}
}

func TestAClientThatLeavesEndsTheOperation(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	c := served(t, func(ctx context.Context, _ *store.Store, _ int, tell Progress) (string, error) {
		tell(1, 2)
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	_, err := longOp(nopWork).WithProgress(func(_, _ int64) { leave() }).Call(ctx, c, 1)
	env.ErrorIs(t, "the call", err, context.Canceled)
	env.ErrorIs(t, "the operation", <-ended, context.Canceled)
}

// A deaf writer takes nothing.
type deaf struct{ http.ResponseWriter }

func (deaf) Header() http.Header              { return http.Header{} }
func (deaf) Write([]byte) (int, error)        { return 0, net.ErrClosed }
func (deaf) SetWriteDeadline(time.Time) error { return nil }

func TestAClientThatTakesNothingEndsTheOperation(t *testing.T) {
	t.Parallel()
	var ended error
	newStream(deaf{}).reply(t.Context(), func(ctx context.Context, _ Progress) (any, error) {
		<-ctx.Done()
		ended = ctx.Err()
		return nil, ended
	})
	env.ErrorIs(t, "the operation", ended, context.Canceled)
}

func TestAPanicEndsTheAnswerAndNotTheServer(t *testing.T) {
	t.Parallel()
	c := served(t, func(_ context.Context, _ *store.Store, in int, _ Progress) (string, error) {
		if in == 1 {
			panic("ouch")
		}
		return "dug", nil
	})
	if _, _, err := call(t.Context(), c, 1); err == nil || !strings.Contains(err.Error(), "the server ended") {
		t.Errorf("got %v", err)
	}
	if out, _, err := call(t.Context(), c, 2); out != "dug" || err != nil {
		t.Errorf("the next one got %q, %v", out, err)
	}
}

func TestFailuresOfALongOperationCross(t *testing.T) {
	t.Parallel()
	failures := []error{
		record.ErrBusy, fmt.Errorf("%w: 3 bytes are free", record.ErrFull), context.Canceled, errors.New("odd"),
		&record.InvalidError{Fields: map[string][]string{"depth": {"is too much"}}},
	}
	c := served(t, func(_ context.Context, _ *store.Store, in int, tell Progress) (string, error) {
		tell(1, 2)
		return "dug", failures[in]
	})
	for i, want := range failures {
		out, told, err := call(t.Context(), c, i)
		if err == nil || err.Error() != want.Error() || out != "" || told != "1/2 " {
			t.Errorf("%v: got %q, %q, %v", want, out, told, err)
		}
		for _, c := range codes() {
			if errors.Is(err, c.err) != errors.Is(want, c.err) {
				t.Errorf("%v is not what it was", err)
			}
		}
	}
}

func TestAServerThatSaysNothingIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, lines := range []string{"", "{}\n", `{"At":{"Done":1,"Total":2}}` + "\n{}\n", `{"At":`} {
		c := answering(t, lines, true)
		c.silence = 20 * time.Millisecond
		if _, _, err := call(t.Context(), c, 1); !errors.Is(err, ErrSilent) {
			t.Errorf("after %q: %v", lines, err)
		}
	}
}

func TestAStreamMakesSenseOrIsAnError(t *testing.T) {
	t.Parallel()
	const nonsense, ended = "is malformed", "the server ended while it answered"
	for _, test := range []struct{ lines, told, out, err string }{
		{"{\"Outcome\":\"dug\"}\n", "", "dug", ""},
		{`{"Outcome":"dug"}`, "", "", ended},
		{`{"At":{"Done":1,"Total`, "", "", ended},
		{"{}\n{\"At\":{\"Done\":1,\"Total\":2},\"Outcome\":\"dug\"}\n", "1/2 ", "dug", ""},
		{"{\"Outcome\":\"dug\"}\nmore", "", "dug", ""},
		{`{"New":1,"Outcome":"dug"}` + "\n", "", "dug", ""},
		{"", "", "", ended},
		{"{}\n", "", "", ended},
		{"{\"At\":{\"Done\":1,\"Total\":2}}\n", "1/2 ", "", ended},
		{"hello\n", "", "", nonsense},
		{`{"Outcome":17}` + "\n", "", "", nonsense},
		{`{"Failure":17}` + "\n", "", "", nonsense},
		{"{\"Outcome\":\n", "", "", nonsense},
	} {
		out, told, err := call(t.Context(), answering(t, test.lines, false), 1)
		if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%q: got %v", test.lines, err)
		}
		if out != test.out || told != test.told {
			t.Errorf("%q: got %q and was told %q", test.lines, out, told)
		}
	}
}

func TestALongOperationThatTheServerDoesNotKnow(t *testing.T) {
	t.Parallel()
	c := servedBy(t, newServer(nil, nil))
	_, _, err := call(t.Context(), c, 1)
	env.ErrorIs(t, "it", err, ErrUnknown)
}
