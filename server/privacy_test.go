package server_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

// An address is cut before it reaches the store or the log; limits still use all of it.
func TestAddressesAreCutBeforeTheyAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ipv4, ipv6    int
		address, want string
	}{
		{32, 128, "203.0.113.77", "203.0.113.77"},
		{24, 48, "203.0.113.77", "203.0.113.0"},
		{24, 48, "2001:db8:1:2:3:4:5:6", "2001:db8:1::"},
		{32, 128, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"},
		{0, 0, "203.0.113.77", ""},
		{0, 0, "2001:db8:1:2:3:4:5:6", ""},
	} {
		a := servertest.New(t, func(cfg *config.Config) {
			cfg.Privacy = config.Privacy{IPv4Prefix: c.ipv4, IPv6Prefix: c.ipv6}
		})
		ann := a.AddTokenUser("ann@example.com")
		path := pushes + "/" + a.Create(`"payload":"x"`, ann)
		a.Get(path, http.Header{"X-Forwarded-For": {c.address}}).Want(http.StatusOK)
		view := a.Get(path+"/audit", ann).Want(http.StatusOK).Object()["logs"].([]any)[1].(map[string]any)
		if view["kind"] != "view" || view["ip"] != c.want {
			t.Errorf("%+v: the audit log has %v", c, view)
		}
		log := a.Log.String()
		if !strings.Contains(log, `"client":"`+c.want+`"`) || c.want != c.address && strings.Contains(log, c.address) {
			t.Errorf("%+v: the log has %s", c, log)
		}
	}
}

func TestTheLogCanLeaveClientsOut(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(cfg *config.Config) { cfg.Log.Client = false })
	a.Get("/healthz", http.Header{"X-Forwarded-For": {"203.0.113.77"}}).Want(http.StatusOK)
	if log := a.Log.String(); !strings.Contains(log, `"route":"health"`) || strings.Contains(log, "client") || strings.Contains(log, "203.0.113") {
		t.Errorf("the log has %s", log)
	}
}
