package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/daemon"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/secret"
	"pushbox/internal/webhook"
	"pushbox/store"
	"pushbox/store/record"
)

func (a *app) webhookAdd() *cobra.Command {
	var events []string
	var form string
	cmd := &cobra.Command{
		Use:   "add EMAIL URL",
		Short: "Send an account's events to a URL, and print the signing secret",
		Long: `Send the events of an account's pushes to a URL, and print the secret that signs the
messages on standard output. The secret cannot be shown again.

A URL often contains a secret, and other users of the machine can see arguments.
If URL is -, the command reads it from standard input.

Events are ` + eventNames() + `; without --event the server sends all of them.
Forms are ` + formNames() + `. With standard, the server sends JSON
for a program; the others are for chats, and have one sentence in the language of the
account, without a link.

The setting webhooks.allow says where messages may go: by default to public
addresses over https.`,
		Example: `  pushbox webhook add alice@example.com https://hooks.example.com/pushbox
  pushbox webhook add alice@example.com https://hooks.example.com/pushbox --event view --event expire
  pushbox webhook add alice@example.com - --form teams < url.txt`,
		RunE: a.configured(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			address, err := a.hookURL(args[1])
			if err != nil {
				return err
			}
			return a.addWebhook(cmd, cfg.Webhooks, admin.WebhookRequest{Email: args[0], URL: admin.Clear{Text: address}, Events: events, Form: form})
		}),
	}
	cmd.Flags().StringArrayVar(&events, "event", nil, "send `EVENT`; may be given several times")
	completeValues(cmd, "event", names(record.Events()))
	cmd.Flags().StringVar(&form, "form", record.FormStandard.String(), "send messages in the `FORM` that the receiver takes")
	completeValues(cmd, "form", names(record.HookForms()))
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

// eventNames lists all events that a webhook can subscribe to.
func eventNames() string { return strings.Join(names(record.Events()), ", ") }

// formNames lists all forms of a webhook.
func formNames() string { return strings.Join(names(record.HookForms()), ", ") }

func (a *app) addWebhook(cmd *cobra.Command, cfg config.Webhooks, in admin.WebhookRequest) error {
	if len(in.Events) == 0 {
		in.Events = names(record.Events())
	}
	for _, name := range in.Events {
		if _, ok := store.ParseEvent(name); !ok {
			return hint.With(usagef("--event has an unknown event"), "events are %s", eventNames())
		}
	}
	if _, ok := record.ParseHookForm(in.Form); !ok {
		return hint.With(usagef("--form has an unknown form"), "forms are %s", formNames())
	}
	if err := daemon.CheckWebhook(cfg, in.URL.Text); err != nil {
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
	return a.done(nil, "made webhook %d; its signing secret is not shown again", h.ID)
}

func (a *app) webhookRemove() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove ID",
		Short:   "Remove a webhook and drop its waiting messages",
		Long:    `Remove a webhook. ID is the first column of ` + "`pushbox webhook list`" + `.`,
		Example: `  pushbox webhook remove 3`,
	}
	return idCommand(cmd, "webhook", 1, func(cmd *cobra.Command, id uint64) error {
		_, err := administer(a, cmd, admin.WebhookRemove, admin.WebhookRef{ID: record.HookID(id)})
		return a.done(err, "removed webhook %d", id)
	})
}

func (a *app) webhookTest() *cobra.Command {
	return idCommand(&cobra.Command{
		Use:   "test ID",
		Short: "Send a test message to a webhook, and print the status of its answer",
		Long: `Send a webhook a signed message with the event test, and print the status of its
answer. This command sends the message itself, once, with the settings that it reads; it
does not use the server's queue. If the receiver takes the message, a webhook that was
disabled because its receiver answered 410 is enabled again.`,
		Example: `  pushbox webhook test 3`,
	}, "webhook", 1, a.testWebhook)
}

func (a *app) testWebhook(cmd *cobra.Command, id uint64) error {
	ref := admin.WebhookRef{ID: record.HookID(id)}
	cfg, err := a.settings(cmd)
	if err != nil {
		return err
	}
	h, err := administer(a, cmd, admin.WebhookTarget, ref)
	if err != nil {
		return err
	}
	sender := daemon.NewWebhookSender(cfg)
	defer sender.Close()
	begun := time.Now()
	status, err := sender.Send(cmd.Context(), store.HookTarget{URL: h.URL.Text, Secret: h.Secret.Text, Form: h.Form, Language: h.Language}, webhook.TestNotice(begun))
	switch {
	case err != nil:
		return hint.With(fmt.Errorf("webhook %d: nothing was delivered: %w", id, err), "check that its receiver runs, and that webhooks.allow permits its address")
	case !webhook.Delivered(status):
		return hint.With(fmt.Errorf("webhook %d answered with status %d", id, status), "its receiver must answer with a status from 200 to 299; redirects are not followed")
	}
	a.sayf("webhook %d answered with status %d after %d ms", id, status, time.Since(begun).Milliseconds())
	if !h.Disabled {
		return nil
	}
	_, err = administer(a, cmd, admin.WebhookEnable, ref)
	return a.done(err, "webhook %d is enabled again", id)
}

func (a *app) webhookList() *cobra.Command {
	l := listing[listedHook]{
		header: []string{"ID", "HOST", "FORM", "EVENTS", "CREATED", "WAITING", "STATE"},
		row:    listedHook.row,
		find:   a.findHooks,
	}
	return l.on(a, &cobra.Command{
		Use:   "list EMAIL",
		Short: "List an account's webhooks, oldest first",
		Long: `List an account's webhooks. Only the host of an address is shown, because the rest
is often a secret. WAITING is the number of messages that wait for it.

A webhook is "failing" while its receiver accepts no message; the server tries again
until webhooks.give_up. A webhook whose receiver answered 410 is "disabled": it gets
nothing until ` + "`pushbox webhook test`" + ` succeeds.

With --json each line is an object with id, host, form, events, created_at, disabled,
waiting, and failed_tries: how many tries in a row have failed.`,
		Example: `  pushbox webhook list alice@example.com`,
	})
}

// findHooks returns the webhooks of an account. Without a server nothing is sent, so none fails.
func (a *app) findHooks(cmd *cobra.Command, args []string) ([]listedHook, error) {
	hooks, err := onAccount(a, cmd, admin.WebhookList, args[0], admin.Address{Email: args[0]})
	if err != nil {
		return nil, err
	}
	cfg, err := a.settings(cmd)
	if err != nil {
		return nil, err
	}
	failing, err := ask(cmd.Context(), cfg.DataDir, admin.Failing, admin.None{})
	if err != nil && !errors.Is(err, admin.ErrNoServer) {
		return nil, err
	}
	tries := make(map[record.HookID]int)
	for _, f := range failing {
		tries[f.Webhook] = f.Tries
	}
	list := make([]listedHook, len(hooks))
	for i, h := range hooks {
		host := ""
		if u, err := url.Parse(h.URL.Reveal()); err == nil {
			host = u.Scheme + "://" + u.Host
		}
		list[i] = listedHook{h.ID, host, h.Form.String(), h.Events, h.CreatedAt, h.Disabled, h.Waiting, tries[h.ID]}
	}
	return list, nil
}

// A listedHook is a webhook in a list, without its address, which may be a secret.
type listedHook struct {
	ID          record.HookID `json:"id"`
	Host        string        `json:"host"` // with its scheme
	Form        string        `json:"form"`
	Events      []string      `json:"events"`
	CreatedAt   time.Time     `json:"created_at"`
	Disabled    bool          `json:"disabled"`
	Waiting     int           `json:"waiting"`
	FailedTries int           `json:"failed_tries"`
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
		strconv.FormatUint(uint64(h.ID), 10), h.Host, h.Form, strings.Join(h.Events, ","), stamp(h.CreatedAt, "-"), strconv.Itoa(h.Waiting), state,
	}
}
