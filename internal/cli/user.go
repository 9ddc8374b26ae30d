package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/store"
)

func (a *app) user() *cobra.Command {
	return group("user", "Manage accounts",
		a.userAdd(), a.userList(), a.userPasswd(), a.userResetMFA(), a.userDisable(), a.userEnable(), a.userRemove())
}

// ofAccount names the account in an error, and adds a hint.
func ofAccount(email string, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return hint.With(fmt.Errorf("account %s: %w", email, err), "`pushbox user list` shows every account")
	case errors.Is(err, store.ErrExists):
		return hint.With(fmt.Errorf("account %s: %w", email, err), "`pushbox user passwd %s` sets another password", email)
	case errors.Is(err, store.ErrTokens):
		return hint.With(fmt.Errorf("account %s: %w: %d", email, err, store.MaxTokens), "`pushbox token list %s` shows them, and `pushbox token revoke ID` ends one", email)
	default:
		return ofInput(err)
	}
}

// ofInput adds a hint to an error about an input.
func ofInput(err error) error {
	if invalid := (*store.InvalidError)(nil); errors.As(err, &invalid) {
		return hint.With(err, "correct it and try again")
	}
	return err
}

func (a *app) userAdd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add EMAIL",
		Short: "Add an account",
		Long: `Add an account, which may then have API tokens.

The password is asked for twice on the terminal, or read from standard input.
If there is no database yet, it is made as ` + "`pushbox serve`" + ` makes it.`,
		Example: `  pushbox user add alice@example.com
  pass show pushbox | pushbox user add alice@example.com --password-stdin`,
		Args: arguments("EMAIL"),
	}
	addPasswordFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		password, err := a.password(cmd.Context(), cmd)
		if err != nil {
			return err
		}
		in := admin.Credentials{Email: args[0], Password: admin.Clear{Text: password}}
		u, err := administerOr(a, cmd, admin.UserAdd, in, true)
		if err != nil {
			return ofAccount(args[0], err)
		}
		a.say("added the account " + u.Email)
		return nil
	}
	return cmd
}

func (a *app) userList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List every account, oldest first",
		Long:    `List every account, with how many live pushes it has and what they take.`,
		Example: `  pushbox user list`,
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			users, err := administer(a, cmd, admin.UserList, admin.None{})
			if err != nil {
				return err
			}
			rows := [][]string{{"EMAIL", "CREATED", "STATE", "PUSHES", "SIZE"}}
			for _, u := range users {
				rows = append(rows, []string{u.Email, stamp(u.CreatedAt, "-"), userState(u), strconv.Itoa(u.Room.Pushes), humanize.Size(u.Room.Bytes)})
			}
			return writeTable(a.stdout, rows)
		},
	}
}

func userState(u admin.User) string {
	switch {
	case u.Removing:
		return "being removed"
	case u.Disabled:
		return "disabled"
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
		Short: "Remove the second factor of an account",
		Long: `Remove the second factor and its recovery codes from an account, when its user has
lost both. Afterwards the password is enough to sign in. Sessions and API tokens stay
valid.`,
		Example: `  pushbox user reset-mfa alice@example.com`,
	})
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
	return a.accountCommand(admin.UserRemove, "removed the account ", &cobra.Command{
		Use:   "remove EMAIL",
		Short: "Remove an account with all it owns",
		Long: `Remove an account with its API tokens, its pushes and their audit logs. Its
links end at once. This cannot be undone.

On a terminal it first asks you to type the address again.`,
		Example: `  pushbox user remove alice@example.com`,
		PreRunE: func(cmd *cobra.Command, args []string) error { return a.confirm(cmd.Context(), args[0]) },
	})
}

// confirm asks for the address again, if standard input is a terminal.
func (a *app) confirm(ctx context.Context, email string) error {
	if !a.console.terminal {
		return nil
	}
	answer, err := a.console.line(ctx,
		"This destroys the account, its tokens, its pushes and their audit logs.",
		"Type the address again: ")
	if err != nil {
		return err
	}
	if !strings.EqualFold(strings.TrimSpace(answer), strings.TrimSpace(email)) {
		return hint.With(errors.New("the addresses differ; nothing was removed"), "run the command again")
	}
	return nil
}
