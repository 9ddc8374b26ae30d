// Package server serves a store over HTTP: through the API of Password Pusher,
// version 2, and through pages for people.
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
	"pushbox/internal/openid"
	"pushbox/internal/secret"
	"pushbox/server/web"
	"pushbox/store"
	"pushbox/store/clock"
)

// Options configure a Server.
type Options struct {
	Config     config.Config
	Store      *store.Store
	Log        zerolog.Logger
	Version    string      // for /api/v2/version; 3.0.0 or later
	Clock      clock.Clock // for limits; nil: the machine's
	Logo       *web.Logo   // nil: pushbox's
	Monitoring Monitoring
	Webhooks   Webhooks
	Providers  []*openid.Provider // those of Config.SignIn.OIDC, in the same order

	Directory Directory // nil: there is none
}

// A Directory checks passwords of people whose accounts have none here. Its errors are
// record.ErrCredentials and action.ErrAway.
type Directory func(login string, password secret.Text) store.Elsewhere

// A Server answers HTTP requests. It is an http.Handler, safe for concurrent
// use, and owns no goroutine.
//
// A Server is also one set of settings. A reload makes another Server: new requests
// use it, and running ones keep the one that they began with.
type Server struct {
	latest  *atomic.Pointer[Server] // the one that new requests use; shared by all
	cfg     config.Config
	store   *store.Store
	log     zerolog.Logger
	release string
	proxies clientip.Proxies
	warned  *atomic.Bool // of a peer that proxies does not have
	hosts   hosts

	limits     *limits
	monitoring Monitoring
	webhooks   Webhooks
	directory  Directory
	providers  []provider

	full, recipients door // all routes, and only those for recipients

	pages *web.Pages
	site  web.Site
	words *lang.Catalog
	clock clock.Clock

	signUpEmail *regexp.Regexp // matches the whole of addresses that may sign up
	tokensFrom  time.Time      // when require_mfa begins to hold for API tokens

	docs [2]apiDocs // of version 2 of the API, and of version 1

	probes *probes
	recent *recent
}

// New returns a server over an open store. An error is about a setting that is not
// valid: the logo, the address for links, or the pattern for sign-ups.
func New(o Options) (*Server, error) {
	if o.Clock == nil {
		o.Clock = clock.NewSystem()
	}
	s := &Server{
		latest: new(atomic.Pointer[Server]), probes: newProbes(o.Clock.Elapsed),
		store: o.Store.Snapshot(), log: o.Log, release: o.Version,
		limits: newLimits(o.Config.Limits, o.Clock.Elapsed),
		words:  lang.New(), clock: o.Clock, webhooks: o.Webhooks, directory: o.Directory, providers: openProviders(o),
	}
	if s.monitoring = o.Monitoring; s.monitoring.Observer == nil {
		s.monitoring.Observer = unobserved{}
	}
	s.recent = newRecent(s)
	s.latest.Store(s)
	return s, s.configure(o.Config, o.Logo)
}

// configure sets the fields that follow from a configuration and are not shared.
func (s *Server) configure(cfg config.Config, logo *web.Logo) error {
	s.cfg = cfg
	s.proxies, s.warned = clientip.New(cfg.TrustedProxies), new(atomic.Bool)
	s.hosts, s.docs = newHosts(cfg), s.newDocs()
	return errors.Join(s.openEntries(), s.openPages(logo), s.openAccounts())
}

// Reload prepares the server for another configuration, which must not differ in a
// setting that needs a restart. Calling apply puts it into force, together with the
// store's options of that moment; apply is immediate and cannot fail. New requests use
// the new configuration, and running ones keep theirs. The limits keep what they have
// counted, under the new bounds, for all requests.
//
// The errors are those of New; after one, nothing has changed. Only one reload may run
// at a time.
func (s *Server) Reload(cfg config.Config, logo *web.Logo) (apply func(), err error) {
	next := *s.latest.Load()
	if err := next.configure(cfg, logo); err != nil {
		return nil, err
	}
	return func() {
		next.store = next.store.Snapshot()
		next.limits.bound(cfg.Limits)
		next.latest.Store(&next)
	}, nil
}

// openAccounts reads which addresses may sign up, and when API tokens need a second
// factor.
func (s *Server) openAccounts() (err error) {
	s.signUpEmail, err = regexp.Compile(`\A(?:` + s.cfg.SignupEmailRegexp + `)\z`)
	if err != nil {
		return fmt.Errorf("signup_email_regexp: %w", err)
	}
	s.tokensFrom = time.Time{}
	if day := s.cfg.RequireMFATokensFrom; day != "" {
		if s.tokensFrom, err = time.Parse(time.DateOnly, day); err != nil {
			return fmt.Errorf("require_mfa_tokens_from: %w", err)
		}
	}
	return nil
}

// openPages prepares the pages, with the logo and the brand.
func (s *Server) openPages(logo *web.Logo) (err error) {
	if s.pages, err = s.pages.With(logo, s.cfg.BasePath); err != nil {
		return err
	}
	brand := s.cfg.Brand
	s.site = web.Site{
		Title: brand.Title, Tagline: brand.Tagline, Footer: brand.Footer,
		Logo: s.pages.LogoPath(), SignUps: s.signUps(), Requests: s.cfg.EnableRequests,
	}
	return nil
}
