package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"

	"pushbox/internal/hint"
)

// A Provider is a sign-in provider.
type Provider struct {
	Name string
	Back string                      // the path to which it sends browsers back
	Ask  func(context.Context) error // returns an error, with a hint if it is not the usual one, unless it answers as a provider to this client
}

// providerCure is what to do about a provider that cannot be asked.
const providerCure = "open ISSUER/.well-known/openid-configuration from this machine: take issuer from it, to the letter, and name the authority of its certificate in ca_file, if it is one of your own (docs/sign-in.md)"

// checkProviders reports whether each sign-in provider answers, and the address that it must
// know.
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
		return warning("list the proxy alone in trusted_proxies: see docs/sign-in.md", "%s counts from this machine, so every program on it can sign in as any person", header)
	}
	return fine("%s counts in requests from trusted_proxies", header)
}
