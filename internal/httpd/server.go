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

	maxStreams = 32        // requests over HTTP/2 at once on a connection, where Go would take 250
	maxUnread  = 256 << 10 // bytes of their bodies that wait in memory; Go would take 1 MiB
)

// NewServer returns a server with every limit that net/http has. A request may take as
// long as read, and its answer as long as write, both from the first byte of the request. Over
// HTTP/2, a connection ends whose peer reads nothing for the time stall; 0 leaves it to write.
// What net/http itself logs goes to notes, one call a line.
func NewServer(handler http.Handler, notes io.Writer, read, write, stall time.Duration) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: min(headerTimeout, read),
		ReadTimeout:       read,
		WriteTimeout:      write,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		// A peer that reads nothing blocks all streams of its connection. The headers of each are in
		// memory before any bound of requests sees them, and so is what came of its body.
		HTTP2: &http.HTTP2Config{
			WriteByteTimeout: stall, MaxConcurrentStreams: maxStreams,
			MaxReceiveBufferPerConnection: maxUnread, MaxReceiveBufferPerStream: maxUnread,
		},
		ErrorLog: log.New(notes, "", 0),

		DisableGeneralOptionsHandler: true, // net/http would answer OPTIONS * without the headers of every answer
	}
}
