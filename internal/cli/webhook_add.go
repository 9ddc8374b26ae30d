package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
	"pushbox/internal/secret"
	"pushbox/store"
)

func (a *app) webhookAdd() *cobra.Command {
	var events []string
	cmd := &cobra.Command{
		Use:   "add EMAIL URL",
		Short: "Have an account's events sent to an address, and print the signing secret",
		Long: `Have the events of an account's pushes sent to an address, and print the secret
that the messages are signed with on standard output. It cannot be shown again.

An address often has a secret in it, and arguments can be seen by others on the
same machine: with - as URL it is read from standard input.

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
	return cmd
}

// hookURL is the argument URL, or a line of standard input in its place.
func (a *app) hookURL(given string) (address secret.Text, err error) {
	if given != standard {
		return secret.New(given), nil
	}
	if a.console.terminal {
		return address, withHint(usagef("standard input is a terminal"), "let a file or a program send the URL")
	}
	b, err := io.ReadAll(io.LimitReader(a.console.in, store.MaxHookURL+int64(len("\r\n"))+1))
	if err != nil {
		return address, fmt.Errorf("read the URL: %w", err)
	}
	return secret.New(strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")), nil
}

// eventNames are the names of all events that can be asked for.
func eventNames(between string) string {
	var names []string
	for _, e := range store.Events() {
		names = append(names, e.String())
	}
	return strings.Join(names, between)
}

func (a *app) addWebhook(cmd *cobra.Command, in admin.WebhookRequest) error {
	if len(in.Events) == 0 {
		in.Events = strings.Fields(eventNames(" "))
	}
	for _, name := range in.Events {
		if _, ok := store.ParseEvent(name); !ok {
			return withHint(usagef("--event names no event"), "events are %s", eventNames(", "))
		}
	}
	loaded, err := a.settings(cmd)
	if err != nil {
		return err
	}
	if _, err := hookPolicy(loaded.Config.Webhooks).Check(in.URL.Reveal()); err != nil {
		return withHint(&usageError{fmt.Errorf("URL cannot be a webhook: %w", err)}, allowHint)
	}
	h, err := administer(a, cmd, admin.WebhookAdd, in)
	if errors.Is(err, store.ErrToken) {
		return withHint(fmt.Errorf("account %s is disabled, or being removed", in.Email), "`pushbox user enable %s` lets it act again", in.Email)
	}
	if err != nil {
		return ofAccount(in.Email, err)
	}
	if _, err := fmt.Fprintln(a.stdout, h.Secret.Reveal()); err != nil {
		return withHint(fmt.Errorf("webhook %d was made and its secret could not be printed: %w", h.ID, err), "run: pushbox webhook remove %d", h.ID)
	}
	a.say(fmt.Sprintf("made webhook %d; its signing secret is not shown again", h.ID))
	return nil
}
