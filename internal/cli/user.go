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
	"pushbox/store/record"
)

func (a *app) user() *cobra.Command {
	cmd := group("user", "Manage accounts", a.userAdd(), a.userList(), a.userPasswd(), a.userRename(), a.userInvite(), a.userLink(),
		a.userGrant(), a.userRevoke(), a.userPolicy(), a.userExpirePushes(), a.userRemove())
	addTo(cmd, a.accountCommands()...)
	return cmd
}

// onAccount does an operation on the account with an address.
func onAccount[In, Out any](a *app, cmd *cobra.Command, o admin.Op[In, Out], email string, in In) (Out, error) {
	out, err := administer(a, cmd, o, in)
	return out, ofAccount(email, err)
}

// ofAccount names the account in an error, and adds a hint.
func ofAccount(email string, err error) error {
	tokens := fmt.Sprintf("an account can have %d tokens: `pushbox token list %s` shows them, and `pushbox token revoke ID` ends one", record.MaxTokens, email)
	next := knownFor(err, []knownHint{
		{record.ErrNotFound, "`pushbox user list` shows every account"},
		{record.ErrExists, "`pushbox user passwd " + email + "` sets another password"},
		{record.ErrLastAdmin, "first make another account an administrator: `pushbox user grant admin EMAIL`"},
		{record.ErrTokens, tokens},
	})
	invalid := (*record.InvalidError)(nil)
	switch {
	case next != "":
		return hint.With(fmt.Errorf("account %s: %w", email, err), "%s", next)
	case !errors.As(err, &invalid):
		return err
	case invalid.Fields["email"] != nil:
		return hint.With(err, "give an address such as ann@example.com, and correct any other mistake that the message names")
	default:
		return hint.With(err, "correct it and try again")
	}
}

func (a *app) userAdd() *cobra.Command {
	var create bool
	cmd := &cobra.Command{
		Use:   "add EMAIL",
		Short: "Add an account",
		Long: `Add an account, which may then have API tokens.

The command asks for the password twice on the terminal, or reads it from standard
input. With --admin the account is an administrator, as ` + "`pushbox user grant`" + ` says.
With --init it also makes the data directory, the key and the database, if there is
none, as ` + "`pushbox serve`" + ` does.`,
		Example: `  pushbox user add alice@example.com
  pass show pushbox | pushbox user add alice@example.com --password-stdin`,
	}
	fromStdin := addPasswordFlag(cmd)
	isAdmin := cmd.Flags().Bool("admin", false, "make the account an administrator")
	cmd.Flags().BoolVar(&create, "init", false, "make the database if there is none")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		password, err := a.password(cmd.Context(), *fromStdin)
		if err != nil {
			return err
		}
		in := admin.Credentials{Email: args[0], Password: admin.Clear{Text: password}, Admin: *isAdmin}
		u, err := administerCreating(a, cmd, admin.UserAdd, in, create)
		if errors.Is(err, instance.ErrNoDatabase) {
			return hint.With(err, "name the settings file with --config, or the directory with --data-dir; in a new installation, --init makes it, as `pushbox serve` does")
		}
		return a.done(ofAccount(args[0], err), "added the account %s", u.Email)
	}
	return cmd
}

func (a *app) userList() *cobra.Command {
	l := listing[admin.User]{
		header: []string{"EMAIL", "CREATED", "LAST SIGN-IN", "CONFIRMED", "SECOND FACTOR", "ROLE", "POLICY", "STATE", "PUSHES", "SIZE"},
		row:    userRow,
		find: func(cmd *cobra.Command, _ []string) ([]admin.User, error) {
			return administer(a, cmd, admin.UserList, admin.None{})
		},
	}
	return l.on(a, &cobra.Command{
		Use:   "list",
		Short: "List every account, oldest first",
		Long: `List every account, oldest first: whether its address is confirmed, its last sign-in
on the pages, and the space that its live pushes use.

With --json each line is an object with id, email, created_at, confirmed,
second_factor, admin, invited, disabled, removing and room, which has pushes and bytes,
with last_sign_in_at if there was a sign-in, with policy if it has one, and with
identities if sign-in providers know its user.`,
		Example: `  pushbox user list
  pushbox user list --json | jq -r 'select(.second_factor | not) | .email'`,
	})
}

func userRow(u admin.User) []string {
	role := "member"
	if u.Admin {
		role = "admin"
	}
	return []string{
		email.Shown(u.Email), stamp(u.CreatedAt, "-"), stamp(u.LastSignInAt, "never"), yesNo(u.Confirmed), yesNo(u.SecondFactor),
		role, cmp.Or(u.Policy, "-"), userState(u), strconv.Itoa(u.Room.Pushes), humanize.Size(u.Room.Bytes),
	}
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
		Long: `Set another password for an account. Its sessions, its API tokens and its webhooks end:
a person who knew the old password may have made some of them. --keep-tokens keeps
tokens and webhooks.

The command asks for the password twice on the terminal, or reads it from standard
input.`,
		Example: `  pushbox user passwd alice@example.com`,
	}
	fromStdin := addPasswordFlag(cmd)
	keep := cmd.Flags().Bool("keep-tokens", false, "keep the account's API tokens and webhooks")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		password, err := a.password(cmd.Context(), *fromStdin)
		if err != nil {
			return err
		}
		in := admin.Credentials{Email: args[0], Password: admin.Clear{Text: password}, KeepTokens: *keep}
		_, err = onAccount(a, cmd, admin.UserPasswd, args[0], in)
		tokens := "its API tokens and webhooks have ended"
		if *keep {
			tokens = "its API tokens and webhooks stay"
		}
		return a.done(err, "set the password of %s; %s", args[0], tokens)
	}
	return cmd
}

// accountCommand makes cmd run an operation on the account EMAIL and report the result.
func (a *app) accountCommand(o admin.Op[admin.Address, admin.None], did string, cmd *cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, err := onAccount(a, cmd, o, args[0], admin.Address{Email: args[0]})
		return a.done(err, did, args[0])
	}
	return cmd
}

// accountCommands are the commands that need nothing but an account.
func (a *app) accountCommands() (all []*cobra.Command) {
	for _, c := range []struct {
		name, short, did string
		op               admin.Op[admin.Address, admin.None]
		long             string
	}{
		{"reset-mfa", "Remove the second factors of an account", "removed any second factor of the account %s", admin.UserResetMFA, `
Remove the authenticator app, the passkeys and the recovery codes from an account,
when its user has lost them. Afterwards the password is enough to sign in. Sessions
and API tokens stay valid.`},
		{"unlink", "Remove the links of an account to sign-in providers", "removed any links to sign-in providers from the account %s", admin.UserUnlink, `
Remove the links of an account to sign-in providers: by OpenID Connect, by a directory or
by a proxy. Its sessions end; its API tokens stay valid. Afterwards its user signs in with
the password, which ` + "`pushbox user link`" + ` sets, or at a provider that may link the
address again.`},
		{"confirm", "Confirm the address of an account", "confirmed the address of the account %s", admin.UserConfirm, `
Confirm the address of an account. A person who signs up on the pages confirms the
address with a code that arrives there by mail; until then the account sends no mail.
This command needs no code: you vouch that the address belongs to the person who made
the account. Everything that this person added stays: the password, second factors, API
tokens, webhooks, requests and pushes. If you do not know who made it, send a link with
` + "`pushbox user link --mail`" + ` instead: when the link sets the password, a new account
takes the place of this one.`},
		{"disable", "Disable an account until it is enabled again", "disabled the account %s", admin.UserDisable, `
Disable an account: its sessions end, and its API tokens are not valid until it is
enabled again. The links to its pushes still work.`},
		{"enable", "Enable a disabled account", "enabled the account %s", admin.UserEnable, ""},
	} {
		all = append(all, a.accountCommand(c.op, c.did, &cobra.Command{
			Use: c.name + " EMAIL", Short: c.short, Long: strings.TrimPrefix(c.long, "\n"), Example: "  pushbox user " + c.name + " alice@example.com",
		}))
	}
	return all
}

// confirmHelp ends the help of a command that asks for the address again.
const confirmHelp = `

It first asks you to type the address again. Where there is no terminal, as in a
script, it needs --yes.`

func (a *app) userRemove() *cobra.Command {
	cmd := a.accountCommand(admin.UserRemove, "removed the account %s", &cobra.Command{
		Use:   "remove EMAIL",
		Short: "Remove an account and all that it owns",
		Long: `Remove an account with its API tokens, its pushes and their audit logs. Its
links end at once. This cannot be undone.` + confirmHelp,
		Example: `  pushbox user remove alice@example.com
  pushbox user remove alice@example.com --yes`,
	})
	return a.confirmed(cmd, "destroys the account, its tokens, its pushes and their audit logs")
}

func (a *app) userExpirePushes() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "expire-pushes EMAIL",
		Short: "End all live pushes of an account",
		Long: `End all live pushes of an account at once, as if it had deleted each of them: links
and running downloads end, and payloads and files are destroyed. Audit logs stay. The
account itself does not change: to keep it from making new pushes, disable it first.` + confirmHelp,
		Example: `  pushbox user disable ann@example.com && pushbox user expire-pushes ann@example.com
  pushbox user expire-pushes ann@example.com --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ended, err := onAccount(a, cmd, admin.UserExpirePushes, args[0], admin.Address{Email: args[0]})
			return a.done(err, "ended %s of %s", humanize.Count(ended.N, "live push", "live pushes"), args[0])
		},
	}
	return a.confirmed(cmd, "ends all live pushes of the account, and destroys their contents")
}

// confirmed makes cmd ask for the address of the account again, unless --yes is given.
func (a *app) confirmed(cmd *cobra.Command, does string) *cobra.Command {
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if *yes {
			return nil
		}
		return a.confirm(cmd.Context(), args[0], does)
	}
	return cmd
}

// confirm says what a command does, and asks for the address of the account again.
func (a *app) confirm(ctx context.Context, email, does string) error {
	if !a.console.terminal {
		return hint.With(usagef("this %s, and there is no terminal to confirm it on", does), "if that is what you want, add --yes")
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
