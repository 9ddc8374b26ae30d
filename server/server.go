// Package server serves a store over HTTP: through the API of Password Pusher,
// version 2, and through pages for people.
//
// A request passes router, limits and authentication, and then one action,
// which makes one call of the store and returns a reply or an error. Actions
// cannot write to the connection: replies, headers and the statuses of errors
// come from one place each (reply.go, headers.go, action.ProblemOf), the routes from one table
// (routes.go).
package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/clientip"
	"pushbox/internal/lang"
	"pushbox/internal/openid"
	"pushbox/server/api"
	"pushbox/server/intake"
	"pushbox/server/manage"
	"pushbox/server/pages"
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
	Clock      clock.Clock // time for limits; nil: the machine's
	Logo       *web.Logo   // nil: pushbox's
	Monitoring Monitoring
	Webhooks   pages.Webhooks
	Providers  []*openid.Provider // those of Config.SignIn.OIDC, in the same order

	Directory pages.Directory // nil: no directory
}

// A Server answers HTTP requests. It is an http.Handler, safe for concurrent
// use, and owns no goroutine.
//
// A Server is also one set of settings. A reload makes another Server: new requests
// use it, and running ones keep the one that they began with.
type Server struct {
	latest  *atomic.Pointer[Server] // the Server for new requests; shared by all
	cfg     config.Config
	store   *store.Store
	log     zerolog.Logger
	release string
	proxies clientip.Proxies
	warned  *atomic.Bool // of a peer that proxies does not have
	hosts   hosts

	limits     *limits
	pieces     *pieces
	monitoring Monitoring

	full, recipients door // all routes, and only those for recipients

	intake *intake.Desk
	manage *manage.Desk
	pages  *pages.Set
	api    *api.Service

	words *lang.Catalog
	clock clock.Clock

	tokensFrom time.Time // when require_mfa begins to hold for API tokens

	probes *probes
	recent *manage.Recent
}

// New returns a server over an open store. An error names an invalid setting: the logo, the address
// for links, or the pattern for sign-ups.
func New(o Options) (*Server, error) {
	if o.Clock == nil {
		o.Clock = clock.NewSystem()
	}
	s := &Server{
		latest: new(atomic.Pointer[Server]), probes: newProbes(o.Clock.Elapsed),
		store: o.Store.Snapshot(), log: o.Log, release: o.Version,
		limits: newLimits(o.Config.Limits, o.Clock.Elapsed), pieces: newPieces(),
		words: lang.New(), clock: o.Clock,
	}
	if s.monitoring = o.Monitoring; s.monitoring.Observer == nil {
		s.monitoring.Observer = unobserved{}
	}
	findings := func(ctx context.Context) ([]manage.Finding, error) { return s.monitoring.Findings(ctx) }
	s.recent = manage.NewRecent(s.clock, findings, func() *manage.Desk { return s.latest.Load().manage })
	s.latest.Store(s)
	return s, s.configure(o.Config, pages.Options{Logo: o.Logo, Webhooks: o.Webhooks, Directory: o.Directory, Providers: o.Providers})
}

// configure sets the fields that follow from a configuration and are not shared.
func (s *Server) configure(cfg config.Config, shown pages.Options) (err error) {
	s.cfg = cfg
	s.proxies, s.warned = clientip.New(cfg.TrustedProxies), new(atomic.Bool)
	s.hosts = newHosts(cfg)
	s.intake = &intake.Desk{
		Store: s.store, Config: cfg, Words: s.words, Memory: s.limits.requestMemory, Uploads: s.limits.uploads, Authenticate: s.authenticate,
	}
	s.manage = &manage.Desk{Store: s.store, Config: cfg, Recent: s.recent, Findings: s.monitoring.Findings, Settings: s.monitoring.Settings}
	s.api = api.New(api.Options{
		Config: cfg, Store: s.store, Intake: s.intake, Manage: s.manage, Release: s.release, NamesHosts: !s.hosts.any(),
		Memory: s.limits.requestMemory, AnswerMemory: s.limits.answerMemory, Downloads: s.limits.downloads,
	})
	shown.Config, shown.Store, shown.Intake, shown.Manage = cfg, s.store, s.intake, s.manage
	shown.Log, shown.Words, shown.Clock = s.log, s.words, s.clock
	shown.AnswerMemory, shown.NoteLimit, shown.FindPage = s.limits.answerMemory, s.noteLimit, s.findPage
	s.pages, err = pages.New(shown, s.pages)
	return errors.Join(s.openEntries(), err, s.openTokens())
}

// Reload prepares the server for another configuration, which must not differ in a setting that
// needs a restart. Calling apply puts it into force, together with the store's options of that
// moment; apply is immediate and cannot fail. New requests use the new configuration, and running
// ones keep theirs. The limits keep their counts, under the new bounds, for all requests.
//
// The errors are those of New; after one, nothing has changed. Only one reload may run
// at a time.
func (s *Server) Reload(cfg config.Config, logo *web.Logo) (apply func(), err error) {
	next := *s.latest.Load()
	shown := next.pages.Options
	shown.Logo = logo
	if err := next.configure(cfg, shown); err != nil {
		return nil, err
	}
	return func() {
		next.store = next.store.Snapshot()
		next.intake.Store, next.manage.Store = next.store, next.store
		next.pages.Store, next.api.Store = next.store, next.store
		next.limits.bound(cfg.Limits)
		next.latest.Store(&next)
	}, nil
}

// openTokens reads the time from which API tokens need a second factor.
func (s *Server) openTokens() (err error) {
	s.tokensFrom = time.Time{}
	if day := s.cfg.RequireMFATokensFrom; day != "" {
		if s.tokensFrom, err = time.Parse(time.DateOnly, day); err != nil {
			return fmt.Errorf("require_mfa_tokens_from: %w", err)
		}
	}
	return nil
}
