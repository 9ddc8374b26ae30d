package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/store"
	"pushbox/store/record"
)

func (a *app) tokenCreate() *cobra.Command {
	var label string
	var scopes []string
	var expires *time.Duration
	cmd := &cobra.Command{
		Use:   "create EMAIL",
		Short: "Make an API token and print it",
		Long: `Make an API token for an account, and print it on standard output.
It cannot be shown again: only its digest is kept.

A token with --scope allows no more than its scopes: create to create pushes, and to
have their links mailed in the same request; read to open and list pushes, and to read
audit logs; manage to delete pushes and to send links by mail later; admin to
administer the server, as long as the account is an administrator. Without --scope
it has the first three. An account can have 25 tokens.`,
		Example: `  pushbox token create alice@example.com --name laptop --expires 90d
  pushbox token create alice@example.com --name monitoring --scope create,read`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkText("--name", label); err != nil {
				return err
			}
			allowed, ok := record.ParseScopes(strings.Join(scopes, ","))
			if !ok {
				return hint.With(usagef("--scope has an unknown scope"), "the scopes are %s", strings.Join(record.ScopeNames(), ", "))
			}
			terms := store.TokenTerms{Label: label, Lifetime: *expires, Scopes: allowed}
			t, err := onAccount(a, cmd, admin.TokenCreate, args[0], admin.TokenRequest{Email: args[0], TokenTerms: terms})
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(a.stdout, t.Secret.Reveal()); err != nil {
				return hint.With(fmt.Errorf("token %d was made, but could not be printed: %w", t.ID, err), "run: pushbox token revoke %d", t.ID)
			}
			return a.done(nil, "made token %d, expires: %s; it is not shown again", t.ID, stamp(t.ExpiresAt, "never"))
		},
	}
	cmd.Flags().StringVar(&label, "name", "", "show the token as `LABEL` in lists")
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "allow no more than `SCOPE`: create, read, manage, admin (default: all but admin)")
	expires = parsedFlag(cmd, "expires", "valid for `TIME`, such as 90d (default: it never expires)", parseLifetime)
	return cmd
}

func (a *app) tokenList() *cobra.Command {
	l := listing[admin.Token]{
		header: []string{"ID", "LABEL", "SCOPE", "CREATED", "EXPIRES", "LAST USED"},
		row:    tokenRow,
		find: func(cmd *cobra.Command, args []string) ([]admin.Token, error) {
			return onAccount(a, cmd, admin.TokenList, args[0], admin.Address{Email: args[0]})
		},
	}
	return l.on(a, &cobra.Command{
		Use:   "list EMAIL",
		Short: "List an account's API tokens, oldest first",
		Long: `List an account's API tokens. The tokens themselves cannot be shown again.

With --json each line is an object with id, label and created_at, and with expires_at
if it expires, and last_used_at if it was used.`,
		Example: `  pushbox token list alice@example.com`,
	})
}

func tokenRow(t admin.Token) []string {
	scope := strings.ReplaceAll(t.Scopes.String(), " ", ",")
	if t.Scopes == record.AllScopes {
		scope = "all"
	}
	return []string{
		strconv.FormatUint(uint64(t.ID), 10), cmp.Or(t.Label, "-"), scope,
		stamp(t.CreatedAt, "-"), stamp(t.ExpiresAt, "never"), stamp(t.LastUsedAt, "never"),
	}
}

// idCommand makes cmd do something with the token or the webhook ID, which is least or more. An
// error about the argument does not quote it: it may be a token itself.
func idCommand(cmd *cobra.Command, what string, least uint64, do func(cmd *cobra.Command, id uint64) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil || id < least {
			return hint.With(usagef("ID is not a number"), "it is the first column of `pushbox %s list EMAIL`", what)
		}
		err = do(cmd, id)
		if errors.Is(err, record.ErrNotFound) {
			return hint.With(fmt.Errorf("%s %d: %w", what, id, err), "`pushbox %s list EMAIL` shows an account's %[1]ss", what)
		}
		return err
	}
	return cmd
}

func (a *app) tokenRevoke() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke an API token at once",
		Long:    `Revoke an API token at once. ID is the first column of ` + "`pushbox token list`" + `.`,
		Example: `  pushbox token revoke 3`,
	}
	return idCommand(cmd, "token", 0, func(cmd *cobra.Command, id uint64) error {
		_, err := administer(a, cmd, admin.TokenRevoke, admin.TokenRef{ID: record.TokenID(id)})
		return a.done(err, "revoked token %d", id)
	})
}
