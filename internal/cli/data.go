package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/email"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/store"
	"pushbox/store/record"
)

// A problemsError is the number of problems that check found.
type problemsError int

func (n problemsError) Error() string {
	return humanize.Count(int(n), "problem", "problems") + " found"
}

func (a *app) check() *cobra.Command {
	var deep bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look for damage in the database",
		Long: `Read the whole database and list the problems, one on each line. The exit code is 3
if there are any.

With --deep it also reads all payloads and files and compares them with their stored
digests, for which it needs neither links nor passphrases. Running servers continue
meanwhile. In PostgreSQL every row is verified, too.`,
		Example: `  pushbox check
  pushbox check --deep`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			problems, err := a.findProblems(cmd, deep)
			if errors.Is(err, record.ErrCorrupt) { // too damaged to open or read
				problems, err = append(problems, err.Error()), nil
			}
			if err != nil {
				return err
			}
			return a.listProblems(problems)
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "read all payloads and files, too")
	return cmd
}

// findProblems checks the database, and says how much a deep check covered.
func (a *app) findProblems(cmd *cobra.Command, deep bool) ([]string, error) {
	if !deep {
		return administer(a, cmd, admin.Check, admin.None{})
	}
	found, err := administerWatched(a, cmd, "reading", admin.CheckDeep, admin.None{})
	if err != nil {
		return nil, err
	}
	a.sayCoverage(found.Coverage)
	return found.Problems, nil
}

// sayCoverage says what a deep check has read.
func (a *app) sayCoverage(found record.Coverage) {
	a.sayf("read %s: compared %s and %s of files with their digests", humanize.Size(found.Bytes),
		humanize.Count(found.Payloads, "payload", "payloads"), humanize.Count(found.Chunks, "chunk", "chunks"))
	if found.Without > 0 {
		a.sayf("not covered: %d payloads and chunks that an older version wrote without digests", found.Without)
	}
}

func (a *app) listProblems(problems []string) error {
	if len(problems) == 0 {
		return a.done(nil, "no problems found")
	}
	for _, p := range problems {
		if _, err := fmt.Fprintln(a.stdout, printable(p)); err != nil {
			return err
		}
	}
	return hint.With(problemsError(len(problems)), "keep a copy of the file, or of the PostgreSQL database, for examination, and restore a backup")
}

func (a *app) compact() *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Give unused space back to the file system",
		Long: `Shrink the database file to the space that it uses. A running server continues
meanwhile; it also does this by itself when much of the file is unused.

This needs room for a copy of the used space. If it fails or is interrupted, the
database stays as it was. In PostgreSQL autovacuum does this by itself.`,
		Example: `  pushbox compact`,
		RunE: a.configured(func(cmd *cobra.Command, _ []string, cfg config.Config) error {
			if err := instance.NotWithPostgres(cfg, "compact", "PostgreSQL's autovacuum does this by itself"); err != nil {
				return err
			}
			size, err := administerWatched(a, cmd, "copying", admin.Compact, admin.None{})
			err = advise(err,
				knownHint{record.ErrFull, "make room for a copy of the used space, in " + cfg.DataDir},
				knownHint{record.ErrBusy, "let it finish, or try again when there are fewer writes"},
				knownHint{context.Canceled, "it was interrupted, and the database is as it was; run the command again"})
			return a.done(err, "%s", compacted(size))
		}),
	}
}

func compacted(size admin.CompactResult) string {
	was, is := humanize.Size(size.Before), humanize.Size(size.After)
	switch {
	case was == is:
		return "compacted the database: it has " + is + ", as before"
	case size.After > size.Before:
		return "compacted the database: it has " + is + ", and had " + was + " before; new data was written during the compaction"
	default:
		return "compacted the database from " + was + " to " + is
	}
}

func (a *app) purge() *cobra.Command {
	var in store.Purge
	cmd := &cobra.Command{
		Use:   "purge",
		Short: "Remove live pushes without an account",
		Long: `Remove live pushes that were made without an account, with their audit logs. Their
links end at once. This cannot be undone; --dry-run only counts them.

With both --older-than and --larger-than the command removes pushes to which both apply.`,
		Example: `  pushbox purge --anonymous --older-than 30d --larger-than 10MiB --dry-run
  pushbox purge --anonymous --larger-than 0`,
	}
	anonymous := cmd.Flags().Bool("anonymous", false, "remove pushes without an account (required)")
	older := parsedFlag(cmd, "older-than", "only those made longer than `TIME` ago, such as 30d", parseLifetime)
	larger := parsedFlag(cmd, "larger-than", "only those that take more than `SIZE`, such as 10MiB; 0: any size", config.ParseSize)
	cmd.Flags().BoolVar(&in.DryRun, "dry-run", false, "say what would be removed, and remove nothing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		flags := cmd.Flags()
		switch {
		case !*anonymous:
			return hint.With(usagef("pushbox purge needs --anonymous"), "`pushbox user remove` removes an account with its pushes")
		case !flags.Changed("older-than") && !flags.Changed("larger-than"):
			return hint.With(usagef("pushbox purge needs --older-than or --larger-than"), "--larger-than 0 means all of them")
		}
		in.OlderThan, in.LargerThan = *older, int64(*larger)
		do, did := admin.Purge, "removed"
		if in.DryRun {
			do, did = do.Reading(), "would remove"
		}
		gone, err := administer(a, cmd, do, in)
		return a.done(err, "%s %s without an account: %s", did, humanize.Count(gone.Pushes, "push", "pushes"), humanize.Size(gone.Bytes))
	}
	return cmd
}

func (a *app) events() *cobra.Command {
	var from *time.Time
	l := listing[store.AdminLine]{
		header: []string{"TIME", "EVENT", "ACTOR", "ACCOUNT", "FROM", "DETAIL"},
		row:    eventRow,
		find: func(cmd *cobra.Command, _ []string) ([]store.AdminLine, error) {
			return a.findEvents(cmd, admin.EventQuery{Since: *from})
		},
	}
	cmd := l.on(a, &cobra.Command{
		Use:   "events",
		Short: "Show who changed accounts and the instance",
		Long: fmt.Sprintf(`Show the instance log, oldest first: changes of accounts, API tokens, second
factors, webhooks and keys; sign-ins, sign-outs and refusals; backups, restores,
compactions and reloads. Each event has its actor: "operator" runs commands on
this machine, "system" is pushbox itself, "admin" is an administrator on the pages or
by the API, "account" is the account that the event is about, and "anonymous" is a
client that did not prove an account.

The log keeps %d events; then the oldest are removed. "pushbox check" reports an event
that is missing or was changed.

With --json each line is an object with number, time, event and actor. These fields are
there if they apply: actor_id (the account that acted), actor_account (its address, if
it is another account), ip, user_agent, account_id, account (its address), token and
webhook (their IDs), and detail.`, record.MaxAdminEvents),
		Example: `  pushbox events --since 24h
  pushbox events --since 2026-01-31 --json | jq 'select(.event == "sign_in_refused")'`,
	})
	from = parsedFlag(cmd, "since", "only what happened since `TIME`: 24h, 7d, or a date", parseSince)
	return cmd
}

// findEvents returns the events, after an error those before it.
func (a *app) findEvents(cmd *cobra.Command, in admin.EventQuery) (all []store.AdminLine, err error) {
	for {
		page, err := administer(a, cmd, admin.Events, in)
		if err != nil {
			return all, err
		}
		if len(page.Events) > 0 && page.Events[0].Number <= in.After && in.After > 0 {
			return all, errors.New("the server's answer is malformed: the numbers of events do not rise")
		}
		all = append(all, page.Events...)
		if !page.More || len(page.Events) == 0 {
			return all, nil
		}
		in.After = all[len(all)-1].Number
	}
}

func eventRow(e store.AdminLine) []string {
	at, _ := time.Parse(time.RFC3339, e.Time) // a server wrote it
	account, detail := email.Shown(e.Account), []string{}
	if account == "" && e.AccountID != 0 {
		account = fmt.Sprintf("account %d, removed", e.AccountID)
	}
	if e.Token != 0 {
		detail = append(detail, fmt.Sprintf("token %d", e.Token))
	}
	if e.Webhook != 0 {
		detail = append(detail, fmt.Sprintf("webhook %d", e.Webhook))
	}
	if e.Detail != "" {
		detail = append(detail, e.Detail)
	}
	actor := e.Actor
	if e.ActorID != 0 && e.ActorID != e.AccountID {
		actor += " " + cmp.Or(e.ActorAccount, fmt.Sprintf("(account %d, removed)", e.ActorID))
	}
	return []string{
		stamp(at, "-"), e.Event, actor, cmp.Or(account, "-"), cmp.Or(e.IP, "-"), cmp.Or(strings.Join(detail, ", "), "-"),
	}
}
