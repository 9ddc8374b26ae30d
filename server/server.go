// Package server is pushbox's HTTP side: the API of Password Pusher, version 2,
// and pages for people, over a store.
//
// A request passes router, limits and authentication, and then one action,
// which makes one call of the store and returns a reply or an error. Actions
// cannot write to the connection: replies, headers and the statuses of errors
// come from one place each (reply.go, problem.go), the routes from one table
// (routes.go).
package server

import (
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/clientip"
	"pushbox/internal/lang"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/server/web"
	"pushbox/store"
)

// What suits a process that serves: requests leave garbage that collecting less
// often makes cheaper, while passphrases take memory by the 19 MiB, which must
// not add up. For debug.SetGCPercent and debug.SetMemoryLimit.
const (
	GCPercent   = 400
	MemoryLimit = 64 << 20 // bytes; beyond it the collector works harder, nothing is refused
)

// Options are what a Server is made of.
type Options struct {
	Config  config.Config
	Store   *store.Store
	Log     zerolog.Logger
	Version string      // what /api/v2/version tells; 3.0.0 or later
	Clock   store.Clock // what limits count by; nil: the machine's
	Logo    *web.Logo   // nil: the program's own
	First   secret.Text // the code that makes the first account, where there is none; zero: none does
	Watch   Watch
}

// A Server answers HTTP requests. It is an http.Handler, safe for concurrent
// use, and owns no goroutine.
//
// It is also one set of settings: after a reload there is another one, which new
// requests go by, while those that run end by the one they began with.
type Server struct {
	latest  *atomic.Pointer[Server] // the one that new requests go by; all share this
	cfg     config.Config
	store   *store.Store
	log     zerolog.Logger
	release string
	proxies clientip.Proxies
	hosts   hosts
	bodies  *bodies
	reveals *bodies // of answers that open a push: what others take leaves those alone

	downloads *slots
	uploads   *slots
	watch     Watch

	inner, outer door // to everything, and to what is public

	pages *web.Pages
	site  web.Site
	words *lang.Catalog
	clock store.Clock

	first       *atomic.Pointer[secret.Text] // makes the first account; nil: nothing does, or not any more
	signUpEmail *regexp.Regexp               // whole addresses that may sign up
	signUps     *limit.Window                // per client

	probes *probes

	unknown   *limit.Window // requests for url_tokens that are not there, per client
	anonymous *limit.Rate   // requests per anonymous client
	tokens    *limit.Rate   // requests per API token
}

// New returns a server over an open store. An error names what of the
// configuration cannot be: the logo, or an address for links.
func New(o Options) (*Server, error) {
	if o.Clock == nil {
		o.Clock = store.NewSystemClock()
	}
	l, clock := o.Config.Limits, o.Clock.Elapsed
	s := &Server{
		latest: new(atomic.Pointer[Server]), first: new(atomic.Pointer[secret.Text]), probes: newProbes(clock),
		store: o.Store.Pinned(), log: o.Log, release: o.Version,
		downloads: newSlots(l.Downloads, l.Downloads/8),
		uploads:   newUploadSlots(int64(l.BodyMemory)),
		bodies:    newBodies(int64(l.BodyMemory)),
		reveals:   newBodies(int64(l.BodyMemory)),
		unknown:   limit.NewWindow(l.UnknownTokensPerMinute, time.Minute, l.Clients, clock),
		anonymous: limit.NewRate(l.AnonymousPerMinute, l.Clients, clock),
		tokens:    limit.NewRate(l.TokenPerMinute, l.Clients, clock),
	}
	if s.watch = o.Watch; s.watch.Observer == nil {
		s.watch.Observer = unobserved{}
	}
	s.words, s.clock = lang.New(), o.Clock
	s.signUps = limit.NewWindow(l.SignInsPerClient, signUpSpan, l.Clients, clock)
	if !o.First.IsZero() {
		s.first.Store(&o.First)
	}
	s.latest.Store(s)
	return s, s.configure(o.Config, o.Logo)
}

// signUpSpan is within which the sign-ups of a client are counted.
const signUpSpan = 20 * time.Second

// configure makes what a server has of a configuration, for nobody but itself.
func (s *Server) configure(cfg config.Config, logo *web.Logo) error {
	s.cfg = cfg
	s.proxies = clientip.New(cfg.TrustedProxies)
	s.hosts = newHosts(cfg)
	return errors.Join(s.openDoors(), s.openPages(logo), s.openAccounts())
}

// openAccounts reads who may make accounts.
func (s *Server) openAccounts() (err error) {
	s.signUpEmail, err = regexp.Compile(`\A(?:` + s.cfg.SignupEmailRegexp + `)\z`)
	if err != nil {
		return fmt.Errorf("signup_email_regexp: %w", err)
	}
	return nil
}

// newUploadSlots makes slots for as many uploads as there is memory for. One account
// may have three quarters of them.
func newUploadSlots(memory int64) *slots {
	most := int(max(1, memory/uploadMemory))
	return newSlots(most, most*3/4)
}

// openPages reads what pages are made of.
func (s *Server) openPages(logo *web.Logo) (err error) {
	if s.pages, err = s.pages.With(logo, s.cfg.BasePath); err != nil {
		return err
	}
	brand := s.cfg.Brand
	s.site = web.Site{
		Title: brand.Title, Tagline: brand.Tagline, Footer: brand.Footer,
		Logo: s.pages.LogoPath(), SignUps: s.cfg.EnableSignups,
	}
	return nil
}
