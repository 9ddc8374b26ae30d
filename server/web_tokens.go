package server

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"pushbox/internal/secret"
	"pushbox/server/display"
	"pushbox/store"
)

// lifetimes are the days that a new API token may be valid for. 0: without end.
var lifetimes = [...]int{30, 90, 365, 0}

// usualLifetime is the lifetime that the form suggests.
const usualLifetime = 90

// tokensView is the list of an account's API tokens, with the form of a new one.
type tokensView struct {
	Tokens    []tokenRow
	Label     string // as it was typed
	Days      int    // as it was chosen
	Lifetimes []int
	Wrong     map[string]bool
	Base      string // what the addresses of the API begin with
}

// MaxLabel is the most bytes of a label.
func (tokensView) MaxLabel() int { return store.MaxLabel }

// A tokenRow is an API token in the list.
type tokenRow struct {
	ID         store.TokenID
	Label      string
	Made       display.Time
	Used, Ends *display.Time // nil: never
	Over       bool          // it has expired
}

// tokenMadeView shows an API token, for the only time.
type tokenMadeView struct {
	Label  string
	Secret secret.Text
	Ends   *display.Time // nil: never
	Base   string
}

// tokensPage shows the API tokens of the account.
func (s *Server) tokensPage(r *request) (reply, error) {
	return s.showTokens(r, http.StatusOK, tokensView{Days: usualLifetime})
}

// showTokens adds the list to a page.
func (s *Server) showTokens(r *request, status int, page tokensView) (reply, error) {
	list, err := s.store.Tokens(r.Context(), r.session.Email)
	if err != nil {
		return reply{}, err
	}
	slices.Reverse(list) // newest first
	now := s.clock.Now()
	for _, t := range list {
		page.Tokens = append(page.Tokens, tokenRow{
			ID: t.ID, Label: t.Label, Made: display.NewTime(t.CreatedAt), Used: display.OptionalTime(t.LastUsedAt),
			Ends: display.OptionalTime(t.ExpiresAt), Over: !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(now),
		})
	}
	page.Lifetimes, page.Base = lifetimes[:], s.home(r)
	return show(status, "tokens", page), nil
}

// makeToken makes an API token and shows it once.
func (s *Server) makeToken(r *request, f webForm) (reply, error) {
	label := f.text("label")
	page := tokensView{Label: shownAgain(label, store.MaxLabel), Days: usualLifetime}
	days, err := strconv.Atoi(f.text("days"))
	if err != nil || !slices.Contains(lifetimes[:], days) {
		page.Wrong = map[string]bool{"expires": true, "name": page.Label != label}
		return s.showTokens(r, http.StatusUnprocessableEntity, page)
	}
	page.Days = days
	t, err := s.store.CreateToken(r.Context(), r.actor, r.session.Email, label, time.Duration(days)*day)
	if wrong, ok := wrongFields(err); ok {
		page.Wrong = wrong
		return s.showTokens(r, http.StatusUnprocessableEntity, page)
	}
	if err != nil {
		return reply{}, err
	}
	return show(http.StatusCreated, "token_made", tokenMadeView{Label: t.Label, Secret: t.Secret, Ends: display.OptionalTime(t.ExpiresAt), Base: s.home(r)}), nil
}

// revokeToken ends an API token.
func (s *Server) revokeToken(r *request, f webForm) (reply, error) {
	err := s.store.RevokeToken(r.Context(), r.actor, store.TokenID(f.number("id")))
	return goTo(tokenPath), unlessGone(err)
}
