package humanize

import (
	"math"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

func TestASizeIsWrittenInItsUnit(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		0:                 "0 B",
		1023:              "1023 B",
		1024:              "1 KiB",
		1536:              "1.5 KiB",
		24 << 10:          "24 KiB",
		250 << 10:         "250 KiB",
		1<<20 - 513:       "1023 KiB",
		1<<20 - 512:       "1 MiB",
		1 << 20:           "1 MiB",
		1<<30 + 300<<20:   "1.3 GiB",
		2 << 40:           "2 TiB",
		math.MaxInt64 / 2: "4 EiB",
		math.MaxInt64:     "8 EiB",
	} {
		env.Equal(t, bytes, Size(bytes), want)
	}
}

func TestOneThingIsSingular(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 views", 1: "1 view", 2: "2 views"} {
		env.Equal(t, n, Count(n, "view", "views"), want)
	}
}

func TestALongDurationIsInDays(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{1500 * time.Millisecond: "2s", 47 * time.Hour: "47h0m0s", 48 * time.Hour: "2 days", 71 * time.Hour: "2 days"} {
		env.Equal(t, d, Duration(d), want)
	}
}
