package httpd

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10 // bytes; the cookies of a single sign-on take many
	maxFields     = 100      // in a header: each may be few bytes, but takes some hundred in memory

	maxStreams = 32        // requests over HTTP/2 at once on a connection, where Go would take 250
	maxUnread  = 256 << 10 // bytes of their bodies that wait in memory; Go would take 1 MiB
	maxFrame   = 16 << 10  // bytes, the least that HTTP/2 allows; a connection keeps room for the largest that came
)

// NewServer returns a server with every limit that net/http has. A request may take as
// long as read, and its answer as long as write, both from the first byte of the request. Over
// HTTP/2, a connection ends whose peer reads nothing for the time stall; 0 leaves it to write.
// What net/http itself logs goes to notes, one call a line.
func NewServer(handler http.Handler, notes io.Writer, read, write, stall time.Duration) *http.Server {
	return &http.Server{
		Handler:           fewFields(handler),
		ReadHeaderTimeout: min(headerTimeout, read),
		ReadTimeout:       read,
		WriteTimeout:      write,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		// A peer that reads nothing blocks all streams of its connection. The headers of each, and
		// the received part of its body, are in memory before any bound of requests applies.
		HTTP2: &http.HTTP2Config{
			WriteByteTimeout: stall, MaxConcurrentStreams: maxStreams,
			MaxReceiveBufferPerConnection: maxUnread, MaxReceiveBufferPerStream: maxUnread, MaxReadFrameSize: maxFrame,
		},
		ErrorLog: log.New(notes, "", 0),

		DisableGeneralOptionsHandler: true, // net/http would answer OPTIONS * without the headers of every answer
	}
}

// fewFields refuses a request with too many header fields. The connection ends at once: otherwise the
// header would be in memory until the body has come.
func fewFields(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 0
		for _, values := range r.Header {
			n += len(values)
		}
		if n <= maxFields {
			next.ServeHTTP(w, r)
			return
		}
		const status = http.StatusRequestHeaderFieldsTooLarge // as net/http answers where there are too many bytes
		text := fmt.Sprintf("%d %s: at most %d", status, http.StatusText(status), maxFields)
		conn := http.NewResponseController(w)
		_ = conn.SetReadDeadline(time.Now()) // else net/http would wait for the body
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)+1))
		http.Error(w, text, status)
		_ = conn.Flush()
		panic(http.ErrAbortHandler)
	})
}
