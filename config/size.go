package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// A Size is a number of bytes, never negative.
type Size int64

const (
	kibibyte Size = 1 << 10
	mebibyte Size = 1 << 20
	gibibyte Size = 1 << 30
	tebibyte Size = 1 << 40
)

type sizeUnit struct {
	name  string
	bytes Size
}

// sizeUnits lists each unit before the units that its name ends with.
func sizeUnits() []sizeUnit {
	return []sizeUnit{
		{"TiB", tebibyte},
		{"GiB", gibibyte},
		{"MiB", mebibyte},
		{"KiB", kibibyte},
		{"TB", 1e12},
		{"GB", 1e9},
		{"MB", 1e6},
		{"kB", 1e3},
		{"KB", 1e3},
		{"B", 1},
	}
}

// String returns the size in the largest binary unit that divides it, such as 8MiB; a
// number of bytes has no unit.
func (s Size) String() string {
	for _, u := range sizeUnits() {
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
	for _, u := range sizeUnits() {
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
