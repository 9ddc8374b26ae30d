package daemon

import (
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/httpd"
	"pushbox/internal/limit"
	"pushbox/store/clock"
)

// refusedEvery is how often the log says that connections are refused.
const refusedEvery = time.Minute

// newConnections returns the bounds of connections. The log says when they are reached,
// once a minute at most.
func newConnections(cfg config.Config, log zerolog.Logger) *httpd.Connections {
	told := limit.NewWindow(1, refusedEvery, 1, clock.NewSystem().Elapsed)
	c := httpd.NewConnections(func(peer string) {
		if full, _ := told.TakeFor(""); !full {
			log.Warn().Str("peer", peer).Msg("connections are refused: limits.connections_per_client or limits.connections is reached")
		}
	})
	setConnections(c, cfg)
	return c
}

func setConnections(c *httpd.Connections, cfg config.Config) {
	c.Set(cfg.Limits.Connections, cfg.Limits.ConnectionsPerClient, cfg.TrustedProxies)
}

// connectionsReload returns the reloadable of the bounds of connections.
func connectionsReload(c *httpd.Connections) reloadable {
	return func(cfg config.Config) (func(), error) {
		return func() { setConnections(c, cfg) }, nil
	}
}
