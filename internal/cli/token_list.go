package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) tokenList() *cobra.Command {
	return &cobra.Command{
		Use:     "list EMAIL",
		Short:   "List an account's API tokens, oldest first",
		Long:    `List an account's API tokens. The tokens themselves cannot be shown again.`,
		Example: `  pushbox token list alice@example.com`,
		Args:    arguments("EMAIL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			tokens, err := administer(a, cmd, admin.TokenList, admin.Address{Email: args[0]})
			if err != nil {
				return ofAccount(args[0], err)
			}
			rows := [][]string{{"ID", "LABEL", "CREATED", "EXPIRES", "LAST USED"}}
			for _, t := range tokens {
				rows = append(rows, tokenRow(t))
			}
			return writeTable(a.stdout, rows)
		},
	}
}

func tokenRow(t admin.Token) []string {
	label := t.Label
	if label == "" {
		label = "-"
	}
	return []string{
		strconv.FormatUint(uint64(t.ID), 10),
		label,
		stamp(t.CreatedAt, "-"),
		stamp(t.ExpiresAt, "never"),
		stamp(t.LastUsedAt, "never"),
	}
}
