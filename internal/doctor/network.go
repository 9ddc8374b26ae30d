package doctor

import (
	"context"
	"net/http"
	"time"
)

// wrongTime is how far the clock may be from that of the network, whose Date has
// whole seconds.
const wrongTime = 2 * time.Minute

// checkNetworkTime compares the clock with the Date that base_url answers with. It
// is another clock only where that is a proxy on another machine.
func checkNetworkTime(ctx context.Context, s *Subject) []Finding {
	switch {
	case !s.Network:
		return one(skipped("ask for it with --network"))
	case s.Config.BaseURL == "":
		return one(skipped("base_url names nobody to ask"))
	}
	c, err := s.client()
	if err != nil {
		return one(skipped("%v", err))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Config.BaseURL+"/healthz", nil)
	if err != nil {
		return one(skipped("%v", err))
	}
	res, err := c.Do(req)
	if err != nil {
		return one(warning("see that this machine can reach base_url", "%v", err))
	}
	_ = res.Body.Close()
	there, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return one(skipped("%s answers without a Date", s.Config.BaseURL))
	}
	return one(judgeTime(s.Clock(), there))
}

func judgeTime(here, there time.Time) Finding {
	if off := here.Sub(there).Round(time.Second); off.Abs() > wrongTime {
		return problem("set the clock right, and run a time service such as systemd-timesyncd or chrony", "the clock of this machine is %v off that of base_url", off)
	}
	return fine("the clock agrees with that of base_url")
}
