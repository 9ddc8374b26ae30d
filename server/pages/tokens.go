package pages

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

// lifetimes are the possible lifetimes of a new API token in days. 0: without end.
var lifetimes = [...]int{30, 90, 365, 0}

// scopes are the scopes that the form offers for a new API token; administrators also get
// ScopeAdmin.
var scopes = [...]record.Scopes{record.AllScopes, record.ScopeCreate, record.ScopeCreate | record.ScopeRead, record.ScopeRead}

// usualLifetime is the lifetime that the form suggests.
const usualLifetime = 90

// tokensView is the list of an account's API tokens, with the form of a new one.
type tokensView struct {
	Tokens    []tokenRow
	Email     string // for password managers
	MFA       bool   // a new token needs a second factor, too
	Passkey   passkeyView
	Label     string // as it was typed
	Days      int    // as it was chosen
	Lifetimes []int
	Scope     record.Scopes // as it was chosen
	Scopes    []record.Scopes
	Error     formError // the password or the code was refused
	Full      bool      // the account has the most tokens that it may have
	Wrong     map[string]bool
	Base      string // base URL of the API
}

// MaxLabel is the most bytes of a label.
func (tokensView) MaxLabel() int { return record.MaxLabel }

// MaxTokens is how many tokens an account can have.
func (tokensView) MaxTokens() int { return record.MaxTokens }

// A tokenRow is an API token in the list.
type tokenRow struct {
	ID         record.TokenID
	Label      string
	Scopes     record.Scopes
	Made       display.Time
	Used, Ends *display.Time // nil: never
	Over       bool          // it has expired
}

// tokenMadeView shows an API token, only once.
type tokenMadeView struct {
	Label  string
	Secret secret.Text
	Ends   *display.Time // nil: never
	Base   string
}

// tokensPage shows the API tokens of the account.
func (s *Set) tokensPage(r *action.Request) (action.Reply, error) {
	return s.showTokens(r, http.StatusOK, tokensView{Days: usualLifetime, Scope: record.AllScopes})
}

// showTokens adds the list to a page.
func (s *Set) showTokens(r *action.Request, status int, page tokensView) (action.Reply, error) {
	list, err := s.Store.Tokens(r.Context(), r.Session.Email)
	if err != nil {
		return action.Reply{}, err
	}
	slices.Reverse(list) // newest first
	now := s.Clock.Now()
	for _, t := range list {
		page.Tokens = append(page.Tokens, tokenRow{
			ID: t.ID, Label: t.Label, Scopes: t.Scopes, Made: display.NewTime(t.CreatedAt), Used: display.OptionalTime(t.LastUsedAt),
			Ends: display.OptionalTime(t.ExpiresAt), Over: !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(now),
		})
	}
	page.Email, page.MFA = r.Session.Email, r.Session.MFA
	if page.Passkey, err = s.askSecondPasskey(r); err != nil {
		return action.Reply{}, err
	}
	page.Lifetimes, page.Scopes, page.Base = lifetimes[:], scopes[:], r.Home()
	if r.Session.Admin {
		page.Scopes = append(page.Scopes[:len(scopes):len(scopes)], record.ScopeAdmin)
	}
	return action.Show(status, "tokens", page), nil
}

// All reports whether a token may do everything.
func (r tokenRow) All() bool { return r.Scopes == record.AllScopes }

// makeToken makes an API token and shows it once. A stolen session must not become a token, so
// makeToken asks for the password again, and for a code of the second factor.
func (s *Set) makeToken(r *action.Request, f webForm) (action.Reply, error) {
	label := f.text("label")
	page := tokensView{Label: shownAgain(label, record.MaxLabel), Days: usualLifetime}
	days, err := strconv.Atoi(f.text("days"))
	scope, known := record.ParseScopes(f.text("scope"))
	if page.Scope = scope; err != nil || !slices.Contains(lifetimes[:], days) || !known {
		page.Wrong = map[string]bool{"expires": known, "scope": !known, "name": page.Label != label}
		return s.showTokens(r, http.StatusUnprocessableEntity, page)
	}
	page.Days = days
	terms := store.TokenTerms{Label: label, Lifetime: time.Duration(days) * intake.Day, Scopes: scope}
	t, err := s.Store.CreateOwnToken(r.Context(), r.Actor, r.SessionSecret(), f.Text("password"), s.factor(r, f), terms)
	if wrong, ok := wrongFields(err); ok {
		page.Wrong = wrong
		return s.showTokens(r, http.StatusUnprocessableEntity, page)
	}
	if page.Full = errors.Is(err, record.ErrTokens); page.Full {
		return s.showTokens(r, http.StatusUnprocessableEntity, page)
	}
	if err != nil {
		return s.refuseToken(r, f, page, err)
	}
	return action.Show(http.StatusCreated, "token_made", tokenMadeView{Label: t.Label, Secret: t.Secret, Ends: display.OptionalTime(t.ExpiresAt), Base: r.Home()}), nil
}

// refuseToken shows the page again after a password or a second factor was refused.
func (s *Set) refuseToken(r *action.Request, f webForm, page tokensView, err error) (action.Reply, error) {
	message, err := factorWrong(f, r.Session.MFA, err)
	if page.Error, err = s.newFormError(err, message); err != nil {
		return action.Reply{}, err
	}
	rep, err := s.showTokens(r, http.StatusForbidden, page)
	return page.Error.answer(rep), err
}

// revokeToken ends an API token.
func (s *Set) revokeToken(r *action.Request, f webForm) (action.Reply, error) {
	err := s.Store.RevokeToken(r.Context(), r.Actor, record.TokenID(f.number("id")))
	return s.goToTell(r, tokenPath, noticeRevoked), unlessGone(err)
}
