package deadline

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// endless is a reader of zeros without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A moveCounter is a connection that counts how often its deadline to read moves.
type moveCounter struct {
	http.ResponseWriter
	moves int
}

func (c *moveCounter) SetReadDeadline(time.Time) error {
	c.moves++
	return nil
}

func TestAByteAtATimeMovesNoDeadline(t *testing.T) {
	t.Parallel()
	d := &moveCounter{ResponseWriter: httptest.NewRecorder()}
	dl := Deadlines{control: *http.NewResponseController(d), stall: time.Hour}
	p := &progressReader{r: endless{}, deadlines: &dl}
	for range progressStep - 1 {
		_, _ = p.Read(make([]byte, 1))
	}
	if d.moves != 0 {
		t.Errorf("it moved %d times", d.moves)
	}
	_, _ = p.Read(make([]byte, 1))
	if d.moves != 1 {
		t.Errorf("it moved %d times after %d bytes", d.moves, progressStep)
	}
}

// A file must not only move now and then, but 4 KiB a second on average.
func TestAFileMustKeepItsRate(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	for _, c := range []struct {
		moved int64
		after time.Duration // since the begin
		want  time.Duration // until when more must move, since the begin
	}{
		{0, 0, time.Minute},
		{leastRate - 1, 30 * time.Second, 60 * time.Second},
		{leastRate, 30 * time.Second, 61 * time.Second},
		{64 << 10, time.Second, 61 * time.Second},
		{64 << 10, 16 * time.Second, 76 * time.Second},
		{64 << 10, 50 * time.Second, 76 * time.Second},
		{1 << 40, time.Hour, time.Hour + time.Minute},
	} {
		p := Pace{Begin: begin, Moved: c.moved}
		if got := p.deadline(begin.Add(c.after), time.Minute).Sub(begin); got != c.want {
			t.Errorf("%d bytes after %v: until %v, not %v", c.moved, c.after, got, c.want)
		}
	}
}
