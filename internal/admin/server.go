package admin

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"

	"pushbox/internal/httpd"
	"pushbox/store"
)

const (
	maxRequest  = 64 << 10         // bytes of an input
	readTimeout = 10 * time.Second // for an input
	grace       = 3 * time.Second  // for running operations at a stop
	prefix      = "/v1/"
)

// Serve answers calls of the operations on a store, and of the server's own (Op.By), until
// ctx ends. When it returns, no operation runs, and l is closed.
func Serve(ctx context.Context, l net.Listener, s *store.Store, own ...operation) error {
	return httpd.Run(ctx, l, newServer(s, append(operations(), own...)), grace)
}

func newServer(s *store.Store, ops []operation) *http.Server {
	const write = Longest + readTimeout // a stream sets its own
	return httpd.NewServer(handler(s, ops), io.Discard, readTimeout, write)
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
	_ = json.NewEncoder(w).Encode(out) // the caller may have gone
}
