package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store/record"
)

// metrics answers with the metrics, for clients that have the token.
func (s *Server) metrics(r *action.Request) (action.Reply, error) {
	switch {
	case s.monitoring.Metrics == nil || s.monitoring.Token.IsZero():
		return action.Reply{}, record.ErrNotFound
	case !mayScrape(r.Header, s.monitoring.Token):
		return action.Reply{}, action.ErrScrape
	}
	media, body, err := s.monitoring.Metrics()
	if err != nil {
		return action.Reply{}, err
	}
	return action.Reply{Status: http.StatusOK, Text: &action.Text{Media: media, Body: body}}, nil
}

// scrapeHostMessage answers a request for another host.
const scrapeHostMessage = "This listener accepts only addresses and localhost as host. Add this host to allowed_hosts, or set metrics.token_file."

// Metrics returns the handler for a separate listener. It serves only metrics, in plain text, and
// requires the token only if one is set. Without a token it accepts only addresses, localhost, and
// the hosts of the settings, since a page of another site can point its own name at this machine.
// Its requests are neither logged nor counted.
func (s *Server) Metrics() http.Handler { return http.HandlerFunc(s.scrape) }

func (s *Server) scrape(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	scrapeHeaders(h)
	s = s.latest.Load()
	switch {
	case s.monitoring.Token.IsZero() && !isAddress(r.Host) && !s.hosts.has(r.Host):
		sendLine(w, http.StatusMisdirectedRequest, scrapeHostMessage)
	case r.URL.Path != metricsPath:
		sendLine(w, http.StatusNotFound, "Only "+metricsPath+" is here.")
	case r.Method != http.MethodGet:
		h.Set("Allow", http.MethodGet)
		sendLine(w, http.StatusMethodNotAllowed, "Metrics are read-only: use GET.")
	case !s.monitoring.Token.IsZero() && !mayScrape(r.Header, s.monitoring.Token):
		h.Set("WWW-Authenticate", "Bearer")
		sendLine(w, http.StatusUnauthorized, action.ScrapeMessage)
	default:
		s.sendMetrics(w)
	}
}

func (s *Server) sendMetrics(w http.ResponseWriter) {
	media, body, err := s.monitoring.Metrics()
	if err != nil {
		s.log.Error().Err(err).Msg("metrics could not be gathered")
		sendLine(w, http.StatusInternalServerError, "The server's log says what is wrong.")
		return
	}
	w.Header().Set("Content-Type", media)
	_, _ = w.Write(body) // a client that has left will ask again
}

// sendLine sends a line of text.
func sendLine(w http.ResponseWriter, status int, line string) {
	w.Header()["Content-Type"] = textType
	w.WriteHeader(status)
	_, _ = w.Write([]byte(line + "\n"))
}

// mayScrape reports whether a request has that token, as a bearer token. The time that
// it takes does not depend on the token.
func mayScrape(h http.Header, token secret.Text) bool {
	given := bearer(h[headerAuthorization])
	got, want := sha256.Sum256([]byte(given.Reveal())), sha256.Sum256([]byte(token.Reveal()))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && !token.IsZero()
}
