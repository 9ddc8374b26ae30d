package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/email"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/store"
	"pushbox/store/record"
)

func (a *app) user() *cobra.Command {
	return group("user", "Manage accounts",
		a.userAdd(), a.userList(), a.userPasswd(), a.userResetMFA(), a.userUnlink(), a.userConfirm(), a.userRename(),
		a.userInvite(), a.userLink(), a.userGrant(), a.userRevoke(), a.userPolicy(), a.userDisable(), a.userEnable(), a.userExpirePushes(), a.userRemove())
}

// ofAccount names the account in an error, and adds a hint.
func ofAccount(email string, err error) error {
	switch {
	case errors.Is(err, record.ErrNotFound):
		return hint.With(fmt.Errorf("account %s: %w", email, err), "`pushbox user list` shows every account")
	case errors.Is(err, record.ErrExists):
		return hint.With(fmt.Errorf("account %s: %w", email, err), "`pushbox user passwd %s` sets another password", email)
	case errors.Is(err, record.ErrLastAdmin):
		return hint.With(fmt.Errorf("account %s: %w", email, err), "first make another account an administrator's: `pushbox user grant admin EMAIL`")
	case errors.Is(err, record.ErrTokens):
		return hint.With(fmt.Errorf("account %s: %w: %d", email, err, record.MaxTokens), "`pushbox token list %s` shows them, and `pushbox token revoke ID` ends one", email)
	default:
		if invalid := (*record.InvalidError)(nil); errors.As(err, &invalid) && invalid.Fields["email"] != nil {
			return hint.With(err, "name an address such as ann@example.com, and correct what else it says")
		}
		return ofInput(err)
	}
}

// ofInput adds a hint to an error about an input.
func ofInput(err error) error {
	if invalid := (*record.InvalidError)(nil); errors.As(err, &invalid) {
		return hint.With(err, "correct it and try again")
	}
	return err
}

func (a *app) userAdd() *cobra.Command {
	var create bool
	cmd := &cobra.Command{
		Use:   "add EMAIL",
		Short: "Add an account",
		Long: `Add an account, which may then have API tokens.

The password is asked for twice on the terminal, or read from standard input.
With --admin the account is an administrator's, as ` + "`pushbox user grant`" + ` says.
With --init it also makes the data directory, the key and the database, if there is
none, as ` + "`pushbox serve`" + ` does.`,
		Example: `  pushbox user add alice@example.com
  pass show pushbox | pushbox user add alice@example.com --password-stdin`,
		Args: arguments("EMAIL"),
	}
	addPasswordFlag(cmd)
	isAdmin := cmd.Flags().Bool("admin", false, "make it an administrator's account")
	cmd.Flags().BoolVar(&create, "init", false, "make the database if there is none")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		password, err := a.password(cmd.Context(), cmd)
		if err != nil {
			return err
		}
		in := admin.Credentials{Email: args[0], Password: admin.Clear{Text: password}, Admin: *isAdmin}
		u, err := administerOr(a, cmd, admin.UserAdd, in, create)
		if errors.Is(err, instance.ErrNoDatabase) {
			return hint.With(err, "name the settings file with --config, or the directory with --data-dir; in a new installation, --init makes it, as `pushbox serve` does")
		}
		if err != nil {
			return ofAccount(args[0], err)
		}
		a.say("added the account " + u.Email)
		return nil
	}
	return cmd
}

func (a *app) userList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List every account, oldest first",
		Long: `List every account, oldest first, with whether its address is confirmed, its last
sign-in on the pages, and what its live pushes take.

With --json each line is an object with id, email, created_at, confirmed,
second_factor, admin, invited, disabled, removing and room, which has pushes and bytes,
with last_sign_in_at if there was a sign-in, with policy if it has one, and with
identities if sign-in providers know its user.`,
		Example: `  pushbox user list
  pushbox user list --json | jq -r 'select(.second_factor | not) | .email'`,
		Args: arguments(),
	}
	asJSON := addJSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		users, err := administer(a, cmd, admin.UserList, admin.None{})
		if err != nil {
			return err
		}
		return listing[admin.User]{[]string{"EMAIL", "CREATED", "LAST SIGN-IN", "CONFIRMED", "SECOND FACTOR", "ROLE", "POLICY", "STATE", "PUSHES", "SIZE"}, userRow}.print(a.stdout, users, *asJSON)
	}
	return cmd
}

func userRow(u admin.User) []string {
	return []string{email.Shown(u.Email), stamp(u.CreatedAt, "-"), stamp(u.LastSignInAt, "never"), yesNo(u.Confirmed), yesNo(u.SecondFactor), userRole(u), cmp.Or(u.Policy, "-"), userState(u), strconv.Itoa(u.Room.Pushes), humanize.Size(u.Room.Bytes)}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func userRole(u admin.User) string {
	if u.Admin {
		return "admin"
	}
	return "member"
}

func userState(u admin.User) string {
	switch {
	case u.Removing:
		return "being removed"
	case u.Disabled:
		return "disabled"
	case u.Invited && !u.LastSignInAt.IsZero(): // its links to providers were removed
		return "no password"
	case u.Invited:
		return "invited"
	default:
		return "active"
	}
}

func (a *app) userPasswd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "passwd EMAIL",
		Short: "Set another password",
		Long: `Set another password for an account. Its sessions and its API tokens end: a person
who knew the old password may have made some of them. --keep-tokens keeps the tokens.

The password is asked for twice on the terminal, or read from standard input.`,
		Example: `  pushbox user passwd alice@example.com`,
		Args:    arguments("EMAIL"),
	}
	addPasswordFlag(cmd)
	keep := cmd.Flags().Bool("keep-tokens", false, "keep the account's API tokens valid")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		password, err := a.password(cmd.Context(), cmd)
		if err != nil {
			return err
		}
		in := admin.Credentials{Email: args[0], Password: admin.Clear{Text: password}, KeepTokens: *keep}
		if _, err := administer(a, cmd, admin.UserPasswd, in); err != nil {
			return ofAccount(args[0], err)
		}
		tokens := "; its API tokens have ended"
		if *keep {
			tokens = "; its API tokens stay valid"
		}
		a.say("set the password of " + args[0] + tokens)
		return nil
	}
	return cmd
}

// accountCommand makes cmd run an operation on the account EMAIL and report the result.
func (a *app) accountCommand(o admin.Op[admin.Address, admin.None], did string, cmd *cobra.Command) *cobra.Command {
	cmd.Args = arguments("EMAIL")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := administer(a, cmd, o, admin.Address{Email: args[0]}); err != nil {
			return ofAccount(args[0], err)
		}
		a.say(did + args[0])
		return nil
	}
	return cmd
}

func (a *app) userResetMFA() *cobra.Command {
	return a.accountCommand(admin.UserResetMFA, "removed any second factor of the account ", &cobra.Command{
		Use:   "reset-mfa EMAIL",
		Short: "Remove the second factors of an account",
		Long: `Remove the authenticator app, the passkeys and the recovery codes from an account,
when its user has lost them. Afterwards the password is enough to sign in. Sessions
and API tokens stay valid.`,
		Example: `  pushbox user reset-mfa alice@example.com`,
	})
}

func (a *app) userUnlink() *cobra.Command {
	return a.accountCommand(admin.UserUnlink, "removed any links to sign-in providers from the account ", &cobra.Command{
		Use:   "unlink EMAIL",
		Short: "Remove the links of an account to sign-in providers",
		Long: `Remove the links of an account to sign-in providers: by OpenID Connect, by a directory or
by a proxy. Its sessions end; its API tokens stay valid. Afterwards its user signs in with
the password, which ` + "`pushbox user link`" + ` sets, or at a provider that may link the
address again.`,
		Example: `  pushbox user unlink alice@example.com`,
	})
}

func (a *app) userConfirm() *cobra.Command {
	return a.accountCommand(admin.UserConfirm, "confirmed the address of the account ", &cobra.Command{
		Use:   "confirm EMAIL",
		Short: "Vouch for the address of an account",
		Long: `Make the address of an account a confirmed one. A person who signs up on the pages
confirms the address with a code that is sent there by mail; until then the account
sends no mail. This command does it without a code: you vouch that the address belongs
to the person who made the account. All that this person put into it stays: the
password, second factors, API tokens, webhooks, requests and pushes. If you do not know
who made it, send a link with ` + "`pushbox user link --mail`" + ` instead: when it sets the
password, a new account takes the place of this one.`,
		Example: `  pushbox user confirm alice@example.com`,
	})
}

func (a *app) userPolicy() *cobra.Command {
	return &cobra.Command{
		Use:   "policy EMAIL NAME|none",
		Short: "Give an account a policy",
		Long: `Give an account a policy of the settings, or none: then what holds for all holds for
it. If the policy has groups, those of its user decide again at the next sign-in at a
provider.`,
		Example: `  pushbox user policy alice@example.com finance
  pushbox user policy alice@example.com none`,
		Args: arguments("EMAIL", "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := admin.NewPolicy{Email: args[0], Policy: args[1]}
			did := "the account " + args[0] + " has the policy " + args[1] + " now"
			if in.Policy == "none" {
				in.Policy, did = "", "the account "+args[0]+" has no policy now"
			}
			_, err := administer(a, cmd, admin.UserPolicy, in)
			if invalid := (*record.InvalidError)(nil); errors.As(err, &invalid) && invalid.Fields[store.FieldPolicy] != nil {
				return a.noPolicy(cmd, in.Policy)
			}
			if err != nil {
				return ofAccount(args[0], err)
			}
			a.say(did)
			return nil
		},
	}
}

// noPolicy is the error of a policy that the settings do not have.
func (a *app) noPolicy(cmd *cobra.Command, name string) error {
	loaded, err := a.settings(cmd)
	if err != nil {
		return err
	}
	have := "none"
	for i, p := range loaded.Config.Policies {
		if i == 0 {
			have = p.Name
		} else {
			have += ", " + p.Name
		}
	}
	return hint.With(fmt.Errorf("there is no policy %q; the settings have: %s", name, have), "name one of those, or add it to policies in the settings, and run `pushbox reload`")
}

func (a *app) userDisable() *cobra.Command {
	return a.accountCommand(admin.UserDisable, "disabled the account ", &cobra.Command{
		Use:   "disable EMAIL",
		Short: "Disable an account until it is enabled again",
		Long: `Disable an account: its sessions end, and its API tokens are not valid until it is
enabled again. The links to its pushes still work.`,
		Example: `  pushbox user disable alice@example.com`,
	})
}

func (a *app) userEnable() *cobra.Command {
	return a.accountCommand(admin.UserEnable, "enabled the account ", &cobra.Command{
		Use:     "enable EMAIL",
		Short:   "Enable a disabled account",
		Example: `  pushbox user enable alice@example.com`,
	})
}

func (a *app) userRemove() *cobra.Command {
	var yes bool
	cmd := a.accountCommand(admin.UserRemove, "removed the account ", &cobra.Command{
		Use:   "remove EMAIL",
		Short: "Remove an account with all it owns",
		Long: `Remove an account with its API tokens, its pushes and their audit logs. Its
links end at once. This cannot be undone.

It first asks you to type the address again. Where there is no terminal, as in a
script, it needs --yes.`,
		Example: `  pushbox user remove alice@example.com
  pushbox user remove alice@example.com --yes`,
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if yes {
				return nil
			}
			return a.confirm(cmd.Context(), args[0], "destroys the account, its tokens, its pushes and their audit logs")
		},
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirm says what a command does, and asks for the address of the account again.
func (a *app) confirm(ctx context.Context, email, does string) error {
	if !a.console.terminal {
		return hint.With(usagef("there is no terminal to ask on, and this %s", does), "if that is what you want, add --yes")
	}
	answer, err := a.console.line(ctx, "This "+does+".", "Type the address again: ")
	if err != nil {
		return err
	}
	if !strings.EqualFold(strings.TrimSpace(answer), strings.TrimSpace(email)) {
		return hint.With(errors.New("the addresses differ; nothing was done"), "run the command again")
	}
	return nil
}
