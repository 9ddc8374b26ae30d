package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/email"
	"pushbox/store"
	"pushbox/store/record"
)

func (a *app) events() *cobra.Command {
	var from *time.Time
	l := listing[store.AdminLine]{
		header: []string{"TIME", "EVENT", "ACTOR", "ACCOUNT", "FROM", "DETAIL"},
		row:    eventRow,
		find: func(cmd *cobra.Command, _ []string) ([]store.AdminLine, error) {
			return a.findEvents(cmd, admin.EventQuery{Since: *from})
		},
	}
	cmd := l.on(a, &cobra.Command{
		Use:   "events",
		Short: "Show who changed accounts and the instance",
		Long: fmt.Sprintf(`Show the instance log, oldest first: changes of accounts, API tokens, second
factors, webhooks and keys; sign-ins, sign-outs and refusals; backups, restores,
compactions and reloads. Each event has its actor: "operator" runs commands on
this machine, "system" is pushbox itself, "admin" is an administrator on the pages or
by the API, "account" is the account that the event is about, and "anonymous" is a
client that did not prove an account.

The log keeps %d events; then the oldest are removed. "pushbox check" reports an event
that is missing or was changed.

With --json each line is an object with number, time, event and actor. These fields are
there if they apply: actor_id (the account that acted), actor_account (its address, if
it is another account), ip, user_agent, account_id, account (its address), token and
webhook (their IDs), and detail.`, record.MaxAdminEvents),
		Example: `  pushbox events --since 24h
  pushbox events --since 2026-01-31 --json | jq 'select(.event == "sign_in_refused")'`,
	})
	from = parsedFlag(cmd, "since", "only what happened since `TIME`: 24h, 7d, or a date", parseSince)
	return cmd
}

// findEvents returns the events, after an error those before it.
func (a *app) findEvents(cmd *cobra.Command, in admin.EventQuery) (all []store.AdminLine, err error) {
	for {
		page, err := administer(a, cmd, admin.Events, in)
		if err != nil {
			return all, err
		}
		all = append(all, page.Events...)
		if !page.More || len(page.Events) == 0 {
			return all, nil
		}
		in.After = all[len(all)-1].Number
	}
}

func eventRow(e store.AdminLine) []string {
	at, _ := time.Parse(time.RFC3339, e.Time) // a server wrote it
	account, detail := email.Shown(e.Account), []string{}
	if account == "" && e.AccountID != 0 {
		account = fmt.Sprintf("account %d, removed", e.AccountID)
	}
	if e.Token != 0 {
		detail = append(detail, fmt.Sprintf("token %d", e.Token))
	}
	if e.Webhook != 0 {
		detail = append(detail, fmt.Sprintf("webhook %d", e.Webhook))
	}
	if e.Detail != "" {
		detail = append(detail, e.Detail)
	}
	actor := e.Actor
	if e.ActorID != 0 && e.ActorID != e.AccountID {
		actor += " " + cmp.Or(e.ActorAccount, fmt.Sprintf("(account %d, removed)", e.ActorID))
	}
	return []string{
		stamp(at, "-"), e.Event, actor, cmp.Or(account, "-"), cmp.Or(e.IP, "-"), cmp.Or(strings.Join(detail, ", "), "-"),
	}
}
