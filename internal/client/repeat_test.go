package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"pushbox/internal/secret"
)

// cut ends a connection without an answer.
func cut(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func TestAPushWhoseAnswerIsLostIsSentAgain(t *testing.T) {
	t.Parallel()
	text, mailed := NewPush{Payload: secret.New("x")}, NewPush{Payload: secret.New("x"), MailTo: secret.New("ann@example.com")}
	files := func() NewPush { return NewPush{Kind: "file", Files: []Upload{upload("a", "text")}} }
	for name, test := range map[string]struct {
		in    NewPush
		first http.HandlerFunc
		sent  int
		wait  time.Duration
	}{
		"it succeeds":              {text, says(http.StatusCreated, madeBody), 1, 0},
		"the connection is lost":   {text, cut, 2, time.Second},
		"a gateway has no answer":  {text, says(http.StatusBadGateway, "{}"), 2, time.Second},
		"a gateway waits too long": {text, says(http.StatusGatewayTimeout, "{}"), 2, time.Second},
		"the server is busy":       {text, says(http.StatusServiceUnavailable, "{}"), 1, 0},
		"the server is broken":     {text, says(http.StatusInternalServerError, "{}"), 1, 0},
		"too many requests":        {text, says(http.StatusTooManyRequests, "{}"), 1, 0},
		"a wrong field":            {text, says(http.StatusUnprocessableEntity, `{"payload":["is required"]}`), 1, 0},
		"no such API":              {text, says(http.StatusCreated, "<html>"), 1, 0},
		"it goes out by mail":      {mailed, cut, 1, 0},
		"it has files":             {files(), says(http.StatusBadGateway, "{}"), 1, 0},
	} {
		asked := 0
		f := serving(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if asked++; asked > 1 {
				says(http.StatusCreated, madeBody)(w, r)
				return
			}
			test.first(w, r)
		})
		c := f.client()
		var waited time.Duration
		c.pause = func(ctx context.Context, d time.Duration) error {
			waited += d
			return ctx.Err()
		}
		p, err := c.Create(t.Context(), test.in, nil)
		all := f.requests()
		if len(all) != test.sent || waited != test.wait || test.sent == 2 && (err != nil || p.Link.IsZero()) {
			t.Errorf("%s: sent %d times, waited %v, %v", name, len(all), waited, err)
		}
		key := all[0].Header.Get("Idempotency-Key")
		if all[len(all)-1].Header.Get("Idempotency-Key") != key || (len(key) >= 16) != (test.in.MailTo.IsZero() && test.in.Files == nil) {
			t.Errorf("%s: the keys differ, or are of another length", name)
		}
	}
}

func TestAPushIsSentAgainOnlyOnce(t *testing.T) {
	t.Parallel()
	f := serving(t, cut)
	if _, err := f.client().Create(t.Context(), NewPush{Payload: secret.New("x")}, nil); err == nil || len(f.requests()) != 2 {
		t.Errorf("%d requests, %v", len(f.requests()), err)
	}
	f.Close()
	var waited bool
	c := f.client()
	c.pause = func(context.Context, time.Duration) error { waited = true; return nil }
	if _, err := c.Create(t.Context(), NewPush{Payload: secret.New("x")}, nil); err == nil || waited {
		t.Errorf("without a server: waited %t, %v", waited, err)
	}
}

func TestAnInterruptedPushIsNotSentAgain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped by hand")
	f := serving(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else its end is not seen
		cancel(stop)
		<-r.Context().Done()
	})
	if _, err := f.client().Create(ctx, NewPush{Payload: secret.New("x")}, nil); !errors.Is(err, stop) || len(f.requests()) != 1 {
		t.Errorf("%d requests, %v", len(f.requests()), err)
	}
}
