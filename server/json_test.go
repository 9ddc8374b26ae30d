package server

import (
	"testing"
	"time"

	"pushbox/server/display"
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
		if got, want := display.Stamp(at), at.UTC().Format(layout); got != want {
			t.Errorf("%v is %s, not %s", at, got, want)
		}
	}
}

func TestGzipIsSentToClientsThatTakeItAndNoOthers(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"gzip": true, "GZIP": true, "x-gzip": true, "gzip, deflate, br, zstd": true, "br;q=1.0, gzip;q=0.8": true, "gzip; q=0.001": true, "*": true, "*;q=0.5": true,
		"": false, "br": false, "identity": false, "gzip;q=0": false, "gzip; q=0.000": false, "gzip;q=0, *": false, "*, gzip;q=0": false, "*;q=0": false,
		"gzipped": false, "gzip;q=": false, "gzip;q=x": false, "gzip;q=2": false, "gzip;q=NaN": false, "gzip;level=9": false,
	} {
		if got := takesGzip([]string{accept}); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
	if takesGzip(nil) || !takesGzip([]string{"br", "gzip"}) {
		t.Error("no header, or two")
	}
}
