package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/client"
	"pushbox/internal/endtoend"
	"pushbox/internal/hint"
)

func (a *app) answers() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "answers LINK",
		Short: "Print the links of the answers to a request for secrets",
		Long: `Print the links of the answers to a request for secrets, one in a line, with which
` + "`pushbox get`" + ` retrieves them. LINK is the address of the request's own page, which
begins with https://push.example.com/requests/, not the link that you passed on. The
command needs an API token of the account that made the request. It uses no view.

If the request has end-to-end encryption, LINK must have the key, behind "#". The
command does not send the key; with it, it decrypts the key of each answer and adds
that to the answer's link. Other users of the machine can see arguments: with - as
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
