package env

import (
	"sync/atomic"
	"time"
)

// An Ahead is the machine's clock, and ahead of it by what a test has added. It is safe for
// concurrent use.
type Ahead struct{ by atomic.Int64 }

var start = time.Now()

// Now is what the wall clock shows.
func (a *Ahead) Now() time.Time { return time.Now().Add(time.Duration(a.by.Load())) }

// Elapsed is the time since some moment.
func (a *Ahead) Elapsed() time.Duration { return time.Since(start) + time.Duration(a.by.Load()) }

// Advance lets the time d pass.
func (a *Ahead) Advance(d time.Duration) { a.by.Add(int64(d)) }
