package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/daemon"
	"pushbox/internal/email"
	"pushbox/internal/hint"
	"pushbox/internal/mail"
)

func (a *app) mailTest() *cobra.Command {
	return &cobra.Command{
		Use:   "test ADDRESS",
		Short: "Send a test mail, and say what went wrong",
		Long: `Send a test mail, and say what went wrong if the mail server refuses it. This command
sends the mail itself, once, with the settings that it reads: it does not go through
the queue of pushbox, and does not count towards limits. Look into the recipient's
mailbox to see whether it arrived.`,
		Example: `  pushbox mail test ann@example.com
  pushbox mail test ann@example.com --config /etc/pushbox/config.yaml`,
		RunE: a.configured(a.testMail),
	}
}

func (a *app) testMail(cmd *cobra.Command, args []string, cfg config.Config) error {
	to := args[0]
	if !cfg.Mail.Enabled() {
		return hint.With(errors.New("no mail is sent: the setting mail.host is empty"), "set mail.host and mail.from; docs/mail.md has recipes")
	}
	if !email.IsSendable(to) {
		return usagef("ADDRESS is not an e-mail address such as ann@example.com")
	}
	server, err := daemon.MailServer(cfg)
	if err != nil {
		return err
	}
	begun := time.Now()
	err = server.Test(cmd.Context(), to, cfg.Brand.Title)
	if f := (*mail.Failure)(nil); errors.As(err, &f) {
		if detail := f.Detail(); detail != "" {
			a.say("the server said: " + detail)
		}
		err = hint.With(fmt.Errorf("nothing was sent: %w", err), "see docs/mail.md")
	}
	return a.done(err, "%s accepted the mail after %d ms", cfg.Mail.Host, time.Since(begun).Milliseconds())
}
