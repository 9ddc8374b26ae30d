package httpd

import (
	"io"
	"log"
	"net/http"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10 // bytes
)

// NewServer returns a server with every limit that net/http has. A request may take as
// long as read, and its answer as long as write, both from the first byte of the request.
// What net/http itself logs goes to notes, one call a line.
func NewServer(handler http.Handler, notes io.Writer, read, write time.Duration) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: min(headerTimeout, read),
		ReadTimeout:       read,
		WriteTimeout:      write,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(notes, "", 0),

		DisableGeneralOptionsHandler: true, // net/http would answer OPTIONS * without the headers of every answer
	}
}
