package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/store"
	"pushbox/store/record"
)

func (a *app) token() *cobra.Command {
	return group("token", "Manage API tokens", a.tokenCreate(), a.tokenList(), a.tokenRevoke())
}

// A lifetime is a flag whose value is a number of days, such as 90d, or a duration for
// time.ParseDuration.
type lifetime time.Duration

const maxLifetime = 36500 * humanize.Day

var errLifetime = errors.New("must be a length of time such as 90d or 12h, more than 0 and at most 36500d")

// Set reads the flag's value.
func (l *lifetime) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * humanize.Day
	}
	if err != nil || d <= 0 || d > maxLifetime {
		return errLifetime
	}
	*l = lifetime(d)
	return nil
}

// String returns the default in help: none.
func (*lifetime) String() string { return "" }

// Type returns the name of the value in help.
func (*lifetime) Type() string { return "duration" }

func (a *app) tokenCreate() *cobra.Command {
	var label string
	var scopes []string
	var expires lifetime
	cmd := &cobra.Command{
		Use:   "create EMAIL",
		Short: "Make an API token and print it",
		Long: `Make an API token for an account, and print it on standard output.
It cannot be shown again: only its digest is kept.

A token with --scope allows no more than its scopes: create to create pushes, and to
have their links mailed in the same request; read to open and list pushes, and to read
audit logs; manage to delete pushes and to send links by mail later; admin to
administer the server, as long as the account is an administrator's. Without --scope
it has the first three. An account can have 25 tokens.`,
		Example: `  pushbox token create alice@example.com --name laptop --expires 90d
  pushbox token create alice@example.com --name monitoring --scope create,read`,
		Args: arguments("EMAIL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkText("--name", label); err != nil {
				return err
			}
			allowed, ok := record.ParseScopes(strings.Join(scopes, ","))
			if !ok {
				return hint.With(usagef("--scope has a name that is no scope"), "the scopes are %s", strings.Join(record.ScopeNames(), ", "))
			}
			terms := store.TokenTerms{Label: label, Lifetime: time.Duration(expires), Scopes: allowed}
			return a.createToken(cmd, admin.TokenRequest{Email: args[0], TokenTerms: terms})
		},
	}
	cmd.Flags().StringVar(&label, "name", "", "show the token as `LABEL` in lists")
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "allow no more than `SCOPE`: create, read, manage, admin (default: all but admin)")
	cmd.Flags().Var(&expires, "expires", "valid for `TIME`, such as 90d (default: it never expires)")
	return cmd
}

func (a *app) createToken(cmd *cobra.Command, in admin.TokenRequest) error {
	t, err := administer(a, cmd, admin.TokenCreate, in)
	if err != nil {
		return ofAccount(in.Email, err)
	}
	if _, err := fmt.Fprintln(a.stdout, t.Secret.Reveal()); err != nil {
		return hint.With(fmt.Errorf("token %d was made, but could not be printed: %w", t.ID, err), "run: pushbox token revoke %d", t.ID)
	}
	a.say(fmt.Sprintf("made token %d, expires: %s; it is not shown again", t.ID, stamp(t.ExpiresAt, "never")))
	return nil
}

func (a *app) tokenList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list EMAIL",
		Short: "List an account's API tokens, oldest first",
		Long: `List an account's API tokens. The tokens themselves cannot be shown again.

With --json each line is an object with id, label and created_at, and with expires_at
if it expires, and last_used_at if it was used.`,
		Example: `  pushbox token list alice@example.com`,
		Args:    arguments("EMAIL"),
	}
	asJSON := addJSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		tokens, err := administer(a, cmd, admin.TokenList, admin.Address{Email: args[0]})
		if err != nil {
			return ofAccount(args[0], err)
		}
		return listing[admin.Token]{[]string{"ID", "LABEL", "SCOPE", "CREATED", "EXPIRES", "LAST USED"}, tokenRow}.print(a.stdout, tokens, *asJSON)
	}
	return cmd
}

func tokenRow(t admin.Token) []string {
	label := t.Label
	if label == "" {
		label = "-"
	}
	scope := strings.ReplaceAll(t.Scopes.String(), " ", ",")
	if t.Scopes == record.AllScopes {
		scope = "all"
	}
	return []string{
		strconv.FormatUint(uint64(t.ID), 10),
		label,
		scope,
		stamp(t.CreatedAt, "-"),
		stamp(t.ExpiresAt, "never"),
		stamp(t.LastUsedAt, "never"),
	}
}

func (a *app) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "End an API token at once",
		Long:    `End an API token at once. ID is the first column of ` + "`pushbox token list`" + `.`,
		Example: `  pushbox token revoke 3`,
		Args:    arguments("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil { // and args[0] may be the token itself: it is not quoted
				return hint.With(usagef("ID is not a number"), "it is the first column of `pushbox token list EMAIL`")
			}
			_, err = administer(a, cmd, admin.TokenRevoke, admin.TokenRef{ID: record.TokenID(id)})
			if errors.Is(err, record.ErrNotFound) {
				return hint.With(fmt.Errorf("token %d: %w", id, err), "`pushbox token list EMAIL` shows an account's tokens")
			}
			if err != nil {
				return err
			}
			a.say(fmt.Sprintf("revoked token %d", id))
			return nil
		},
	}
}
