package server

import (
	"pushbox/config"
	"pushbox/server/web"
)

// Reload makes ready to go by another configuration, in which nothing differs
// that needs a restart, and by the options of the store that are in force by
// then. Calling apply, which takes no time and cannot fail, is what does it, for
// requests that come from then on; those that run go on as they began. What was
// counted of clients stays counted, under the new limits, for all requests.
//
// The errors are those of New, and then nothing has changed. One reload runs at a
// time.
func (s *Server) Reload(cfg config.Config, logo *web.Logo) (apply func(), err error) {
	next := *s.latest.Load()
	if err := next.configure(cfg, logo); err != nil {
		return nil, err
	}
	return func() {
		next.store = next.store.Pinned()
		next.bound(cfg.Limits)
		next.latest.Store(&next)
	}, nil
}

// bound changes the limits that are counted for all requests together.
func (s *Server) bound(l config.Limits) {
	s.unknown.SetHits(l.UnknownTokensPerMinute)
	s.signUps.SetHits(l.SignInsPerClient)
	s.anonymous.SetPerMinute(l.AnonymousPerMinute)
	s.tokens.SetPerMinute(l.TokenPerMinute)
	s.downloads.resize(l.Downloads, l.Downloads/8)
}
