package pages

import (
	"net/http"
	"slices"

	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store/record"
)

// sessionsView is the list of an account's sessions.
type sessionsView struct {
	Sessions []sessionRow
	Others   bool // there are other sessions than the browser's
}

// A sessionRow is a session in the list.
type sessionRow struct {
	ID          record.SessionID
	Agent       display.Agent
	IP          string
	Begun, Used display.Time
	Own         bool
	Via         string // the name of the provider at which it began; empty: none
}

// sessionsPage shows the sessions of the account.
func (s *Set) sessionsPage(r *action.Request) (action.Reply, error) {
	list, err := s.Store.Sessions(r.Context(), r.SessionSecret())
	if err != nil {
		return action.Reply{}, err
	}
	page := sessionsView{Others: len(list) > 1}
	for _, i := range list {
		page.Sessions = append(page.Sessions, sessionRow{
			ID: i.ID, Agent: display.ParseAgent(i.UserAgent), IP: i.IP, Own: i.Own, Via: s.titleOfIssuer(i.Via.Issuer),
			Begun: display.NewTime(i.CreatedAt), Used: display.NewTime(i.LastUsedAt),
		})
	}
	slices.SortStableFunc(page.Sessions, func(a, b sessionRow) int { // the browser's own first
		switch {
		case a.Own == b.Own:
			return 0
		case a.Own:
			return -1
		default:
			return 1
		}
	})
	return action.Show(http.StatusOK, "sessions", page), nil
}

// endSession ends the session that the form names, or all but the browser's own.
func (s *Set) endSession(r *action.Request, f webForm) (action.Reply, error) {
	if f.checked("others") {
		return s.goToTell(r, sessionsPath, noticeOthersEnded), s.endOthers(r)
	}
	err := s.Store.EndSession(r.Context(), r.Actor, r.SessionSecret(), record.SessionID(f.number("id")))
	return s.goToTell(r, sessionsPath, noticeSessionEnded), unlessGone(err)
}

// endOthers ends every session of the account but the browser's own.
func (s *Set) endOthers(r *action.Request) error {
	own := r.SessionSecret()
	list, err := s.Store.Sessions(r.Context(), own)
	if err != nil {
		return err
	}
	for _, i := range list {
		if i.Own {
			continue
		}
		if err := unlessGone(s.Store.EndSession(r.Context(), r.Actor, own, i.ID)); err != nil {
			return err
		}
	}
	return nil
}
