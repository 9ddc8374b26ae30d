package proctest

import (
	"bytes"
	"sync"
)

// An Output keeps what a program writes. It may be read while the program runs.
type Output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write keeps b.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(b)
}

// String is all that was written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}
