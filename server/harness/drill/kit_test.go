package drill_test

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"pushbox/server/servertest"
)

// chunkOf is a piece of a body whose length was not told.
func chunkOf(piece []byte) []byte {
	return fmt.Appendf(nil, "%x\r\n%s\r\n", len(piece), piece)
}

// answered is the status of what comes on a connection; 0 if nothing does.
func answered(l *servertest.Line) int {
	l.T.Helper()
	defer l.Close()
	res, err := http.ReadResponse(bufio.NewReader(l), nil)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// An endlessBody continues until the server reads no more of it, or has read far too
// much.
type endlessBody struct {
	begin string
	sent  atomic.Int64
}

var errEnough = errors.New("far too much was taken")

func (e *endlessBody) Read(p []byte) (int, error) {
	if e.sent.Load() > 64<<20 {
		return 0, errEnough
	}
	for i := range p {
		p[i] = 'x'
	}
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	e.sent.Add(int64(len(p)))
	return len(p), nil
}
