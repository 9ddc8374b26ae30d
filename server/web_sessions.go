package server

import (
	"net/http"

	"pushbox/store"
)

// sessionsPage is the list of an account's sessions.
type sessionsPage struct {
	Sessions []sessionRow
	Others   bool // there are some beside the one that asks
}

// A sessionRow is a session in the list.
type sessionRow struct {
	ID          store.SessionID
	Agent       agent
	IP          string
	Begun, Used moment
	Own         bool
}

// sessionsPage shows where somebody is signed in.
func (s *Server) sessionsPage(r *request) (reply, error) {
	list, err := s.store.Sessions(r.Context(), s.sessionSecret(r))
	if err != nil {
		return reply{}, err
	}
	page := sessionsPage{Others: len(list) > 1}
	for _, i := range list {
		page.Sessions = append(page.Sessions, sessionRow{
			ID: i.ID, Agent: readAgent(i.UserAgent), IP: i.IP, Own: i.Own,
			Begun: newMoment(i.CreatedAt), Used: newMoment(i.LastUsedAt),
		})
	}
	return show(http.StatusOK, "sessions", page), nil
}

// endSession ends the session that the form names, or all but the one that asks.
func (s *Server) endSession(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	if f.yes("others") {
		err = s.endOthers(r)
	} else {
		err = unlessGone(s.store.EndSession(r.Context(), s.sessionSecret(r), store.SessionID(f.number("id"))))
	}
	return goTo(sessionsPath), err
}

// endOthers ends every session of the account but the one that asks.
func (s *Server) endOthers(r *request) error {
	own := s.sessionSecret(r)
	list, err := s.store.Sessions(r.Context(), own)
	if err != nil {
		return err
	}
	for _, i := range list {
		if i.Own {
			continue
		}
		if err := unlessGone(s.store.EndSession(r.Context(), own, i.ID)); err != nil {
			return err
		}
	}
	return nil
}
