// Package humanize writes numbers for people.
package humanize

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Day is the unit of times that are longer than hours.
const Day = 24 * time.Hour

// Size writes a number of bytes in the largest fitting binary unit: up to 1023, with
// one decimal below 100.
func Size(bytes int64) string {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	x, u := float64(bytes), 0
	for x >= 1023.5 && u < len(units)-1 { // which rounds to 1024
		x, u = x/1024, u+1
	}
	if u == 0 || x >= 99.95 {
		return strconv.FormatFloat(x, 'f', 0, 64) + " " + units[u]
	}
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") + " " + units[u]
}

// Count writes a number with its noun, in the singular or the plural.
func Count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Duration writes a duration to the second, or in whole days from two days on.
func Duration(d time.Duration) string {
	if d < 2*Day {
		return d.Round(time.Second).String()
	}
	return Count(int(d/Day), "day", "days")
}
