package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/webhook"
	"pushbox/store"
)

func (a *app) webhookTest() *cobra.Command {
	return &cobra.Command{
		Use:   "test ID",
		Short: "Send a webhook a message with the event test, and say what it answered",
		Long: `Send a webhook a signed message with the event test, and say what it answered.
The message is sent by this command, once, under the settings that it reads, and
does not go through the server's queue. A webhook that was disabled because its
receiver answered 410 is enabled again when this succeeds.`,
		Example: `  pushbox webhook test 3`,
		Args:    arguments("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := hookID(args[0])
			if err != nil {
				return err
			}
			return a.testWebhook(cmd, admin.WebhookRef{ID: id})
		},
	}
}

func (a *app) testWebhook(cmd *cobra.Command, ref admin.WebhookRef) error {
	loaded, err := a.settings(cmd)
	if err != nil {
		return err
	}
	h, err := administer(a, cmd, admin.WebhookTarget, ref)
	if err != nil {
		return ofHook(ref.ID, err)
	}
	sender := webhook.NewSender(hookPolicy(loaded.Config.Webhooks), nil)
	defer sender.Close()
	begun := time.Now()
	status, err := sender.Send(cmd.Context(), store.HookTarget{URL: h.URL.Text, Secret: h.Secret.Text}, webhook.TestNotice(begun))
	switch {
	case err != nil:
		return withHint(fmt.Errorf("webhook %d: nothing was delivered: %w", ref.ID, err), "see that its receiver runs, and that webhooks.allow permits its address")
	case !webhook.Delivered(status):
		return withHint(fmt.Errorf("webhook %d answered with status %d", ref.ID, status), "its receiver must answer with a status from 200 to 299; redirects are not followed")
	}
	a.say(fmt.Sprintf("webhook %d answered with status %d after %d ms", ref.ID, status, time.Since(begun).Milliseconds()))
	if !h.Disabled {
		return nil
	}
	if _, err := administer(a, cmd, admin.WebhookEnable, ref); err != nil {
		return ofHook(ref.ID, err)
	}
	a.say(fmt.Sprintf("webhook %d is enabled again", ref.ID))
	return nil
}
