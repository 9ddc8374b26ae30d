package admin

import (
	"context"
	"encoding/json"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"time"

	"pushbox/internal/httpd"
	"pushbox/store"
)

const (
	maxRequest  = 64 << 10         // bytes of an input
	readTimeout = 10 * time.Second // for an input
	grace       = 3 * time.Second  // that a stop gives to operations that run
	prefix      = "/v1/"
)

// Serve answers operations on a store, and those of the server's own (Op.By),
// until ctx ends. When it returns, none runs any more. It owns the listener.
func Serve(ctx context.Context, l net.Listener, s *store.Store, own ...operation) error {
	return httpd.Run(ctx, l, newServer(s, append(operations(), own...)), grace)
}

func newServer(s *store.Store, ops []operation) *http.Server {
	return &http.Server{
		Handler:           handler(s, ops),
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      Longest + readTimeout, // a stream sets its own
		IdleTimeout:       readTimeout,
		MaxHeaderBytes:    8 << 10,
		ErrorLog:          stdlog.New(io.Discard, "", 0), // each error has a caller who is told
	}
}

func handler(s *store.Store, ops []operation) http.Handler {
	mux := http.NewServeMux()
	for _, o := range ops {
		mux.HandleFunc("POST "+prefix+o.title(), func(w http.ResponseWriter, r *http.Request) {
			do := func(ctx context.Context, tell Progress) (any, error) {
				return o.answer(ctx, s, http.MaxBytesReader(w, r.Body, maxRequest), tell)
			}
			if o.isLong() {
				newStream(w).reply(r.Context(), do)
				return
			}
			out, err := do(r.Context(), nil)
			reply(w, out, err)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { reply(w, nil, ErrUnknown) })
	return mux
}

func reply(w http.ResponseWriter, out any, err error) {
	status := http.StatusOK
	if err != nil {
		status, out = http.StatusUnprocessableEntity, newFailure(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // a caller who has gone needs no answer
}
