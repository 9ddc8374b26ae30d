package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/humanize"
	"pushbox/store/record"
)

func (a *app) webhookList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list EMAIL",
		Short: "List an account's webhooks, oldest first",
		Long: `List an account's webhooks. Only the host of an address is shown, because the rest
is often a secret. WAITING is how many messages wait for it.

A webhook is "failing" while its receiver takes no message; the server tries again
until webhooks.give_up. A webhook whose receiver answered 410 is "disabled": it gets
nothing until ` + "`pushbox webhook test`" + ` succeeds.

With --json each line is an object with id, host, events, created_at, disabled,
waiting, and failed_tries: how many tries in a row have failed.`,
		Example: `  pushbox webhook list alice@example.com`,
		Args:    arguments("EMAIL"),
	}
	asJSON := addJSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		hooks, err := administer(a, cmd, admin.WebhookList, admin.Address{Email: args[0]})
		if err != nil {
			return ofAccount(args[0], err)
		}
		tries, err := a.failedTries(cmd)
		if err != nil {
			return err
		}
		list := make([]listedHook, len(hooks))
		for i, h := range hooks {
			list[i] = newListedHook(h, tries[h.ID])
		}
		return listing[listedHook]{[]string{"ID", "HOST", "EVENTS", "CREATED", "WAITING", "STATE"}, listedHook.row}.print(a.stdout, list, *asJSON)
	}
	return cmd
}

// failedTries returns the failed tries in a row of each webhook that fails. Without a server
// nothing is sent, so none fails.
func (a *app) failedTries(cmd *cobra.Command) (map[record.HookID]int, error) {
	loaded, err := a.settings(cmd)
	if err != nil {
		return nil, err
	}
	client, err := admin.NewClient(admin.SocketPath(loaded.Config.DataDir))
	if err != nil {
		return nil, err
	}
	failing, err := admin.Failing.Call(cmd.Context(), client, admin.None{})
	if err != nil && !errors.Is(err, admin.ErrNoServer) {
		return nil, err
	}
	tries := make(map[record.HookID]int)
	for _, f := range failing {
		tries[f.Webhook] = f.Tries
	}
	return tries, nil
}

// A listedHook is what a list shows of a webhook: not its address, which may be a secret.
type listedHook struct {
	ID          record.HookID `json:"id"`
	Host        string        `json:"host"` // with its scheme
	Events      []string      `json:"events"`
	CreatedAt   time.Time     `json:"created_at"`
	Disabled    bool          `json:"disabled"`
	Waiting     int           `json:"waiting"`
	FailedTries int           `json:"failed_tries"`
}

func newListedHook(h admin.Webhook, tries int) listedHook {
	host := ""
	if u, err := url.Parse(h.URL.Reveal()); err == nil {
		host = u.Scheme + "://" + u.Host
	}
	return listedHook{h.ID, host, h.Events, h.CreatedAt, h.Disabled, h.Waiting, tries}
}

func (h listedHook) row() []string {
	state := "active"
	switch {
	case h.Disabled:
		state = "disabled"
	case h.FailedTries > 0:
		state = fmt.Sprintf("failing: %s in a row", humanize.Count(h.FailedTries, "failed try", "failed tries"))
	}
	return []string{
		strconv.FormatUint(uint64(h.ID), 10), h.Host, strings.Join(h.Events, ","), stamp(h.CreatedAt, "-"), strconv.Itoa(h.Waiting), state,
	}
}
