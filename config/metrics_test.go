package config_test

import (
	"strings"
	"testing"

	"pushbox/config"
)

func TestTheMetricsListenerIsOptional(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "127.0.0.1:5101", "[::1]:0", ":5101"} {
		if l := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_METRICS_LISTEN=" + good}}); l.Config.Metrics.Listen != good {
			t.Errorf("%q became %q", good, l.Config.Metrics.Listen)
		}
	}
	for _, bad := range []string{"5101", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:http", "http://127.0.0.1:5101", "a b:1"} {
		got := problems(t, config.Source{Environ: []string{"PUSHBOX_METRICS_LISTEN=" + bad}})
		if len(got) != 1 || !strings.HasSuffix(got[0], "must be an address and a port, such as 127.0.0.1:5100") {
			t.Errorf("%q: %q", bad, got)
		}
	}
}
