package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

func (a *app) userRename() *cobra.Command {
	return &cobra.Command{
		Use:   "rename EMAIL NEW",
		Short: "Give an account another address",
		Long: `Give an account another address, with which its user then signs in. Its
password, second factor, sessions, API tokens, pushes and webhooks stay. Programs
that send the address beside their token must send the new one. You vouch for the
new address: it counts as confirmed.`,
		Example: `  pushbox user rename ann@example.com ann@example.org`,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := administer(a, cmd, admin.UserRename, admin.Rename{Email: args[0], To: args[1]})
			if errors.Is(err, record.ErrExists) {
				return hint.With(fmt.Errorf("account %s: %w", args[1], err), "choose an address that no account has")
			}
			return a.done(ofAccount(args[0], err), "the account %s now has the address %s", args[0], args[1])
		},
	}
}

func (a *app) userPolicy() *cobra.Command {
	return &cobra.Command{
		Use:   "policy EMAIL NAME|none",
		Short: "Give an account a policy",
		Long: `Give an account a policy from the settings, or none: then the general settings apply to
it. If the policy has groups, the next sign-in at a provider chooses the policy again,
by the groups of the user.`,
		Example: `  pushbox user policy alice@example.com finance
  pushbox user policy alice@example.com none`,
		RunE: a.configured(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			in := admin.NewPolicy{Email: args[0], Policy: args[1]}
			if in.Policy == "none" {
				in.Policy = ""
			}
			_, err := onAccount(a, cmd, admin.UserPolicy, args[0], in)
			if invalid := (*record.InvalidError)(nil); errors.As(err, &invalid) && invalid.Fields[store.FieldPolicy] != nil {
				var have []string
				for _, p := range cfg.Policies {
					have = append(have, p.Name)
				}
				return hint.With(fmt.Errorf("there is no policy %q; the settings have: %s", in.Policy, cmp.Or(strings.Join(have, ", "), "none")),
					"name one of those, or add it to policies in the settings, and run `pushbox reload`")
			}
			if in.Policy == "" {
				return a.done(err, "the account %s now has no policy", args[0])
			}
			return a.done(err, "the account %s now has the policy %s", args[0], in.Policy)
		}),
	}
}

func (a *app) userGrant() *cobra.Command {
	return a.roleCommand(true, "%s is now an administrator", &cobra.Command{
		Use:   "grant admin EMAIL",
		Short: "Make an account an administrator",
		Long: `Make an account an administrator: its user manages accounts, reads the instance log
and sees the state of the server, on the pages under /admin and by the API.
Administrators never see payloads, links or file names of others.`,
		Example: `  pushbox user grant admin alice@example.com`,
	})
}

func (a *app) userRevoke() *cobra.Command {
	return a.roleCommand(false, "%s is no longer an administrator", &cobra.Command{
		Use:   "revoke admin EMAIL",
		Short: "Remove administrator rights from an account",
		Long: `Remove administrator rights from an account. The last administrator keeps them, unless
you give --last: the commands on this machine work without an administrator.`,
		Example: `  pushbox user revoke admin alice@example.com`,
	})
}

// roleCommand makes cmd give an account a role, or take it away, and say so.
func (a *app) roleCommand(grant bool, did string, cmd *cobra.Command) *cobra.Command {
	var last bool
	if !grant {
		cmd.Flags().BoolVar(&last, "last", false, "even if no administrator remains")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args[0] != "admin" {
			return usagef("there is no role %q: the only one is admin", args[0])
		}
		_, err := onAccount(a, cmd, admin.UserRole, args[1], admin.Role{Email: args[1], Admin: grant, EvenLast: last})
		return a.done(err, did, args[1])
	}
	return cmd
}

// linkHelp ends the help of a command that makes a link.
const linkHelp = `

Pass the link on in a way that you trust, or let --mail send it to the address. It
begins with base_url; without that setting the command prints only its path.`

func (a *app) userInvite() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "invite EMAIL",
		Short: "Add an account whose user chooses the password",
		Long: `Add an account without a password, and print a link with which its user chooses one.
The link works once, for seven days; ` + "`pushbox user link`" + ` makes another.` + linkHelp,
		Example: `  pushbox user invite alice@example.com
  pushbox user invite --mail carol@example.com
  pushbox user invite --admin bob@example.com`,
	}
	isAdmin := cmd.Flags().Bool("admin", false, "make the account an administrator")
	return a.linkCommand(cmd, func(cmd *cobra.Command, email string, _ bool) (admin.PasswordLink, error) {
		return onAccount(a, cmd, admin.UserInvite, email, admin.Invitation{Email: email, Admin: *isAdmin})
	})
}

func (a *app) userLink() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "link EMAIL",
		Short: "Make a link that sets another password",
		Long: `Print a link with which the user of an account sets another password. It works once, for
an hour, or for seven days if the account has no password yet. Until the link is used,
the present password stays valid.` + linkHelp,
		Example: `  pushbox user link alice@example.com
  pushbox user link --mail alice@example.com`,
	}
	return a.linkCommand(cmd, func(cmd *cobra.Command, email string, mailed bool) (l admin.PasswordLink, err error) {
		if mailed { // then the server makes the link
			return l, nil
		}
		return onAccount(a, cmd, admin.UserPasswordLink, email, admin.Address{Email: email})
	})
}

// linkCommand makes cmd print the link that do makes for an account, or with --mail have one
// mailed.
func (a *app) linkCommand(cmd *cobra.Command, do func(cmd *cobra.Command, email string, mailed bool) (admin.PasswordLink, error)) *cobra.Command {
	mailed := cmd.Flags().Bool("mail", false, "mail the link to the address; print nothing")
	cmd.RunE = a.configured(func(cmd *cobra.Command, args []string, cfg config.Config) error {
		l, err := do(cmd, args[0], *mailed)
		if err != nil {
			return err
		}
		if *mailed {
			_, err = onAccount(a, cmd, admin.UserMailLink, args[0], admin.MailedLink{Email: args[0], Base: cfg.BaseURL})
			if err != nil {
				return hint.With(err, "no link was mailed; `pushbox user link %s` prints one", args[0])
			}
			return a.done(nil, "the server mails %s a link that sets the password", args[0])
		}
		if _, err := fmt.Fprintln(a.stdout, display.PasswordLink(cfg.BaseURL, l.Code.Reveal())); err != nil {
			return hint.With(fmt.Errorf("the link could not be printed: %w", err), "run: pushbox user link %s", args[0])
		}
		a.sayf("this link sets the password of %s once; it is valid until %s", args[0], stamp(l.Until, "-"))
		if cfg.BaseURL == "" {
			a.say("it is only a path: put the address of your server before it, or set base_url")
		}
		return nil
	})
	return cmd
}
