package sdnotify

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the time of the clock that service managers compare, in microseconds.
func monotonic() (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0, fmt.Errorf("read the monotonic clock: %w", err)
	}
	return t.Nano() / int64(time.Microsecond), nil
}
