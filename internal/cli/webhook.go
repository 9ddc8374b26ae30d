package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/daemon"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/internal/webhook"
	"pushbox/store"
	"pushbox/store/record"
)

func (a *app) webhook() *cobra.Command {
	return group("webhook", "Manage webhooks, which tell an account what happens to its pushes",
		a.webhookAdd(), a.webhookList(), a.webhookRemove(), a.webhookTest())
}

// hookID reads the ID of a webhook.
func hookID(text string) (record.HookID, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || id == 0 {
		return 0, hint.With(usagef("ID is not a number"), "it is the first column of `pushbox webhook list EMAIL`")
	}
	return record.HookID(id), nil
}

// ofHook adds the ID of the webhook to an error.
func ofHook(id record.HookID, err error) error {
	if errors.Is(err, record.ErrNotFound) {
		return hint.With(fmt.Errorf("webhook %d: %w", id, err), "`pushbox webhook list EMAIL` shows an account's webhooks")
	}
	return err
}

func (a *app) webhookAdd() *cobra.Command {
	var events []string
	cmd := &cobra.Command{
		Use:   "add EMAIL URL",
		Short: "Send an account's events to a URL, and print the signing secret",
		Long: `Send the events of an account's pushes to a URL, and print the secret that signs the
messages on standard output. It cannot be shown again.

A URL often contains a secret, and other users of the machine can see arguments.
If URL is -, it is read from standard input.

Events are ` + eventNames(", ") + `; without --event all of them are sent.
The setting webhooks.allow says where messages may go: by default to public
addresses over https.`,
		Example: `  pushbox webhook add alice@example.com https://hooks.example.com/pushbox
  pushbox webhook add alice@example.com https://hooks.example.com/pushbox --event view --event expire
  pushbox webhook add alice@example.com - < url.txt`,
		Args: arguments("EMAIL", "URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := a.hookURL(args[1])
			if err != nil {
				return err
			}
			return a.addWebhook(cmd, admin.WebhookRequest{Email: args[0], URL: admin.Clear{Text: address}, Events: events})
		},
	}
	cmd.Flags().StringArrayVar(&events, "event", nil, "send `EVENT`; may be given several times")
	completeValues(cmd, "event", names(record.Events()))
	return cmd
}

// hookURL returns the argument URL, or reads it as a line from standard input.
func (a *app) hookURL(given string) (address secret.Text, err error) {
	if given != standard {
		return secret.New(given), nil
	}
	if a.console.terminal {
		return address, hint.With(usagef("standard input is a terminal"), "send the URL from a file or a program")
	}
	b, err := io.ReadAll(io.LimitReader(a.console.in, store.MaxHookURL+int64(len("\r\n"))+1))
	if err != nil {
		return address, fmt.Errorf("read the URL: %w", err)
	}
	return secret.New(strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")), nil
}

// eventNames returns the names of all events that a webhook can subscribe to.
func eventNames(between string) string {
	return strings.Join(names(record.Events()), between)
}

func (a *app) addWebhook(cmd *cobra.Command, in admin.WebhookRequest) error {
	if len(in.Events) == 0 {
		in.Events = strings.Fields(eventNames(" "))
	}
	for _, name := range in.Events {
		if _, ok := store.ParseEvent(name); !ok {
			return hint.With(usagef("--event has an unknown event"), "events are %s", eventNames(", "))
		}
	}
	loaded, err := a.settings(cmd)
	if err != nil {
		return err
	}
	if err := daemon.CheckWebhook(loaded.Config.Webhooks, in.URL.Text); err != nil {
		return usagef("URL cannot be a webhook: %w", err)
	}
	h, err := administer(a, cmd, admin.WebhookAdd, in)
	if errors.Is(err, record.ErrToken) {
		return hint.With(fmt.Errorf("account %s is disabled, or being removed", in.Email), "`pushbox user enable %s` enables it again", in.Email)
	}
	if err != nil {
		return ofAccount(in.Email, err)
	}
	if _, err := fmt.Fprintln(a.stdout, h.Secret.Reveal()); err != nil {
		return hint.With(fmt.Errorf("webhook %d was made, but its secret could not be printed: %w", h.ID, err), "run: pushbox webhook remove %d", h.ID)
	}
	a.say(fmt.Sprintf("made webhook %d; its signing secret is not shown again", h.ID))
	return nil
}

func (a *app) webhookRemove() *cobra.Command {
	return &cobra.Command{
		Use:     "remove ID",
		Short:   "Remove a webhook and drop its waiting messages",
		Long:    `Remove a webhook. ID is the first column of ` + "`pushbox webhook list`" + `.`,
		Example: `  pushbox webhook remove 3`,
		Args:    arguments("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := hookID(args[0])
			if err != nil {
				return err
			}
			if _, err := administer(a, cmd, admin.WebhookRemove, admin.WebhookRef{ID: id}); err != nil {
				return ofHook(id, err)
			}
			a.say(fmt.Sprintf("removed webhook %d", id))
			return nil
		},
	}
}

func (a *app) webhookTest() *cobra.Command {
	return &cobra.Command{
		Use:   "test ID",
		Short: "Send a webhook a message with the event test, and say what it answered",
		Long: `Send a webhook a signed message with the event test, and print the status of its
answer. This command sends the message itself, once, with the settings that it reads; it
does not go through the server's queue. If it succeeds, a webhook that was disabled
because its receiver answered 410 is enabled again.`,
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
	sender := daemon.NewWebhookSender(loaded.Config.Webhooks)
	defer sender.Close()
	begun := time.Now()
	status, err := sender.Send(cmd.Context(), store.HookTarget{URL: h.URL.Text, Secret: h.Secret.Text}, webhook.TestNotice(begun))
	switch {
	case err != nil:
		return hint.With(fmt.Errorf("webhook %d: nothing was delivered: %w", ref.ID, err), "check that its receiver runs, and that webhooks.allow permits its address")
	case !webhook.Delivered(status):
		return hint.With(fmt.Errorf("webhook %d answered with status %d", ref.ID, status), "its receiver must answer with a status from 200 to 299; redirects are not followed")
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
