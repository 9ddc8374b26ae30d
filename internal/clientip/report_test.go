package clientip_test

import (
	"net/http/httptest"
	"net/netip"
	"reflect"
	"testing"

	"pushbox/internal/clientip"
)

func TestAReportShowsWhatArrivedAndHowItWasUnderstood(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "http://inside/doctor/x", nil)
	r.RemoteAddr = "10.0.0.1:1234"
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	r.Header.Set("X-Forwarded-Proto", "https")
	r.Header.Set("X-Forwarded-Host", "push.example.com")
	r.Header.Set("Cookie", "not to be told")
	received := map[string][]string{
		"Host": {"inside"}, "X-Forwarded-For": {"198.51.100.1"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"push.example.com"},
	}
	trusting := clientip.New([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	for _, test := range []struct {
		proxies clientip.Proxies
		want    clientip.Report
	}{
		{trusting, clientip.Report{Peer: "10.0.0.1", Trusted: true, Received: received, Scheme: "https", Host: "push.example.com", Client: "198.51.100.1"}},
		{clientip.Proxies{}, clientip.Report{Peer: "10.0.0.1", Received: received, Scheme: "http", Host: "inside", Client: "10.0.0.1"}},
	} {
		if got := test.proxies.Report(r); !reflect.DeepEqual(got, test.want) {
			t.Errorf("got  %+v\nwant %+v", got, test.want)
		}
	}
	r.Header.Set("X-Forwarded-Host", "a b")
	if got := trusting.Report(r); got.Host != "" {
		t.Errorf("%q is no host", got.Host)
	}
}
