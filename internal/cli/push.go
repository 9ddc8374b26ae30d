package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"pushbox/internal/client"
	"pushbox/internal/secret"
)

// A pushing is a push to be made, as the flags tell it.
type pushing struct {
	kind, name, note        string
	days, views             int
	retrievalStep, deletion bool
}

func (a *app) push() *cobra.Command {
	var in pushing
	cmd := &cobra.Command{
		Use:   "push [FILE...]",
		Short: "Push a text or files to a server and print the link",
		Long: `Push a text, or files, to a pushbox or Password Pusher server, and print the
link alone on standard output.

Without a FILE the text is standard input, exactly as it is, with its last line
end if it has one; of a url or qr push the last line end is left out. Where
standard input is a terminal the text is asked for without being shown; it is
then one line. Files are sent as they are read, and can be of any size.` + clientHelp,
		Example: `  pushbox push --url https://push.example.com
  pushbox push --days 1 --views 1 --passphrase report.pdf
  echo https://example.com | pushbox push --kind url`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, files []string) error { return a.createPush(cmd, in, files) },
	}
	flags := cmd.Flags()
	flags.IntVar(&in.days, "days", 0, "let it expire after `N` days")
	flags.IntVar(&in.views, "views", 0, "let it expire after `N` views")
	flags.StringVar(&in.kind, "kind", "", "make it a push of `KIND` text, url, qr or file")
	flags.StringVar(&in.name, "name", "", "call it `NAME` in your own lists")
	flags.StringVar(&in.note, "note", "", "keep `NOTE` with it, for yourself")
	flags.BoolVar(&in.retrievalStep, "retrieval-step", false, "let the page have a click-through step, or not (=false)")
	flags.BoolVar(&in.deletion, "deletable", false, "let everybody with the link end it, or not (=false)")
	addPassphraseFlags(cmd)
	addClientFlags(cmd)
	return cmd
}

// createPush makes the push. What can be wrong here is found before anything is
// asked for, and before anything is sent.
func (a *app) createPush(cmd *cobra.Command, flags pushing, files []string) error {
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
	ctx := cmd.Context()
	if err := a.fill(ctx, cmd, &in); err != nil {
		return errors.Join(err, closeUploads(in.Files))
	}
	bar := &progress{}
	if len(files) > 0 {
		bar = a.progress("uploading")
	}
	p, err := c.Create(ctx, in, bar.set)
	bar.end()
	if err != nil {
		return remoteError("push to", home, err)
	}
	if _, err := fmt.Fprintln(a.stdout, p.Link.Reveal()); err != nil {
		return withHint(fmt.Errorf("the push was made, and its link could not be printed: %w", err), "it expires by itself, and nobody has its link; run the command again")
	}
	a.sayLimits(in, p)
	return nil
}

// newPush is the push without what is secret of it.
func (f pushing) newPush(cmd *cobra.Command, files int) (client.NewPush, error) {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	in := client.NewPush{Kind: f.kind, Days: f.days, Views: f.views, Name: secret.New(f.name), Note: secret.New(f.note)}
	if given("retrieval-step") {
		in.RetrievalStep = &f.retrievalStep
	}
	if given("deletable") {
		in.Deletable = &f.deletion
	}
	switch {
	case given("days") && f.days < 1, given("views") && f.views < 1:
		return in, usagef("--days and --views must be 1 or more")
	case given("kind") && f.kind != "text" && f.kind != "url" && f.kind != "qr" && f.kind != "file":
		return in, usagef("--kind must be text, url, qr or file")
	case f.kind == "file" && files == 0:
		return in, usagef("a push of kind file needs a FILE")
	case f.kind != "file" && f.kind != "" && files > 0:
		return in, withHint(usagef("a push with files is of kind file"), "leave --kind out, or pass the text on standard input")
	case !utf8.ValidString(f.name + f.note):
		return in, usagef("--name and --note must be UTF-8")
	case files > 0:
		in.Kind = "file"
	}
	return in, nil
}

// fill gets what is secret: the text, unless there are files, and the passphrase.
func (a *app) fill(ctx context.Context, cmd *cobra.Command, in *client.NewPush) error {
	ask, file, err := passphraseFlags(cmd)
	if err != nil {
		return err
	}
	switch { // first, because it says what cannot be before a text is typed
	case file != "":
		in.Passphrase, err = a.passphraseFrom(file, len(in.Files) > 0)
	case ask && !a.console.terminal:
		err = errNoTerminal()
	}
	if err == nil && len(in.Files) == 0 {
		in.Payload, err = a.text(ctx, in.Kind)
	}
	if err == nil && ask {
		in.Passphrase, err = a.newPassphrase(ctx)
	}
	return err
}

// text gets the text of a push.
func (a *app) text(ctx context.Context, kind string) (text secret.Text, err error) {
	if a.console.terminal {
		text, err = a.console.hidden(ctx, "Text to push (one line, not shown): ")
		if err == nil && text.IsZero() {
			err = withHint(errors.New("there is no text"), "run the command again")
		}
		return text, err
	}
	text, err = readText(a.console.in)
	if kind == "url" || kind == "qr" {
		text = secret.New(strings.TrimSuffix(strings.TrimSuffix(text.Reveal(), "\n"), "\r"))
	}
	return text, err
}

// sayLimits tells when the push expires, and whether that is not as was wanted:
// Password Pusher takes its own limits for some that it does not like.
func (a *app) sayLimits(in client.NewPush, p client.Push) {
	if p.Days >= 0 && p.Views >= 0 {
		a.say(fmt.Sprintf("pushed; it expires after %d days or %d views", p.Days, p.Views))
	} else {
		a.say("pushed")
	}
	if in.Days > 0 && p.Days >= 0 && p.Days != int64(in.Days) || in.Views > 0 && p.Views >= 0 && p.Views != int64(in.Views) {
		a.say("warning: the server has not taken the limits that you gave")
	}
}

// openAll opens files to be pushed.
func openAll(names []string) (all []client.Upload, err error) {
	for _, name := range names {
		u, err := openUpload(name)
		if err != nil {
			return nil, errors.Join(withHint(err, "name files that you may read; nothing was pushed"), closeUploads(all))
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
	size := int64(-1) // of a pipe nobody knows
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
