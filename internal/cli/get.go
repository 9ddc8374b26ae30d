package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pushbox/internal/client"
	"pushbox/internal/endtoend"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
)

const maxAsked = 3 // questions for a passphrase

func (a *app) get() *cobra.Command {
	var dir string
	var force bool
	cmd := &cobra.Command{
		Use:   "get LINK",
		Short: "Retrieve a push: text to standard output, files to a directory",
		Long: `Retrieve a push from the pushbox or Password Pusher server that its link names,
which uses a view. Its text goes unchanged to standard output; on a terminal
control characters are shown as escapes. Its files go to a directory, and only you
can read them. If a file of that name exists, the new name gets a number. If a name
begins with a dot, it gets an underscore in front.

A link with a key, behind "#", is of a push that is encrypted end to end. The key is
not sent; text and files are decrypted here. Other users of the machine can see
arguments: with - as LINK the command reads the link from standard input.

An interrupted download continues by itself; the command tries for some minutes.
After that, only another retrieval, which uses another view, gets the file.` + clientHelp,
		Example: `  pushbox get https://push.example.com/p/TOKEN
  pushbox get https://push.example.com/p/TOKEN -o downloads
  pushbox get - < link`,
		Args: arguments("LINK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, key, err := a.readLink(cmd.Context(), args[0])
			if err == nil {
				err = checkTarget(dir)
			}
			if err != nil {
				return err
			}
			c, _, err := a.dial(cmd, l.Server)
			if err != nil {
				return err
			}
			s := &saver{app: a, client: c, dir: dir, force: force, key: key, saved: make(map[string]bool)}
			return a.retrieve(cmd, s, l, args[0] != "-")
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", ".", "put files into `DIR`")
	cmd.Flags().BoolVar(&force, "force", false, "replace files that have the same name")
	addPassphraseFlags(cmd)
	addClientFlags(cmd)
	return cmd
}

// parseLink reads the argument LINK. Its error does not quote it.
func parseLink(text string) (client.Link, error) {
	l, err := client.ParseLink(text)
	if err != nil {
		return l, hint.With(usagef("LINK %w", err), "give the link as it was sent to you, in quotes if it has characters that your shell interprets")
	}
	return l, nil
}

// retrieve retrieves the push and writes what it has. stdinIsFree says that a passphrase may
// come from standard input.
func (a *app) retrieve(cmd *cobra.Command, s *saver, l client.Link, stdinIsFree bool) error {
	p, err := a.open(cmd.Context(), cmd, s.client, l, stdinIsFree)
	if err != nil {
		return err
	}
	if p.PassphraseInURL {
		a.say("the passphrase had to be sent in the URL, since this server takes it nowhere else; its log may keep it, so do not use this passphrase again")
	}
	next := "run the command again; that counts as another view"
	switch {
	case p.ViewsRemaining == 0:
		a.say("that was the last view")
		next = "that was the last view: ask the sender to push it again"
	case p.ViewsRemaining > 0:
		a.say(fmt.Sprintf("views left: %d", p.ViewsRemaining))
	}
	encrypted := endtoend.IsEnvelope(p.Payload.Reveal())
	if err := decryptPush(&p, s.key); err != nil {
		return hint.With(err, "ask the sender for the whole link; %s", next)
	}
	var errs []error
	if err := a.showText(p.Payload.Reveal()); err != nil {
		errs = append(errs, hint.With(fmt.Errorf("the text was retrieved, but could not be written: %w", err), "%s", next))
	}
	for i, f := range p.Files {
		errs = append(errs, s.save(cmd.Context(), f, i+1, next))
		if left := len(p.Files) - i - 1; cmd.Context().Err() != nil && left > 0 {
			a.say(fmt.Sprintf("files not fetched: %d", left))
			break
		}
	}
	if encrypted && s.key.IsZero() {
		errs = append(errs, hint.With(errKeyMissing, "ask the sender for the whole link; %s", next))
	}
	return errors.Join(errs...)
}

// open retrieves the push. If the push has a passphrase and no file was named, it asks for
// the passphrase on the terminal.
func (a *app) open(ctx context.Context, cmd *cobra.Command, c *client.Client, l client.Link, stdinIsFree bool) (p client.Push, err error) {
	ask, file, err := passphraseFlags(cmd)
	if err != nil {
		return p, err
	}
	var passphrase secret.Text
	if file != "" {
		passphrase, err = a.passphraseFrom(file, stdinIsFree)
	} else if ask && !a.console.terminal {
		err = errNoTerminal()
	}
	if err != nil {
		return p, err
	}
	for asked := 0; ; {
		if ask {
			if passphrase, err = a.console.hidden(ctx, "Passphrase: "); err != nil {
				return p, err
			}
			asked++
		}
		p, err = c.Retrieve(ctx, l, passphrase)
		if !errors.Is(err, client.ErrPassphrase) || file != "" || !a.console.terminal || asked == maxAsked {
			break
		}
		if ask {
			a.say("that passphrase is incorrect")
		}
		ask = true
	}
	return p, a.retrievalError(l, passphrase, err)
}

// retrievalError returns an error for people, and says if a view may have been counted.
func (a *app) retrievalError(l client.Link, passphrase secret.Text, err error) error {
	refused, redirect := (*client.StatusError)(nil), (*client.RedirectError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrPassphrase) && passphrase.IsZero():
		return hint.With(errors.New("the push opens with a passphrase"), "%s", remoteHint(err))
	case errors.Is(err, client.ErrPassphrase):
		return hint.With(errors.New("that passphrase is incorrect"), "ask the sender for the passphrase")
	}
	err = remoteError("retrieve from", l.Server, err)
	if !errors.As(err, &refused) && !errors.As(err, &redirect) && !errors.Is(err, client.ErrExpired) {
		a.say("no answer could be read; if the request reached the server, a view may have been counted")
	}
	return err
}
