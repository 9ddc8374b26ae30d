package server

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
)

// lifetimes are the days that an API token may be made for. 0: for good.
var lifetimes = [...]int{30, 90, 365, 0}

// usualLifetime is the one that is chosen to begin with.
const usualLifetime = 90

// tokensPage is the list of an account's API tokens, with the form of a new one.
type tokensPage struct {
	Tokens    []tokenRow
	Label     string // as it was typed
	Days      int    // as it was chosen
	Lifetimes []int
	Wrong     map[string]bool
	Base      string // what the addresses of the API begin with
}

// MaxLabel is the most bytes of a label.
func (tokensPage) MaxLabel() int { return store.MaxLabel }

// A tokenRow is an API token in the list.
type tokenRow struct {
	ID         store.TokenID
	Label      string
	Made       moment
	Used, Ends *moment // nil: never
	Over       bool    // it has ended
}

// tokenMadePage shows an API token, for the only time.
type tokenMadePage struct {
	Label  string
	Secret secret.Text
	Ends   *moment // nil: never
	Base   string
}

// tokensPage shows the API tokens of whoever is signed in.
func (s *Server) tokensPage(r *request) (reply, error) {
	return s.showTokens(r, http.StatusOK, tokensPage{Days: usualLifetime})
}

// showTokens adds the list to a page.
func (s *Server) showTokens(r *request, status int, page tokensPage) (reply, error) {
	list, err := s.store.Tokens(r.Context(), r.session.Email)
	if err != nil {
		return reply{}, err
	}
	slices.Reverse(list) // newest first
	now := s.clock.Now()
	for _, t := range list {
		page.Tokens = append(page.Tokens, tokenRow{
			ID: t.ID, Label: t.Label, Made: newMoment(t.CreatedAt), Used: someTime(t.LastUsedAt),
			Ends: someTime(t.ExpiresAt), Over: !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(now),
		})
	}
	page.Lifetimes, page.Base = lifetimes[:], s.home(r)
	return show(status, "tokens", page), nil
}

// makeToken makes an API token and shows it.
func (s *Server) makeToken(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	label := f["label"]
	page := tokensPage{Label: comesBack(label, store.MaxLabel), Days: usualLifetime}
	days, err := strconv.Atoi(f["days"])
	if err != nil || !slices.Contains(lifetimes[:], days) {
		page.Wrong = map[string]bool{"expires": true, "name": page.Label != label}
		return s.showTokens(r, http.StatusUnprocessableEntity, page)
	}
	page.Days = days
	t, err := s.store.CreateToken(r.Context(), r.session.Email, label, time.Duration(days)*day)
	if wrong, ok := wrongFields(err); ok {
		page.Wrong = wrong
		return s.showTokens(r, http.StatusUnprocessableEntity, page)
	}
	if err != nil {
		return reply{}, err
	}
	return show(http.StatusCreated, "token_made", tokenMadePage{Label: t.Label, Secret: t.Secret, Ends: someTime(t.ExpiresAt), Base: s.home(r)}), nil
}

// revokeToken ends an API token.
func (s *Server) revokeToken(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	err = s.store.RevokeOwnToken(r.Context(), r.actor.Account, store.TokenID(f.number("id")))
	return goTo(tokenPath), unlessGone(err)
}
