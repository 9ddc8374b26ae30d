package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
)

// bareWord names the bare handler: as an argument, a subject and an API.
const bareWord = "bare"

// bareLength is the number of bytes that the bare handler answers.
const bareLength = 300

// bareAnswer is a JSON object of that length.
func bareAnswer() []byte {
	const around = len(`{"a":""}`)
	return []byte(`{"a":"` + strings.Repeat("x", bareLength-around) + `"}`)
}

// An announcement is the line of the log that has the address of a server, in the form
// of pushbox's log.
type announcement struct {
	Message string `json:"message"`
	Address string `json:"address"`
}

// serveBare answers every request with the same JSON until ctx ends. It announces its
// address on notes. The server has no timeouts, because they would cost time at each
// request, and only the load generator connects to it.
func serveBare(ctx context.Context, notes io.Writer) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answer := bareAnswer()
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(answer)
	})}
	if err := json.NewEncoder(notes).Encode(announcement{"listening", l.Addr().String()}); err != nil {
		return errors.Join(err, l.Close())
	}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
