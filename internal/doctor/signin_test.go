package doctor

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"pushbox/config"

	"pushbox/internal/hint"
)

func TestProvidersOfSignInsAreToAnswer(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	const name = "sign-in providers"
	wants(t, "none", of(t, s, name), Skipped, "docs/sign-in.md")
	s.Providers = []Provider{{Name: "office", Back: "/users/oidc/office/callback", Ask: func(context.Context) error { return nil }}}
	wants(t, "a good one", of(t, s, name), OK, "the address of this server and /users/oidc/office/callback")
	s.Config.BaseURL = "https://push.example.com"
	wants(t, "with base_url", of(t, s, name), OK, "https://push.example.com/users/oidc/office/callback")
	s.Providers[0].Ask = func(context.Context) error { return errors.New("it is asleep") }
	wants(t, "a bad one", of(t, s, name), Problem, "office: it is asleep")
	s.Providers[0].Ask = func(context.Context) error {
		return hint.With(errors.New("it does not know us"), "take another secret")
	}
	if f := of(t, s, name); f.Cure != "take another secret" {
		t.Errorf("the cure is %q", f.Cure)
	}
	s.ProvidersAre = errors.New("no such file")
	wants(t, "a file that is missing", of(t, s, name), Problem, "no such file")
}

func TestAProxyOnThisMachineThatNamesPeopleIsWarnedOf(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	const name = "sign-in providers"
	s.Config.SignIn.Proxy.Header = "Remote-Email"
	s.Config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.5/32"), netip.MustParsePrefix("::1/128")}
	wants(t, "this machine", of(t, s, name), Warning, "every program on it can sign in")
	s.Config.TrustedProxies = s.Config.TrustedProxies[:1]
	wants(t, "another machine", of(t, s, name), OK, "Remote-Email")
}

func TestPoliciesThatTheSettingsLackAreWarnedOf(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	const name = "policies"
	wants(t, "none", of(t, s, name), Skipped, "docs/sign-in.md")
	s.Config.Policies = []config.NamedPolicy{{Name: "finance"}}
	wants(t, "one that is there", of(t, s, name), OK, "each policy")
	s.Facts.LostPolicies = []string{"staff"}
	wants(t, "one that is lost", of(t, s, name), Warning, "what holds for all holds for them: staff")
}

func TestPoliciesThatPeopleCanLeaveAreWarnedOf(t *testing.T) {
	t.Parallel()
	const name = "policies"
	s := healthy(t)
	s.Config.AllowAnonymous = true
	s.Config.Policies = []config.NamedPolicy{{Name: "as all"}, {Name: "roomy", Policy: config.Policy{AccountPushes: 9, RequirePassphrase: s.Config.Policy.RequirePassphrase}}}
	wants(t, "none asks for more", of(t, s, name), OK, "each policy")
	for what, p := range map[string]config.Policy{
		"a passphrase": {RequirePassphrase: config.On}, "encryption": {RequireEncryption: config.On}, "days": {ExpireAfterDaysMax: 2},
		"views": {ExpireAfterViewsMax: 2}, "kinds": {Kinds: []string{"text"}},
	} {
		s.Config.Policies = []config.NamedPolicy{{Name: "finance", Policy: p}}
		s.Config.AllowAnonymous, s.Config.CreateNetworks = true, nil
		wants(t, what, of(t, s, name), Warning, "what holds for all: finance")
		s.Config.AllowAnonymous = false
		wants(t, what+", without anonymous clients", of(t, s, name), OK, "each policy")
		s.Config.CreateNetworks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		wants(t, what+", with networks", of(t, s, name), Warning, "finance")
	}
}
