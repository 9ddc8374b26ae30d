package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

// roleAdmin names the only role that can be granted; without it an account is a member's.
const roleAdmin = "admin"

func (a *app) userGrant() *cobra.Command {
	return a.roleCommand(true, "%s is an administrator now", &cobra.Command{
		Use:   "grant admin EMAIL",
		Short: "Let an account administer",
		Long: `Make an account one of an administrator: its user manages accounts, reads the instance log
and sees how the server is, on the pages under /admin and by the API. Administrators
never see payloads, links or file names of others.`,
		Example: `  pushbox user grant admin alice@example.com`,
	})
}

func (a *app) userRevoke() *cobra.Command {
	return a.roleCommand(false, "%s is a member now", &cobra.Command{
		Use:   "revoke admin EMAIL",
		Short: "Make an administrator's account a member's again",
		Long: `Make an administrator's account a member's again. The last account that administers
stays so, unless you say --last: the commands on this machine go on to work.`,
		Example: `  pushbox user revoke admin alice@example.com`,
	})
}

// roleCommand makes cmd give an account a role, or take it away, and say so.
func (a *app) roleCommand(grant bool, did string, cmd *cobra.Command) *cobra.Command {
	cmd.Args = arguments("admin", "EMAIL")
	var last bool
	if !grant {
		cmd.Flags().BoolVar(&last, "last", false, "even if no account administers then")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args[0] != roleAdmin {
			return usagef("there is no role %q: the only one is %s", args[0], roleAdmin)
		}
		if _, err := administer(a, cmd, admin.UserRole, admin.Role{Email: args[1], Admin: grant, EvenLast: last}); err != nil {
			return ofAccount(args[1], err)
		}
		a.say(fmt.Sprintf(did, args[1]))
		return nil
	}
	return cmd
}
