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

// Longest is how long an operation may take: a check reads the whole database.
const Longest = 10 * time.Minute

const (
	maxRequest  = 64 << 10         // bytes of an input
	readTimeout = 10 * time.Second // for an input
	grace       = 3 * time.Second  // that a stop gives to operations that run
	prefix      = "/v1/"
)

// Serve answers operations on a store until ctx ends. When it returns, none
// runs any more. It owns the listener.
func Serve(ctx context.Context, l net.Listener, s *store.Store) error {
	srv := &http.Server{
		Handler:           handler(s),
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      Longest + readTimeout,
		IdleTimeout:       readTimeout,
		MaxHeaderBytes:    8 << 10,
		ErrorLog:          stdlog.New(io.Discard, "", 0), // each error has a caller who is told
	}
	return httpd.Run(ctx, l, srv, grace)
}

func handler(s *store.Store) http.Handler {
	mux := http.NewServeMux()
	for _, o := range operations() {
		mux.HandleFunc("POST "+prefix+o.title(), func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), Longest)
			defer cancel()
			out, err := o.answer(ctx, s, http.MaxBytesReader(w, r.Body, maxRequest))
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
