package cli

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) webhookList() *cobra.Command {
	return &cobra.Command{
		Use:   "list EMAIL",
		Short: "List an account's webhooks, oldest first",
		Long: `List an account's webhooks. Of an address the host is shown, since what follows
it is often a secret. One whose receiver answered 410 is disabled: nothing is sent
to it until a test of it succeeds.`,
		Example: `  pushbox webhook list alice@example.com`,
		Args:    arguments("EMAIL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			hooks, err := administer(a, cmd, admin.WebhookList, admin.Address{Email: args[0]})
			if err != nil {
				return ofAccount(args[0], err)
			}
			rows := [][]string{{"ID", "HOST", "EVENTS", "CREATED", "STATE"}}
			for _, h := range hooks {
				rows = append(rows, webhookRow(h))
			}
			return writeTable(a.stdout, rows)
		},
	}
}

func webhookRow(h admin.Webhook) []string {
	state, host := "active", "-"
	if h.Disabled {
		state = "disabled"
	}
	if u, err := url.Parse(h.URL.Reveal()); err == nil {
		host = u.Scheme + "://" + u.Host
	}
	return []string{strconv.FormatUint(uint64(h.ID), 10), host, strings.Join(h.Events, ","), stamp(h.CreatedAt, "-"), state}
}
