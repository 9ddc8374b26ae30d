// Package server is pushbox's HTTP side: the API of Password Pusher, version 2,
// over a store.
//
// A request passes router, limits and authentication, and then one action,
// which makes one call of the store and returns a reply or an error. Actions
// cannot write to the connection: replies, headers and the statuses of errors
// come from one place each (reply.go, problem.go), the routes from one table
// (routes.go).
package server

import (
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/clientip"
	"pushbox/internal/limit"
	"pushbox/store"
)

// What suits a process that serves: requests leave garbage that collecting less
// often makes cheaper, while passphrases take memory by the 19 MiB, which must
// not add up. For debug.SetGCPercent and debug.SetMemoryLimit.
const (
	GCPercent   = 400
	MemoryLimit = 128 << 20 // bytes; beyond it the collector works harder, nothing is refused
)

// Options are what a Server is made of.
type Options struct {
	Config  config.Config
	Store   *store.Store
	Log     zerolog.Logger
	Version string      // what /api/v2/version tells; 3.0.0 or later
	Clock   store.Clock // what limits count by; nil: the machine's
}

// A Server answers HTTP requests. It is an http.Handler, safe for concurrent
// use, and owns no goroutine.
type Server struct {
	cfg     config.Config
	store   *store.Store
	log     zerolog.Logger
	release string
	proxies clientip.Proxies
	router  *router
	bodies  *bodies

	downloads *slots

	unknown   *limit.Window // requests for url_tokens that are not there, per client
	anonymous *limit.Rate   // requests per anonymous client
	tokens    *limit.Rate   // requests per API token
}

// New returns a server over an open store.
func New(o Options) *Server {
	if o.Clock == nil {
		o.Clock = store.NewSystemClock()
	}
	l, clock := o.Config.Limits, o.Clock.Elapsed
	s := &Server{
		cfg: o.Config, store: o.Store, log: o.Log, release: o.Version,
		proxies:   clientip.New(o.Config.TrustedProxies),
		downloads: newSlots(l.Downloads),
		bodies:    newBodies(int64(l.BodyMemory)),
		unknown:   limit.NewWindow(l.UnknownTokensPerMinute, time.Minute, l.Clients, clock),
		anonymous: limit.NewRate(l.AnonymousPerMinute, l.Clients, clock),
		tokens:    limit.NewRate(l.TokenPerMinute, l.Clients, clock),
	}
	s.router = newRouter(s.routes())
	return s
}
