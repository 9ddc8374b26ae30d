package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"pushbox/internal/client"
	"pushbox/internal/endtoend"
	"pushbox/internal/hint"
	"pushbox/internal/safename"
	"pushbox/internal/secret"
	"pushbox/internal/terminal"
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

A link with a key, behind "#", belongs to a push with end-to-end encryption. The
command does not send the key; it decrypts text and files here. Other users of the
machine can see arguments: with - as LINK the command reads the link from standard input.

An interrupted download continues by itself; the command tries for some minutes.
After that, you need another retrieval to get the file, which uses another view.` + clientHelp,
		Example: `  pushbox get https://push.example.com/p/TOKEN
  pushbox get https://push.example.com/p/TOKEN -o downloads
  pushbox get - < link`,
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
	p, err := a.open(cmd, s.client, l, stdinIsFree)
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
		a.sayf("views left: %d", p.ViewsRemaining)
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
			a.sayf("files not fetched: %d", left)
			break
		}
	}
	if encrypted && s.key.IsZero() {
		err := errors.New("the push is encrypted end to end, and the link has no key: what you got is encrypted")
		errs = append(errs, hint.With(err, "ask the sender for the whole link; %s", next))
	}
	return errors.Join(errs...)
}

// open retrieves the push. If the push has a passphrase and no file was named, it asks for
// the passphrase on the terminal.
func (a *app) open(cmd *cobra.Command, c *client.Client, l client.Link, stdinIsFree bool) (p client.Push, err error) {
	passphrase, ask, err := a.givenPassphrase(cmd, stdinIsFree)
	if err != nil {
		return p, err
	}
	named := !passphrase.IsZero()
	for asked := 0; ; {
		if ask {
			if passphrase, err = a.console.hidden(cmd.Context(), "Passphrase: "); err != nil {
				return p, err
			}
			asked++
		}
		p, err = c.Retrieve(cmd.Context(), l, passphrase)
		if !errors.Is(err, client.ErrPassphrase) || named || !a.console.terminal || asked == maxAsked {
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
		return hint.With(errors.New("the push needs a passphrase"), "%s", remoteHint(err))
	case errors.Is(err, client.ErrPassphrase):
		return hint.With(errors.New("that passphrase is incorrect"), "ask the sender for the passphrase")
	}
	err = remoteError("retrieve from", l.Server, err)
	if !errors.As(err, &refused) && !errors.As(err, &redirect) && !errors.Is(err, client.ErrExpired) {
		a.say("no answer could be read; if the request reached the server, a view may have been counted")
	}
	return err
}

// showText writes the text of a push to standard output, unchanged. On a terminal it
// escapes control characters and adds an end of line.
func (a *app) showText(text string) error {
	if !terminal.Is(a.stdout) {
		_, err := io.WriteString(a.stdout, text)
		return err
	}
	shown, changed := escapeControls(text)
	if !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	if _, err := io.WriteString(a.stdout, shown); err != nil {
		return err
	}
	if changed {
		a.say("the text has control characters, which are shown as <U+…> here; redirect standard output to get it as it is")
	}
	return nil
}

// escapeControls escapes the characters of a text that could control a terminal, or reverse
// the direction of what it shows. changed reports whether there was any.
func escapeControls(text string) (shown string, changed bool) {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<%02X>", text[0])
			changed = true
		case r == '\n', r == '\t', unicode.IsPrint(r), unicode.Is(unicode.Zs, r), unicode.Is(unicode.Co, r), safename.IsJoiner(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
			changed = true
		}
		text = text[size:]
	}
	return b.String(), changed
}

func (a *app) expire() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "expire LINK",
		Short: "End a push: it can no longer be retrieved",
		Long: `End a push at once, on the pushbox or Password Pusher server that its link names.
Its owner can always do that, with an API token. Other people can do it only if the
sender let anyone with the link delete the push.` + clientHelp,
		Example: `  pushbox expire https://push.example.com/p/TOKEN`,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := parseLink(args[0])
			if err != nil {
				return err
			}
			c, _, err := a.dial(cmd, l.Server)
			if err != nil {
				return err
			}
			if err := c.Expire(cmd.Context(), l); err != nil {
				return remoteError("expire on", l.Server, err)
			}
			return a.done(nil, "the push has ended and can no longer be retrieved")
		},
	}
	addClientFlags(cmd)
	return cmd
}
