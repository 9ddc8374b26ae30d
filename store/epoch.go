package store

import "sync"

// epochs count the operations that seal something and keep it, so that those which took
// their keys from an older ring are waited for before these keys are dropped. A method
// that seals enters before it loads the ring, and leaves after the engine has answered.
// The zero value is ready.
type epochs struct {
	mu  sync.Mutex
	now *epoch // the one that begins operations; nil before the first
}

// An epoch is the time between two turns.
type epoch struct {
	running int
	over    bool
	ended   chan struct{} // closed when it is over and the last of its operations has ended
}

// enter begins an operation. The caller passes the result to leave when it ends.
// Operations may be nested.
func (e *epochs) enter() *epoch {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.current()
	p.running++
	return p
}

// leave ends an operation that enter began.
func (e *epochs) leave(p *epoch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.running--
	p.end()
}

// turn returns a channel that is closed once every operation that began before has ended.
// Those that begin from now on are not waited for.
func (e *epochs) turn() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.current()
	old.over = true
	e.now = nil
	old.end()
	return old.ended
}

func (e *epochs) current() *epoch {
	if e.now == nil {
		e.now = &epoch{ended: make(chan struct{})}
	}
	return e.now
}

// end closes ended if the epoch is over and nothing runs in it. After that no operation begins in it.
func (p *epoch) end() {
	if p.over && p.running == 0 {
		close(p.ended)
	}
}
