package cli

import (
	"context"
	"errors"
	stdlog "log"
	"net/http"
	"time"

	"pushbox/internal/httpd"
	"pushbox/server"
)

// scrapePath is all that the listener for metrics has.
const scrapePath = "/metrics"

// scrapeDrain is how long a scrape may take to end at a stop.
const scrapeDrain = time.Second

// expose answers those who ask for metrics. A listener that breaks is not worth the
// server.
func (w *watch) expose(ctx context.Context) error {
	srv := &http.Server{
		Handler:           http.HandlerFunc(w.scrape),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: headerTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       stdlog.New(debugWriter{w.log}, "", 0),

		DisableGeneralOptionsHandler: true, // or net/http answers OPTIONS *
	}
	err := httpd.Run(ctx, w.listener, srv, scrapeDrain)
	if err != nil && !errors.Is(err, httpd.ErrCut) {
		w.log.Error().Err(err).Msg("metrics cannot be asked for any more")
	}
	return nil
}

// scrape answers on the listener for metrics.
func (w *watch) scrape(rw http.ResponseWriter, r *http.Request) {
	h := rw.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	switch {
	case r.URL.Path != scrapePath:
		answer(rw, http.StatusNotFound, "Only "+scrapePath+" is here.")
	case r.Method != http.MethodGet:
		h.Set("Allow", http.MethodGet)
		answer(rw, http.StatusMethodNotAllowed, "Metrics can be read alone.")
	case !w.token.IsZero() && !server.MayScrape(r.Header, w.token):
		h.Set("WWW-Authenticate", "Bearer")
		answer(rw, http.StatusUnauthorized, "This needs the token that metrics.token_file has: send it as Authorization: Bearer TOKEN.")
	default:
		w.sendMetrics(rw)
	}
}

func (w *watch) sendMetrics(rw http.ResponseWriter) {
	media, text, err := w.metrics.Expose()
	if err != nil {
		w.log.Error().Err(err).Msg("metrics cannot be told")
		answer(rw, http.StatusInternalServerError, "The log of the server says what is wrong.")
		return
	}
	rw.Header().Set("Content-Type", media)
	_, _ = rw.Write(text) // whoever left will ask again
}

// answer sends a line of text.
func answer(rw http.ResponseWriter, status int, line string) {
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	rw.WriteHeader(status)
	_, _ = rw.Write([]byte(line + "\n"))
}
