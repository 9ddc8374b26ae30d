package server

import (
	"errors"

	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// Errors of a page that the user may not open.
var (
	errSignIn = errors.New("this page needs a sign-in")
	errMFA    = errors.New("this account needs a second factor first")
)

// checkOrigin refuses a request that a page of another site sent. Only the proxy may know the host
// in the browser's request.
func (s *Server) checkOrigin(r *action.Request) error {
	asked := *r.Request
	if host, ok := s.proxies.Host(r.Request); ok {
		asked.Host = host
	}
	if s.door(r.Entry.Recipients).cross.Check(&asked) != nil {
		return action.ErrCrossOrigin
	}
	return nil
}

// resume identifies the user of the browser, and checks that the page is open to the
// user.
func (s *Server) resume(r *action.Request) error {
	if err := s.identify(r); err != nil {
		return err
	}
	return s.mayEnter(r)
}

// identify identifies the user of the browser. The entry point for recipients ignores
// sessions.
func (s *Server) identify(r *action.Request) error {
	if sent := r.SessionSecret(); !sent.IsZero() && !r.Entry.Recipients {
		i, err := s.store.Resume(r.Context(), sent)
		switch {
		case errors.Is(err, record.ErrSession):
		case err != nil:
			return err
		case r.Proxied.IsOther(i):
		case i.Pending:
			r.Pending, r.PendingTOTP = true, i.TOTP
		default:
			r.Session, r.Actor.Account = i, i.Owner
			s.speakTo(r, i.Language)
		}
	}
	return nil
}

// mayEnter refuses a page that needs a sign-in, or a second factor, first.
func (s *Server) mayEnter(r *action.Request) error {
	signedIn := r.Actor.Account != 0
	administers := r.Route.Access == action.Administrating
	members := r.Route.Access == action.Required || administers || r.Route.Access == action.Creating && !s.mayCreate(r)
	switch {
	case members && !signedIn:
		return errSignIn
	case administers && !r.Session.Admin:
		return record.ErrNotFound
	case signedIn && s.cfg.RequireMFA && !r.Session.MFA && !r.Session.Strong && (members || r.Route.Access == action.Creating) && !r.Route.Has(action.BeforeMFA):
		return errMFA
	}
	if administers {
		r.Actor.Role = store.Admin
	}
	return nil
}
