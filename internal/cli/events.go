package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/email"
	"pushbox/store"
	"pushbox/store/record"
)

// A since is a flag whose value is a length of time, such as 24h or 7d, a date, or a time
// in the form of RFC 3339.
type since struct{ time.Time }

var errSince = errors.New("must be a length of time such as 24h or 7d, a date such as 2026-01-31, or a time such as 2026-01-31T09:00:00Z")

// Set reads the flag's value.
func (s *since) Set(text string) (err error) {
	var ago lifetime
	if ago.Set(text) == nil {
		s.Time = time.Now().Add(-time.Duration(ago))
		return nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if s.Time, err = time.Parse(layout, text); err == nil {
			return nil
		}
	}
	return errSince
}

// String returns the default in help: none.
func (*since) String() string { return "" }

// Type returns the name of the value in help.
func (*since) Type() string { return "time" }

func (a *app) events() *cobra.Command {
	var from since
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show who changed accounts and the instance",
		Long: fmt.Sprintf(`Show the instance log, oldest first: changes of accounts, API tokens, second
factors, webhooks and keys; sign-ins, sign-outs and refusals; backups, restores,
compactions and reloads. Each event has its actor: "operator" runs commands on
this machine, "system" is pushbox itself, "admin" is an administrator on the pages or
by the API, "account" is the account that the event is about, and "anonymous" is a
client that did not prove an account.

The log keeps %d events; then the oldest go. "pushbox check" reports an event
that is missing or was changed.

With --json each line is an object with number, time, event and actor, and with
those of actor_id (the account that acted), actor_account (its address, if it is another), ip,
user_agent, account_id, account (its address), token and webhook (their IDs) and detail that there are.`, record.MaxAdminEvents),
		Example: `  pushbox events --since 24h
  pushbox events --since 2026-01-31 --json | jq 'select(.event == "sign_in_refused")'`,
		Args: arguments(),
	}
	asJSON := addJSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *asJSON {
			return a.writeEvents(cmd, from.Time)
		}
		return a.showEvents(cmd, from.Time)
	}
	cmd.Flags().Var(&from, "since", "only what happened since `TIME`: 24h, 7d, or a date")
	return cmd
}

// writeEvents prints the log for programs.
func (a *app) writeEvents(cmd *cobra.Command, from time.Time) error {
	e := json.NewEncoder(a.stdout)
	return a.eachEvent(cmd, from, func(one store.AdminLine) error { return e.Encode(one) })
}

// showEvents prints the log for people: after an error, what was read before it.
func (a *app) showEvents(cmd *cobra.Command, from time.Time) error {
	rows := [][]string{{"TIME", "EVENT", "ACTOR", "ACCOUNT", "FROM", "DETAIL"}}
	err := a.eachEvent(cmd, from, func(one store.AdminLine) error {
		rows = append(rows, eventRow(one))
		return nil
	})
	if err != nil && len(rows) == 1 {
		return err
	}
	return errors.Join(writeTable(a.stdout, rows), err)
}

// eachEvent calls do with each event since a time.
func (a *app) eachEvent(cmd *cobra.Command, from time.Time, do func(store.AdminLine) error) error {
	for in := (admin.EventQuery{Since: from}); ; {
		page, err := administer(a, cmd, admin.Events, in)
		if err != nil {
			return err
		}
		for _, one := range page.Events {
			if err := do(one); err != nil {
				return err
			}
			in.After = one.Number
		}
		if !page.More {
			return nil
		}
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
