package pages

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/internal/email"
	"pushbox/internal/openid"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// The cookie that binds a sign-in at a provider to the browser that began it: the provider's
// name, and the text of the flow.
const flowCookie = "pushbox_flow"

// A provider is an OpenID Connect provider with its settings.
type provider struct {
	config.OIDC
	*openid.Provider
}

// openProviders joins the providers with their settings.
func openProviders(o Options) (all []provider) {
	for i, p := range o.Providers {
		all = append(all, provider{o.Config.SignIn.OIDC[i], p})
	}
	return all
}

// provider returns the provider that the path names, or record.ErrNotFound.
func (s *Set) provider(name string) (provider, error) {
	i := slices.IndexFunc(s.providers, func(p provider) bool { return p.Name == name })
	if i < 0 {
		return provider{}, record.ErrNotFound
	}
	return s.providers[i], nil
}

// isMeant reports whether a person opens the page, as a GET that leads to a provider requires.
func isMeant(r *action.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") != "cross-site" && !action.IsAhead(r.Header)
}

// goAway redirects the browser to an address that a provider has given itself.
func goAway(to string) action.Reply {
	return action.Reply{Status: http.StatusSeeOther, Header: [][2]string{{"Location", to}}}
}

func (s *Set) callback(r *action.Request, p provider) string {
	return r.Home() + display.BackPath(p.Name)
}

// beginOIDC sends the browser to a provider. Another site cannot begin a sign-in: its visitor gets
// the form instead.
func (s *Set) beginOIDC(r *action.Request) (action.Reply, error) {
	p, err := s.provider(r.Name.Reveal())
	switch {
	case err != nil:
		return action.Reply{}, err
	case r.Actor.Account != 0 || !isMeant(r):
		return action.GoTo(signInPath), nil
	}
	to, flow, err := p.Begin(r.Context(), s.callback(r, p))
	if err != nil {
		return s.failedOIDC(r, p, err)
	}
	c := r.NewCookie(flowCookie, p.Name+"."+flow.Text().Reveal())
	c.MaxAge = int(openid.FlowLasts / time.Second)
	return goAway(to).With(c), nil
}

// endOIDC completes a sign-in after the provider has sent the browser back. The address contains a
// code, so each answer redirects to another page.
func (s *Set) endOIDC(r *action.Request) (action.Reply, error) {
	p, err := s.provider(r.Name.Reveal())
	switch {
	case err != nil:
		return action.Reply{}, err
	case r.Method != http.MethodGet || action.IsAhead(r.Header):
		return action.GoTo(signInPath), nil
	}
	none := r.NewCookie(flowCookie, "")
	none.MaxAge = -1
	rep, err := s.finishOIDC(r, p)
	if err != nil {
		rep, err = s.failedOIDC(r, p, err)
	}
	return rep.With(none), err
}

func (s *Set) finishOIDC(r *action.Request, p provider) (action.Reply, error) {
	who, err := p.Finish(r.Context(), s.callback(r, p), s.flow(r, p), r.URL.Query())
	if err != nil {
		return action.Reply{}, err
	}
	n, err := s.Store.SignInAs(r.Context(), r.Actor, p.external(who))
	if err != nil {
		return action.Reply{}, err
	}
	return s.begin(r, n)
}

// flow returns the flow that the browser began with the provider; zero if it began none.
func (s *Set) flow(r *action.Request, p provider) openid.Flow {
	c, err := r.OwnCookie(flowCookie)
	if err != nil {
		return openid.Flow{}
	}
	name, text, _ := strings.Cut(c.Value, ".")
	if name != p.Name {
		return openid.Flow{}
	}
	return openid.ReadFlow(secret.New(text))
}

// external applies the settings to a person.
func (p provider) external(who openid.Person) store.External {
	x := store.External{
		Identity: record.Identity{Issuer: p.Issuer, Subject: who.Subject}, Provider: p.Shown(), Name: who.Session,
		Email: who.Email, Verified: who.Email != "" && (who.Verified || p.TrustEmail), Strong: p.TrustMFA,
		Groups: who.Groups, Link: p.LinkByEmail, Create: p.CreateAccounts,
	}
	x.Admin = administers(p.AdminGroups, who.Groups)
	x.Why = p.denies(x, who)
	x.Denied = x.Why != ""
	return x
}

// denies returns why the settings do not let a person in; empty if they do.
func (p provider) denies(x store.External, who openid.Person) string {
	switch {
	case !isAllowed(p.AllowedGroups, who.Groups) && len(who.Groups) == 0:
		return "the provider gives no groups in the claim " + p.GroupsClaim
	case !isAllowed(p.AllowedGroups, who.Groups):
		return "the person is in no group of allowed_groups"
	case len(p.AllowedDomains) == 0:
		return ""
	case !x.Verified:
		return "the provider has not verified the address, which allowed_domains needs"
	case !isOfDomain(p.AllowedDomains, who.Email),
		p.Issuer == googleIssuer && !slices.Contains(p.AllowedDomains, strings.ToLower(who.Hosted)):
		return "the account at the provider is in no domain of allowed_domains"
	}
	return ""
}

// googleIssuer is the issuer of Google. A person can make an account there with any address that
// they own at that time; the organisation of an account is in a separate claim, hd
// (https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload).
const googleIssuer = "https://accounts.google.com"

// administers reports whether one of a person's groups makes them an administrator; nil if the
// settings do not decide that.
func administers(admins, groups []string) *bool {
	if len(admins) == 0 {
		return nil
	}
	return new(isAllowed(admins, groups))
}

// isAllowed reports whether one of a person's groups is allowed. Without groups in the settings all
// are.
func isAllowed(allowed, groups []string) bool {
	return len(allowed) == 0 || slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(allowed, g) })
}

func isOfDomain(domains []string, address string) bool {
	_, domain, _ := strings.Cut(email.Fold(address), "@")
	return slices.Contains(domains, domain)
}

// failedOIDC redirects to the form, which says why the person is not signed in. The log has the
// details.
func (s *Set) failedOIDC(r *action.Request, p provider, err error) (action.Reply, error) {
	var says notice
	switch {
	case errors.Is(err, openid.ErrDown):
		says = noticeProviderDown
	case errors.Is(err, openid.ErrFlow):
		says = noticeProviderLate
	case errors.Is(err, openid.ErrDeclined):
		says = noticeProviderDeclined
	case errors.Is(err, openid.ErrToken):
		says = noticeProviderFailed
	case errors.Is(err, record.ErrCredentials):
		says = noticeProviderRefused
	default:
		return action.Reply{}, err
	}
	if says == noticeProviderDown || says == noticeProviderFailed {
		s.warnOf(r, p, err, "a sign-in at a provider failed")
	}
	return s.goToTell(r, signInPath, says, p.Name), nil
}

// warnOf logs why a provider could not be used.
func (s *Set) warnOf(r *action.Request, p provider, err error, what string) {
	s.Log.Warn().Str("provider", p.Name).Str("request", r.ID).Err(err).Msg(what)
}

// signOutOIDC sends the browser to the provider, to sign out there, too.
func (s *Set) signOutOIDC(r *action.Request) (action.Reply, error) {
	p, err := s.provider(r.Name.Reveal())
	switch {
	case err != nil:
		return action.Reply{}, err
	case !isMeant(r):
		return action.GoTo(signInPath), nil
	}
	to, err := p.SignOut(r.Context(), r.Home()+signInPath)
	if err != nil {
		return s.failedOIDC(r, p, err)
	}
	if to == "" {
		return action.GoTo(signInPath), nil
	}
	return goAway(to), nil
}

// signsOutAt returns the provider at which the user of a session may also sign out. Signing out
// here does not wait for the provider.
func (s *Set) signsOutAt(r *action.Request) (name string) {
	for _, p := range s.providers {
		if p.Issuer == r.Session.Via.Issuer && p.MaySignOut() {
			return p.Name
		}
	}
	return ""
}

// errLogoutToken refuses a logout token of a provider or another program.
const errLogoutToken = action.BadRequest("The logout token is not valid.")

// endSessionsOIDC ends sessions on the word of a provider (OpenID Connect Back-Channel Logout 1.0).
func (s *Set) endSessionsOIDC(r *action.Request) (action.Reply, error) {
	p, err := s.provider(r.Name.Reveal())
	if err != nil {
		return action.Reply{}, err
	}
	f, err := s.readForm(r)
	if err != nil {
		return action.Reply{}, err
	}
	ended, err := p.ReadSignOut(r.Context(), f.Text("logout_token"))
	if errors.Is(err, openid.ErrToken) {
		return action.Reply{}, errLogoutToken
	}
	if err != nil {
		s.warnOf(r, p, err, "a sign-out by a provider failed")
		return action.Reply{}, err
	}
	of := record.Identity{Issuer: p.Issuer, Subject: ended.Subject}
	return action.Reply{Status: http.StatusOK}, s.Store.EndSessionsOf(r.Context(), of, ended.Session, ended.At, p.Shown())
}

// titleOfIssuer returns the name of an issuer's provider on pages; empty if there is none.
func (s *Set) titleOfIssuer(issuer string) string {
	for _, p := range s.providers {
		if p.Issuer == issuer {
			return p.Shown()
		}
	}
	return ""
}

// titleOf returns the name of a provider on pages; empty if there is none of that name.
func (s *Set) titleOf(name string) string {
	p, err := s.provider(name)
	if err != nil {
		return ""
	}
	return p.Shown()
}
