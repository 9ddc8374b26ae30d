package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"pushbox/config"

	"pushbox/internal/hint"
)

// A Provider is a sign-in provider.
type Provider struct {
	Name string
	Back string                      // the path to which it sends browsers back
	Ask  func(context.Context) error // returns an error, with a hint if it is not the usual one, unless it answers as a provider to this client
}

const providerCure = "open ISSUER/.well-known/openid-configuration from this machine and copy its issuer exactly; if its certificate comes from your own authority, name that in ca_file (docs/sign-in.md)"

func checkProviders(ctx context.Context, s *Subject) (all []Finding) {
	switch {
	case s.ProvidersAre != nil:
		return one(problem("let the server's user read the file; or change sign_in.oidc", "%v", s.ProvidersAre))
	case len(s.Providers) == 0 && s.Config.SignIn.Proxy.Header == "":
		return one(skipped("off; to sign in with accounts of your own, see docs/sign-in.md"))
	}
	if header := s.Config.SignIn.Proxy.Header; header != "" {
		all = append(all, judgeProxySignIn(header, s.Config.TrustedProxies))
	}
	for _, p := range s.Providers {
		if err := p.Ask(ctx); err != nil {
			all = append(all, problem(cmp.Or(hint.Of(err), providerCure), "%s: %v", p.Name, err))
			continue
		}
		base := s.Config.BaseURL
		if base == "" || s.Config.PublicListen != "" {
			base = "the address of this server and "
		}
		all = append(all, fine("%s answers; there, the redirect URI of pushbox must be %s", p.Name, fmt.Sprint(base, p.Back)))
	}
	return all
}

// judgeProxySignIn says who can name a person in the header of a proxy.
func judgeProxySignIn(header string, trusted []netip.Prefix) Finding {
	if slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Addr().IsLoopback() }) {
		return warning("list the proxy alone in trusted_proxies: see docs/sign-in.md", "%s is trusted from this machine, so every program on it can sign in as any user", header)
	}
	return fine("%s is trusted in requests from trusted_proxies", header)
}

// checkAdministrators reports that no account can use the pages for administrators.
func checkAdministrators(_ context.Context, s *Subject) []Finding {
	switch {
	case s.Facts == nil:
		return one(skipped("there is no open database to read accounts from"))
	case s.Facts.NoAdmin:
		return one(warning("pushbox user grant admin EMAIL", "no account is an administrator, so the pages under /admin cannot be opened"))
	}
	return one(fine("there is an administrator, or there are no accounts yet"))
}

func checkPolicies(_ context.Context, s *Subject) (all []Finding) {
	if left := leftPolicies(s.Config); len(left) > 0 {
		all = append(all, warning("set allow_anonymous to false and create_networks to none, or put the rules that must apply to everyone into policy",
			"a user can sign out and push without an account, and so avoid a policy that is stricter than the general settings: %s", strings.Join(left, ", ")))
	}
	switch {
	case s.Facts == nil:
		return append(all, skipped("there is no open database to read accounts from"))
	case len(s.Facts.LostPolicies) > 0:
		return append(all, warning("add them to policies, or give the accounts other policies with `pushbox user policy`; `pushbox user list` shows which have them",
			"accounts have policies that the settings no longer define, so only the general settings apply to them: %s", strings.Join(s.Facts.LostPolicies, ", ")))
	case len(s.Config.Policies) == 0:
		return append(all, skipped("off; for rules by group or account, see docs/sign-in.md"))
	}
	return append(all, fine("the settings define every policy that an account has"))
}

func leftPolicies(c config.Config) (names []string) {
	if !c.AllowAnonymous && len(c.CreateNetworks) == 0 {
		return nil
	}
	asks := func(p config.Policy) [4]any { // rules for accounts only do not matter
		return [4]any{p.RequirePassphrase, p.RequireEncryption, p.ExpireAfterDaysMax, p.ExpireAfterViewsMax}
	}
	for _, p := range c.Policies {
		own := p.Over(c.Policy)
		if asks(own) != asks(c.Policy) || !slices.Equal(own.Kinds, c.Policy.Kinds) {
			names = append(names, p.Name)
		}
	}
	return names
}
