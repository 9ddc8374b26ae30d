package server

import (
	"strconv"
	"strings"
	"time"
)

// Stamp writes a time as ISO 8601 in UTC with three decimals: for the API and the
// log. Format knows RFC 3339, and is much slower over a layout that it does not
// know.
func Stamp(t time.Time) string {
	var room [len("2006-01-02T15:04:05.000Z")]byte
	b := t.UTC().AppendFormat(room[:0], time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return string(append(b[:len(b)-1], '.', '0'+byte(ms/100), '0'+byte(ms/10%10), '0'+byte(ms%10), 'Z'))
}

// A moment is a time as pages show it: for scripts, which show it in the reader's
// zone and language, and for people where there are none.
type moment struct{ Machine, Text string }

func newMoment(t time.Time) moment {
	t = t.UTC()
	return moment{t.Format(time.RFC3339), t.Format("2006-01-02 15:04") + " UTC"}
}

// fileSize is a number of bytes in words: up to 1023 of a unit, with a decimal
// where that tells more.
func fileSize(n int64) string {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB"}
	x, u := float64(n), 0
	for x >= 1023.95 && u < len(units)-1 {
		x, u = x/1024, u+1
	}
	if u == 0 || x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64) + " " + units[u]
	}
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") + " " + units[u]
}
