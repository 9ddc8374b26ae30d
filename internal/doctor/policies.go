package doctor

import (
	"context"
	"strings"
)

// checkPolicies reports policies of accounts that the settings do not have.
func checkPolicies(_ context.Context, s *Subject) []Finding {
	switch {
	case s.Facts == nil:
		return one(skipped("there is no open database to read accounts of"))
	case len(s.Facts.LostPolicies) > 0:
		return one(warning("add them to policies, or give the accounts others with `pushbox user policy`; `pushbox user list` shows which have them",
			"accounts have policies that the settings do not have, so what holds for all holds for them: %s", strings.Join(s.Facts.LostPolicies, ", ")))
	case len(s.Config.Policies) == 0:
		return one(skipped("off; for rules by group or account, see docs/sign-in.md"))
	}
	return one(fine("the settings have each policy that an account has"))
}
