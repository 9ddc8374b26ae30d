package cli

import (
	"context"
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

// retrieve retrieves the push and writes its text and files. stdinIsFree says that a passphrase may
// come from standard input.
func (a *app) retrieve(cmd *cobra.Command, s *saver, l client.Link, stdinIsFree bool) error {
	p, err := a.open(cmd, s.client, l, stdinIsFree)
	if err != nil {
		return err
	}
	if p.PassphraseInURL {
		a.say("this server accepts the passphrase only in the URL; its log may now contain it, so do not use this passphrase again")
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
		a.say("the server's answer could not be read; if the request reached the server, a view may have been counted")
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

// printable escapes a text that may be another process's, such as a server's answer: its user may have fewer
// rights than that of the command.
func printable(text string) string {
	shown, _ := escapeControls(text)
	return shown
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

func (a *app) answers() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "answers LINK",
		Short: "Print the links of the answers to a request for secrets",
		Long: `Print the links of the answers to a request for secrets, one a line;
` + "`pushbox get`" + ` retrieves each. LINK is the address of the request's own page, which
begins with https://push.example.com/requests/, not the link that you passed on. The
command needs an API token of the account that made the request. It uses no view.

If the request has end-to-end encryption, LINK must have the key, behind "#". The
command never sends that key. It uses it to decrypt the key of each answer, and adds
the result to the answer's link. Other users of the machine can see arguments: with - as
LINK the command reads the link from standard input.` + clientHelp,
		Example: `  pushbox answers - < request
  pushbox answers - < request | while read -r link; do echo "$link" | pushbox get -; done`,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, key, err := a.readRequestLink(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			c, _, err := a.dial(cmd, l.Server)
			if err != nil {
				return err
			}
			all, err := c.Answers(cmd.Context(), l)
			if err != nil {
				return remoteError("list the answers on", l.Server, err)
			}
			return a.printAnswers(all, key)
		},
	}
	addClientFlags(cmd)
	return cmd
}

// readRequestLink reads the argument LINK of answers, or standard input if that is "-".
// The key is zero if the link has none.
func (a *app) readRequestLink(ctx context.Context, arg string) (l client.RequestLink, key endtoend.RequestKey, err error) {
	address, fragment, has, err := a.readAddress(ctx, arg)
	if err != nil {
		return l, key, err
	}
	if l, err = client.ParseRequestLink(address); err != nil {
		return l, key, hint.With(usagef("LINK %w", err), "copy the address of the request's page, in quotes")
	}
	if has {
		if key, err = endtoend.ParseRequestFragment(fragment); err != nil {
			err = hint.With(err, "copy the whole link of the request's page, in quotes")
		}
	}
	return l, key, err
}

// printAnswers prints the links of the answers that are live, each with its key.
func (a *app) printAnswers(all []client.Answer, key endtoend.RequestKey) error {
	var lines strings.Builder
	ended, closed, bare := 0, 0, 0
	for _, answer := range all {
		if answer.Link.IsZero() {
			ended++
			continue
		}
		var pushKey endtoend.Key
		if answer.WrappedKey != nil {
			var err error
			if pushKey, err = key.Unwrap(answer.WrappedKey); err != nil {
				closed++
				continue
			}
		} else if !key.IsZero() {
			bare++
		}
		fmt.Fprintln(&lines, linkWithKey(answer.Link, pushKey))
	}
	if bare > 0 {
		a.sayf("answers that were not encrypted, though the request has keys: %d; the server could read them, or made them", bare)
	}
	if ended > 0 {
		a.sayf("answers that have ended: %d", ended)
	}
	if _, err := fmt.Fprint(a.stdout, lines.String()); err != nil {
		return err
	}
	switch {
	case closed == 0:
		return nil
	case key.IsZero():
		return hint.With(fmt.Errorf("answers that are encrypted: %d; the link has no key", closed), "give the link of the request's page with the key behind #, as you kept it")
	default:
		return hint.With(fmt.Errorf("answers that cannot be decrypted: %d", closed), "check that the key belongs to this request")
	}
}
