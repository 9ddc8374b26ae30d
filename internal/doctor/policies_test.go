package doctor

import (
	"net/netip"
	"testing"

	"pushbox/config"
)

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
