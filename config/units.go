package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Size is a number of bytes, never negative.
type Size int64

// sizeUnits lists each unit before the units that its name ends with.
var sizeUnits = []struct {
	name  string
	bytes Size
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"KB", 1e3},
	{"B", 1},
}

// String returns the size in the largest binary unit that divides it, such as 8MiB; a
// number of bytes has no unit.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if strings.HasSuffix(u.name, "iB") && s != 0 && s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

var (
	errSize      = errors.New("must be a size such as 400MiB, 10MB or 1000")
	errSizeSpace = errors.New("must have no space between the number and the unit, such as 400MiB")
	errSizeHuge  = errors.New("must be less than 8388608TiB")
)

// ParseSize reads a whole number of bytes, or of a unit that follows it.
func ParseSize(text string) (Size, error) {
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, errNegative
	case strings.Contains(strings.TrimSpace(text), " "):
		return 0, errSizeSpace
	}
	unit := Size(1)
	for _, u := range sizeUnits {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = number, u.bytes
			break
		}
	}
	n, err := parseWhole(text)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && n > math.MaxInt64/int64(unit):
		return 0, errSizeHuge
	case err != nil:
		return 0, errSize
	}
	return Size(n) * unit, nil
}

// parseWhole reads digits. It refuses numbers with another meaning elsewhere: YAML
// reads 010 as 8. Its error is strconv.ErrRange or strconv.ErrSyntax.
func parseWhole(text string) (int64, error) {
	if strings.Trim(text, "0123456789") != "" || len(text) > 1 && text[0] == '0' {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(text, 10, 64)
}

const day = 24 * time.Hour

var (
	errDuration     = errors.New("must be a duration such as 10m, 36h or 90d")
	errNegative     = errors.New("must not be negative")
	errDurationUnit = errors.New("needs a unit, such as 10m")
	errDurationLong = errors.New("must be less than 106752d")
)

// parseDuration reads the format of time.ParseDuration, optionally after whole days:
// 90d, 1d12h. Only 0 needs no unit.
func parseDuration(text string) (time.Duration, error) {
	switch {
	case text == "0":
		return 0, nil
	case strings.HasPrefix(text, "-"):
		return 0, errNegative
	}
	days, clock, ok := strings.Cut(text, "d")
	if !ok {
		return parseClock(text)
	}
	n, err := parseWhole(days)
	rest := time.Duration(0)
	if err == nil && clock != "" {
		if rest, err = parseClock(clock); err != nil {
			return 0, err
		}
	}
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && n > int64((math.MaxInt64-rest)/day):
		return 0, errDurationLong
	case err != nil:
		return 0, errDuration
	}
	return time.Duration(n)*day + rest, nil
}

// parseClock reads a duration without days and without a sign.
func parseClock(text string) (time.Duration, error) {
	if text != "" && strings.Trim(text, "+-_.0123456789") == "" {
		return 0, errDurationUnit
	}
	d, err := time.ParseDuration(text)
	if err != nil || strings.ContainsAny(text, "+-") {
		return 0, errDuration
	}
	return d, nil
}

// formatDuration writes d, which is not negative, in the shorter of two forms
// that parseDuration reads: one unit (90s, 36h), or as many as it takes (1d1s).
func formatDuration(d time.Duration) string {
	one, many := "", ""
	rest := d
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if one == "" && d%u.size == 0 {
			one = strconv.FormatInt(int64(d/u.size), 10) + u.name
		}
		if n := rest / u.size; n > 0 {
			many += strconv.FormatInt(int64(n), 10) + u.name
			rest %= u.size
		}
	}
	switch {
	case d == 0:
		return "0"
	case rest > 0:
		return many + rest.String()
	case one != "" && len(one) < len(many):
		return one
	default:
		return many
	}
}
