package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/client"
	"pushbox/internal/endtoend"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
)

const (
	maxWaits    = 20               // for one row, while the server refuses new pushes for a while
	firstWait   = time.Second      // it doubles, if the server does not say how long
	longestWait = 15 * time.Minute // that a server may ask for
)

// linkColumns are the columns of the table of links.
var linkColumns = []string{"name", "mail", "link"}

// pushTable makes a push of each row of a table, and writes their links.
func (a *app) pushTable(cmd *cobra.Command, flags pushFlags, files []string) error {
	for _, name := range []string{"name", "recipient", passphraseFlag, passphraseFileFlag} {
		if cmd.Flags().Changed(name) {
			return hint.With(usagef("--csv takes no --%s", name), "give the table a column for it; columns are %s", strings.Join(columns, ", "))
		}
	}
	if len(files) > 0 {
		return usagef("--csv takes no FILE: it pushes texts")
	}
	base, err := flags.newPush(cmd, 0)
	if err != nil {
		return err
	}
	c, home, err := a.dial(cmd, client.Server{})
	if err != nil {
		return err
	}
	rows, err := a.readTable(flags, base)
	if err != nil {
		return err
	}
	out, done, err := a.openLinks(flags.resume, rows)
	if err != nil {
		return err
	}
	run := tableRun{app: a, client: c, home: home, endToEnd: flags.endToEnd, out: out, done: done}
	return errors.Join(run.push(cmd.Context(), rows), out.close())
}

// readTable reads and checks the whole table, so that a mistake is found before anything is pushed.
func (a *app) readTable(flags pushFlags, base client.NewPush) (rows []tableRow, err error) {
	in := a.console.in
	switch {
	case flags.csv != standard:
		f, err := os.Open(flags.csv)
		if err != nil {
			return nil, hint.With(fmt.Errorf("the table: %w", err), "name a file of comma-separated values, or - for standard input")
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	case a.console.terminal:
		return nil, hint.With(usagef("standard input is a terminal"), "send the table from a file or a program")
	}
	b, err := io.ReadAll(io.LimitReader(in, maxTable+1))
	if err != nil {
		return nil, fmt.Errorf("read the table: %w", err)
	}
	if rows, err = parseTable(b, base, flags.endToEnd); err != nil {
		return nil, hint.With(fmt.Errorf("the table: %w", err), "nothing was pushed; correct the table, then run the command again")
	}
	return rows, nil
}

// links is where links are written.
type links struct {
	to   io.Writer
	file *os.File // to be closed; nil: standard output
}

// write writes a row in one piece, and returns when it is on the disk.
func (l links) write(cells []string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := errors.Join(w.Write(cells), flushed(w)); err != nil {
		return err
	}
	if _, err := l.to.Write(b.Bytes()); err != nil {
		return err
	}
	f, ok := l.to.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() { // a pipe has no disk
		return err
	}
	return f.Sync()
}

func flushed(w *csv.Writer) error {
	w.Flush()
	return w.Error()
}

func (l links) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// openLinks prepares where links are written, and returns how many rows have theirs already. With a
// file it adds to it.
func (a *app) openLinks(name string, rows []tableRow) (l links, done int, err error) {
	if name == "" {
		l = links{to: a.stdout}
		return l, 0, l.write(linkColumns)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return l, 0, hint.With(fmt.Errorf("the file of links: %w", err), "name a file that you may write with --resume")
	}
	l = links{to: f, file: f}
	done, err = l.resume(rows, a.stdout)
	if err != nil {
		return l, 0, errors.Join(hint.With(fmt.Errorf("the file of links: %w", err), "nothing was pushed; use --resume with the links and the table of one earlier run"), f.Close())
	}
	return l, done, nil
}

// resume reads the links of the first rows, and returns their number.
func (l links) resume(rows []tableRow, stdout io.Writer) (done int, err error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	if out, ok := stdout.(*os.File); ok {
		if other, err := out.Stat(); err == nil && os.SameFile(info, other) {
			return 0, errors.New("standard output is the same file, which the shell empties: --resume adds to it, so leave the > out")
		}
	}
	b, err := io.ReadAll(io.LimitReader(l.file, maxTable+1))
	switch {
	case err != nil:
		return 0, err
	case len(b) > maxTable:
		return 0, fmt.Errorf("it is longer than %s", humanize.Size(maxTable))
	case len(b) == 0:
		return 0, l.write(linkColumns)
	case b[len(b)-1] != '\n':
		return 0, errors.New("its last line is not complete: remove that line; its push expires by itself")
	}
	all, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		return 0, csvError(err)
	}
	if !slices.Equal(all[0], linkColumns) {
		return 0, fmt.Errorf("its first line is not %s", strings.Join(linkColumns, ","))
	}
	all = all[1:]
	if len(all) > len(rows) {
		return 0, fmt.Errorf("it has %s, and the table has %d", humanize.Count(len(all), "row", "rows"), len(rows))
	}
	for i, cells := range all {
		if !slices.Equal(cells[:2], rows[i].label()) {
			return 0, fmt.Errorf("row %d has another name or mail than line %d of the table: were rows moved or changed?", i+1, rows[i].line)
		}
	}
	return len(all), nil
}

// A tableRun is one run over the rows of a table.
type tableRun struct {
	app      *app
	client   *client.Client
	home     client.Server
	endToEnd bool
	out      links
	done     int // rows whose links are written

	unmailed, unlimited int // rows whose mail, or whose limits, the server did not confirm
}

// push makes the pushes of the other rows. The link of each is on the disk before the next is made.
func (t *tableRun) push(ctx context.Context, rows []tableRow) (err error) {
	bar := t.app.progress("pushing")
	bar.format = func(n int64) string { return strconv.FormatInt(n, 10) }
	before := t.done
	for _, row := range rows[before:] {
		if ctx.Err() != nil {
			err = errInterrupted
		} else if err = t.pushRow(ctx, row); err != nil {
			err = fmt.Errorf("line %d: %w", row.line, err)
		}
		if err != nil {
			break
		}
		t.done++
		bar.set(int64(t.done), int64(len(rows)))
	}
	bar.end()
	t.app.sayf("pushed %s; %d of %d have their links", humanize.Count(t.done-before, "row", "rows"), t.done, len(rows))
	if t.unlimited > 0 {
		t.app.sayf("warning: the server did not apply the limits of %s", humanize.Count(t.unlimited, "row", "rows"))
	}
	if t.unmailed > 0 {
		t.app.sayf("warning: the server did not confirm the mail of %s: send these links yourself", humanize.Count(t.unmailed, "row", "rows"))
	}
	if err != nil && hint.Of(err) == "" {
		err = hint.With(err, "run the command again, with --resume and the file of links")
	}
	return err
}

func (t *tableRun) pushRow(ctx context.Context, row tableRow) (err error) {
	var key endtoend.Key
	in := row.push
	if t.endToEnd {
		if key, err = encryptPush(&in); err != nil {
			return err
		}
	}
	p, err := t.create(ctx, in)
	if errors.Is(err, errInterrupted) {
		return err
	}
	if err != nil {
		return remoteError("push to", t.home, err)
	}
	if err := t.out.write(append(row.label(), linkWithKey(p.Link, key))); err != nil {
		return hint.With(fmt.Errorf("the push was made, but its link could not be written: %w", err), "that push expires by itself; make room, then continue with --resume and the file of links")
	}
	if !row.push.MailTo.IsZero() && !p.Mailed {
		t.unmailed++
	}
	if p.Differs(in) {
		t.unlimited++
	}
	return nil
}

// create creates a push. An interrupt does not end it: the push may be made, and its link must not be
// lost. While the server refuses new pushes for a while, create waits.
func (t *tableRun) create(ctx context.Context, in client.NewPush) (p client.Push, err error) {
	pause := firstWait
	for range maxWaits {
		p, err = t.client.Create(context.WithoutCancel(ctx), in, nil)
		refused, ok := errors.AsType[*client.StatusError](err)
		if !ok || refused.Status != http.StatusTooManyRequests && refused.Status != http.StatusServiceUnavailable || refused.RetryAfter > longestWait {
			return p, err
		}
		wait := max(pause, refused.RetryAfter)
		pause = min(2*pause, time.Minute)
		t.app.sayf("the server takes no more pushes now; the next try is in %v", wait)
		if interrupted := t.app.pause(ctx, wait); interrupted != nil {
			return p, interrupted
		}
	}
	return p, err
}
