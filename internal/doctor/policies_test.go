package doctor

import (
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
