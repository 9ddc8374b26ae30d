package display

import (
	"testing"
	"time"
)

func TestStampsAreInUTCWithThreeDecimals(t *testing.T) {
	t.Parallel()
	const layout = "2006-01-02T15:04:05.000Z"
	zone := time.FixedZone("", -3*3600-30*60)
	for _, at := range []time.Time{
		{},
		time.Unix(0, 0), time.UnixMilli(1), time.UnixMilli(10), time.UnixMilli(100), time.Unix(0, 999_999_999),
		time.Date(2026, 12, 31, 23, 59, 59, 987654321, zone), time.Date(2028, 2, 29, 4, 5, 6, 70e6, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		if got, want := Stamp(at), at.UTC().Format(layout); got != want {
			t.Errorf("%v is %s, not %s", at, got, want)
		}
	}
}
