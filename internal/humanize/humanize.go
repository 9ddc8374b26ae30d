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

// Size writes a number of bytes in English.
func Size(bytes int64) string {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	number, unit := SizeParts(bytes)
	return number + " " + units[unit]
}

// SizeParts returns a number of bytes in the largest fitting binary unit, and how many
// times 1024 that unit is: up to 1023, with one decimal below 100.
func SizeParts(bytes int64) (number string, unit int) {
	x := float64(bytes)
	for x >= 1023.5 { // which rounds to 1024
		x, unit = x/1024, unit+1
	}
	if unit == 0 || x >= 99.95 {
		return strconv.FormatFloat(x, 'f', 0, 64), unit
	}
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0"), unit
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
