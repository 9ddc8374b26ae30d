package server

import (
	"testing"
)

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
