package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/server/display"
)

func (a *app) userInvite() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "invite EMAIL",
		Short: "Add an account whose user chooses the password",
		Long: `Add an account without a password, and print a link by which its user chooses one. The
link works once, for seven days; ` + "`pushbox user link`" + ` makes another. Pass it on in a
way that you trust, or let --mail send it to the address.

The link begins with base_url. Without that setting only its path is printed.`,
		Example: `  pushbox user invite alice@example.com
  pushbox user invite --mail carol@example.com
  pushbox user invite --admin bob@example.com`,
		Args: arguments("EMAIL"),
	}
	mailed := mailFlag(cmd)
	isAdmin := cmd.Flags().Bool("admin", false, "make it an administrator's account")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := administer(a, cmd, admin.UserInvite, admin.Invitation{Email: args[0], Admin: *isAdmin})
		if err != nil {
			return ofAccount(args[0], err)
		}
		if *mailed {
			return a.mailLink(cmd, args[0])
		}
		return a.printLink(cmd, args[0], l)
	}
	return cmd
}

func (a *app) userLink() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "link EMAIL",
		Short: "Make a link that sets another password",
		Long: `Print a link by which the user of an account sets another password. It works once, for an
hour, or for seven days if the account has no password yet; until then the present
password stays valid. Pass it on in a way that you trust, or let --mail send it to the address.

The link begins with base_url. Without that setting only its path is printed.`,
		Example: `  pushbox user link alice@example.com
  pushbox user link --mail alice@example.com`,
		Args: arguments("EMAIL"),
	}
	mailed := mailFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *mailed {
			return a.mailLink(cmd, args[0])
		}
		l, err := administer(a, cmd, admin.UserPasswordLink, admin.Address{Email: args[0]})
		if err != nil {
			return ofAccount(args[0], err)
		}
		return a.printLink(cmd, args[0], l)
	}
	return cmd
}

func mailFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("mail", false, "mail the link to the address; print nothing")
}

// mailLink mails a link to the user of an account.
func (a *app) mailLink(cmd *cobra.Command, email string) error {
	loaded, err := a.settings(cmd)
	if err != nil {
		return err
	}
	if _, err := administer(a, cmd, admin.UserMailLink, admin.MailedLink{Email: email, Base: loaded.Config.BaseURL}); err != nil {
		return hint.With(ofAccount(email, err), "no link was mailed; `pushbox user link %s` prints one", email)
	}
	a.say("a link that sets the password is on its way to " + email)
	return nil
}

// printLink prints a link for the user of an account.
func (a *app) printLink(cmd *cobra.Command, email string, l admin.PasswordLink) error {
	loaded, err := a.settings(cmd)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.stdout, display.PasswordLink(loaded.Config.BaseURL, l.Code.Reveal())); err != nil {
		return hint.With(fmt.Errorf("the link could not be printed: %w", err), "run: pushbox user link %s", email)
	}
	a.say("this link sets the password of " + email + " once, until " + stamp(l.Until, "-"))
	if loaded.Config.BaseURL == "" {
		a.say("it is only a path: put the address of your server before it, or set base_url")
	}
	return nil
}
