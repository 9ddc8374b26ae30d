package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"pushbox/internal/client"
	"pushbox/internal/clientip"
	"pushbox/internal/endtoend"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

// A pushFlags is a push to create, as the flags describe it.
type pushFlags struct {
	kind, name, note        string
	days, views             int
	retrievalStep, deletion bool
	reveal                  string
	networks                []string
	endToEnd                bool
	recipients              []string
	until, from             *time.Time
	afterFirst              *time.Duration
	csv, resume             string // files: the table, and where its links are kept
}

func (a *app) push() *cobra.Command {
	var in pushFlags
	cmd := &cobra.Command{
		Use:   "push [FILE...]",
		Short: "Push a text or files to a server and print the link",
		Long: `Push a text, or files, to a pushbox or Password Pusher server, and print only the
link on standard output.

Without a FILE it sends the text on standard input unchanged, with its final newline
if there is one; from a url or qr push the final newline is removed. If standard
input is a terminal, it asks for the text, which is then one line and is not shown.
Files can be of any size.

With --end-to-end it encrypts text and files, with their names, before it sends
them, and adds the key to the link. The server never gets the key, but it
can read --name and --note.

With --recipient, only the person of that mailbox can open the push: the page of its
link mails a code there. Each further --recipient gets a push of their own, and each
line of output is then a recipient, a tab and the link.

With --csv it pushes each row of a table, and writes a table of the links, with the
columns name, mail and link. The first line names the columns: text, and any of name,
mail (the server sends the link there), recipient, passphrase, days, views and networks (as of
--network, separated by commas or spaces). Each link is written before the next push is made. With --resume the links are added to FILE, and
rows that have a link there are not pushed again.` + clientHelp,
		Example: `  pushbox push --url https://push.example.com
  pushbox push --days 1 --views 1 --passphrase report.pdf
  pushbox push --end-to-end report.pdf
  pushbox push --recipient ann@example.com --recipient bob@example.com report.pdf
  pushbox push --from 2026-12-24T08:00:00+01:00 --after-first-view 1h report.pdf
  echo https://example.com | pushbox push --kind url
  pushbox push --csv people.csv > links.csv
  pushbox push --csv people.csv --resume links.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, files []string) error {
			switch given := cmd.Flags().Changed; {
			case given("csv"):
				return a.pushTable(cmd, in, files)
			case given("resume"):
				return usagef("--resume works only with --csv")
			}
			return a.createPush(cmd, in, files)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&in.days, "days", 0, "the push expires after `N` days")
	in.addTimes(cmd)
	flags.IntVar(&in.views, "views", 0, "the push expires after `N` views")
	flags.StringVar(&in.kind, "kind", "", "the kind of push: `KIND` is "+record.KindNames("or"))
	completeValues(cmd, "kind", names(record.Kinds()))
	flags.StringVar(&in.name, "name", "", "show the push as `NAME` in your own lists")
	flags.StringVar(&in.note, "note", "", "store `NOTE` with the push, for yourself")
	flags.BoolVar(&in.retrievalStep, "retrieval-step", false, "show a page with a button before the secret, or not (=false)")
	flags.StringVar(&in.reveal, "reveal", "", "what people do to open the link: `HOW` is press (a button), or type (a number first)")
	completeValues(cmd, "reveal", []string{store.RevealPress, store.RevealType})
	flags.StringArrayVar(&in.networks, "network", nil, "the push opens only from `NETWORK`, such as 10.0.0.0/8 (can be given again)")
	flags.BoolVar(&in.deletion, "deletable", false, "anyone with the link can delete the push, or not (=false)")
	flags.StringArrayVar(&in.recipients, "recipient", nil, "only `ADDRESS`, or a domain such as @example.com, can open the push; once for each recipient")
	flags.BoolVar(&in.endToEnd, "end-to-end", false, "encrypt the push with a key that only the link has")
	flags.StringVar(&in.csv, "csv", "", "push each row of the table in `FILE`; - is standard input")
	flags.StringVar(&in.resume, "resume", "", "with --csv: add the links to `FILE`, and leave out the rows that it has")
	addPassphraseFlags(cmd)
	addClientFlags(cmd)
	return cmd
}

// addTimes adds the flags of times.
func (f *pushFlags) addTimes(cmd *cobra.Command) {
	f.until = parsedFlag(cmd, "until", "the push expires at `TIME`, such as 2026-12-31T17:00:00+01:00, in place of --days", parseMoment)
	f.from = parsedFlag(cmd, "from", "the push cannot be opened before `TIME`", parseMoment)
	f.afterFirst = parsedFlag(cmd, "after-first-view", "the push expires `DURATION` after its first view, such as 1h or 2d, if not before", parseCloseAfter)
}

// createPush creates the push. It finds mistakes in the flags before it asks for or sends
// anything.
func (a *app) createPush(cmd *cobra.Command, flags pushFlags, files []string) error {
	in, err := flags.newPush(cmd, len(files))
	if err != nil {
		return err
	}
	c, home, err := a.dial(cmd, client.Server{})
	if err != nil {
		return err
	}
	if in.Files, err = openAll(files); err != nil {
		return err
	}
	if err = a.fill(cmd.Context(), cmd, &in); err != nil {
		return errors.Join(err, closeUploads(in.Files))
	}
	for i := range max(1, len(flags.recipients)) {
		one, to := in, ""
		if len(flags.recipients) > 0 {
			one.Recipient = secret.New(strings.TrimSpace(flags.recipients[i]))
		}
		if len(flags.recipients) > 1 {
			to = one.Recipient.Reveal() + "\t"
		}
		if i > 0 {
			if one.Files, err = openAll(files); err != nil {
				return err
			}
		}
		if err := a.createOne(cmd.Context(), c, home, one, flags.endToEnd, to); err != nil {
			return err
		}
	}
	return nil
}

// createOne creates one push, and prints its link behind a text.
func (a *app) createOne(ctx context.Context, c *client.Client, home client.Server, in client.NewPush, endToEnd bool, before string) (err error) {
	var key endtoend.Key
	if endToEnd {
		if key, err = encryptPush(&in); err != nil {
			return errors.Join(err, closeUploads(in.Files))
		}
	}
	bar := &progress{}
	if len(in.Files) > 0 {
		bar = a.progress("uploading")
	}
	p, err := c.Create(ctx, in, bar.set)
	bar.end()
	if err != nil {
		return remoteError("push to", home, err)
	}
	if _, err := fmt.Fprintln(a.stdout, before+linkWithKey(p.Link, key)); err != nil {
		return hint.With(fmt.Errorf("the push was made, but its link could not be printed: %w", err), "the push expires by itself, and its link is lost; run the command again")
	}
	a.sayLimits(in, p)
	return nil
}

// newPush returns the push without its secrets.
func (f pushFlags) newPush(cmd *cobra.Command, files int) (client.NewPush, error) {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	in := client.NewPush{Kind: f.kind, Days: f.days, Views: f.views, Name: secret.New(f.name), Note: secret.New(f.note), Reveal: f.reveal}
	in.Networks = strings.Join(f.networks, ",")
	in.ExpiresAt, in.OpenFrom, in.CloseAfter = *f.until, *f.from, *f.afterFirst
	if given("retrieval-step") {
		in.RetrievalStep = &f.retrievalStep
	}
	if given("deletable") {
		in.Deletable = &f.deletion
	}
	_, isKind := record.ParseKind(f.kind)
	_, networks := clientip.ParseNetworks(in.Networks)
	switch {
	case given("days") && f.days < 1, given("views") && f.views < 1:
		return in, usagef("--days and --views must be 1 or more")
	case given("days") && given("until"):
		return in, usagef("--days and --until exclude each other")
	case slices.ContainsFunc(f.recipients, func(to string) bool { return strings.TrimSpace(to) == "" }):
		return in, usagef("--recipient must be an address such as ann@example.com, or a domain such as @example.com")
	case given("kind") && !isKind:
		return in, usagef("--kind must be %s", record.KindNames("or"))
	case given("reveal") && f.reveal != store.RevealPress && f.reveal != store.RevealType:
		return in, usagef("--reveal must be %s or %s", store.RevealPress, store.RevealType)
	case f.kind == record.File.String() && files == 0:
		return in, usagef("--kind file needs a FILE")
	case f.kind != record.File.String() && f.kind != "" && files > 0:
		return in, hint.With(usagef("--kind must be file if there is a FILE"), "leave --kind out, or pass the text on standard input")
	case f.endToEnd && f.kind != "" && f.kind != record.Text.String() && f.kind != record.File.String():
		return in, usagef("--end-to-end works only for texts and files, not for another --kind")
	case networks != nil:
		return in, usagef("--network %w", networks)
	case !utf8.ValidString(f.name + f.note):
		return in, usagef("--name and --note must be UTF-8")
	case files > 0:
		in.Kind = record.File.String()
	}
	return in, nil
}

// fill adds the secrets: the text, unless there are files, and the passphrase.
func (a *app) fill(ctx context.Context, cmd *cobra.Command, in *client.NewPush) error {
	given, ask, err := a.givenPassphrase(cmd, len(in.Files) > 0) // first: it finds what cannot be before a text is typed
	in.Passphrase = given
	if err == nil && len(in.Files) == 0 {
		in.Payload, err = a.text(ctx, in.Kind)
	}
	if err == nil && ask {
		if in.Passphrase, err = a.console.twice(ctx, "Passphrase"); err == nil && in.Passphrase.IsZero() {
			err = hint.With(errors.New("the passphrase is empty"), "run the command again")
		}
	}
	return err
}

// text returns the text of a push.
func (a *app) text(ctx context.Context, kind string) (text secret.Text, err error) {
	if a.console.terminal {
		text, err = a.console.hidden(ctx, "Text to push (one line, not shown): ")
		if err == nil && text.IsZero() {
			err = hint.With(errors.New("there is no text"), "run the command again")
		}
		return text, err
	}
	text, err = readText(a.console.in)
	if kind == "url" || kind == "qr" {
		text = secret.New(strings.TrimSuffix(strings.TrimSuffix(text.Reveal(), "\n"), "\r"))
	}
	return text, err
}

// sayLimits says when the push expires, and whether that differs from the flags: Password
// Pusher replaces some limits with its own.
func (a *app) sayLimits(in client.NewPush, p client.Push) {
	switch when := "after " + humanize.Count(p.Days, "day", "days") + " or"; {
	case p.Days < 0 || p.Views < 0:
		a.say("pushed")
	default:
		if !in.ExpiresAt.IsZero() && !p.ExpiresAt.IsZero() {
			when = "at " + p.ExpiresAt.UTC().Format(time.RFC3339) + " or after"
		}
		a.sayf("pushed; it expires %s %s", when, humanize.Count(p.Views, "view", "views"))
	}
	if p.Differs(in) {
		a.say("warning: the server did not apply the limits that you gave")
	}
}

// openAll opens the files to push.
func openAll(names []string) (all []client.Upload, err error) {
	for _, name := range names {
		u, err := openUpload(name)
		if err != nil {
			return nil, errors.Join(hint.With(err, "nothing was pushed; name files that exist and that you may read"), closeUploads(all))
		}
		all = append(all, u)
	}
	return all, nil
}

func openUpload(name string) (client.Upload, error) {
	f, err := os.Open(name)
	if err != nil {
		return client.Upload{}, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "push", Path: name, Err: errors.New("is a directory")}
	}
	if err != nil {
		return client.Upload{}, errors.Join(err, f.Close())
	}
	size := int64(-1) // the size of a pipe is unknown
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	return client.Upload{Name: strings.ToValidUTF8(filepath.Base(name), "_"), Size: size, Content: f}, nil
}

func closeUploads(all []client.Upload) error {
	var errs []error
	for _, u := range all {
		errs = append(errs, u.Content.Close())
	}
	return errors.Join(errs...)
}
