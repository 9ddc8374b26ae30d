package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"

	"pushbox/internal/secret"
	"pushbox/store"
)

// A Watch is what a server has for those who watch it. The zero value is one that
// nobody watches.
type Watch struct {
	Observer Observer     // nil: nobody is told
	Ready    func() error // what /readyz tells: nil, ErrStarting or ErrStopping; nil: it is always ready

	Metrics func() (media string, text []byte, err error) // what /metrics answers; nil: it is not there
	Token   secret.Text                                   // what whoever asks for /metrics must have; zero: it is not there
}

// Why a server is not ready.
var (
	// ErrStarting says that it does not serve yet.
	ErrStarting = errors.New("the server is starting")
	// ErrStopping says that it will not serve much longer.
	ErrStopping = errors.New("the server is stopping")
)

// errScrape says that somebody asks for metrics who may not have them.
var errScrape = errors.New("this needs the token of the metrics")

// ready says whether requests should be sent here.
func (s *Server) ready(r *request) (reply, error) {
	if s.watch.Ready != nil {
		if err := s.watch.Ready(); err != nil {
			return reply{}, err
		}
	}
	return s.health(r)
}

// metrics answers with what is counted, to whoever has the token for it.
func (s *Server) metrics(r *request) (reply, error) {
	switch {
	case s.watch.Metrics == nil || s.watch.Token.IsZero():
		return reply{}, store.ErrNotFound
	case !MayScrape(r.Header, s.watch.Token):
		return reply{}, errScrape
	}
	media, body, err := s.watch.Metrics()
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, text: &text{media: media, body: body}}, nil
}

// MayScrape reports whether a request shows that token, as a bearer token. How long
// it takes says nothing of the token.
func MayScrape(h http.Header, token secret.Text) bool {
	given, ok := bearer(h[headerAuthorization])
	got, want := sha256.Sum256([]byte(given.Reveal())), sha256.Sum256([]byte(token.Reveal()))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && ok && !token.IsZero()
}

// A Load is what a server has under way.
type Load struct {
	Uploads, Downloads int   // of files
	Bodies, Reveals    int64 // bytes of memory that large requests have, and large answers that open pushes
}

// Load returns what is under way now.
func (s *Server) Load() Load {
	return Load{
		Uploads: s.uploads.taken(), Downloads: s.downloads.taken(),
		Bodies: s.bodies.taken.Load(), Reveals: s.reveals.taken.Load(),
	}
}
