package doctor

import (
	"context"
	"slices"
	"strings"

	"pushbox/config"
)

// checkAdministrators reports that no account can use the pages for administrators.
func checkAdministrators(_ context.Context, s *Subject) []Finding {
	switch {
	case s.Facts == nil:
		return one(skipped("there is no open database to read accounts of"))
	case s.Facts.NoAdmin:
		return one(warning("pushbox user grant admin EMAIL", "no account administers: the pages under /admin are open to none"))
	}
	return one(fine("an account administers, or there are no accounts yet"))
}

// checkPolicies reports policies of accounts that the settings do not have, and those that their
// people can leave.
func checkPolicies(_ context.Context, s *Subject) (all []Finding) {
	if left := leftPolicies(s.Config); len(left) > 0 {
		all = append(all, warning("set allow_anonymous to false and create_networks to none, or put what must hold for everyone into policy",
			"a person who signs out can send without an account, and so leave a policy that asks more than what holds for all: %s", strings.Join(left, ", ")))
	}
	switch {
	case s.Facts == nil:
		return append(all, skipped("there is no open database to read accounts of"))
	case len(s.Facts.LostPolicies) > 0:
		return append(all, warning("add them to policies, or give the accounts others with `pushbox user policy`; `pushbox user list` shows which have them",
			"accounts have policies that the settings do not have, so what holds for all holds for them: %s", strings.Join(s.Facts.LostPolicies, ", ")))
	case len(s.Config.Policies) == 0:
		return append(all, skipped("off; for rules by group or account, see docs/sign-in.md"))
	}
	return append(all, fine("the settings have each policy that an account has"))
}

// leftPolicies lists the policies that ask more of a push than what holds for anonymous clients,
// if there may be such.
func leftPolicies(c config.Config) (names []string) {
	if !c.AllowAnonymous && len(c.CreateNetworks) == 0 {
		return nil
	}
	asks := func(p config.Policy) [4]any { // what an account alone can do does not matter
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
