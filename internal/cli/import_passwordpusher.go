package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/environ"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/internal/moving"
	"pushbox/internal/pwpush"
	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

// Where Password Pusher has its master keys, and so this command.
const (
	envMasterKey   = "PWPUSH_MASTER_KEY"
	envFormerKeys  = "PWPUSH_MASTER_KEY_PREVIOUS"
	fileSuffix     = "_FILE" // behind such a name, for the path of a file with the value
	maxLeftOutTold = 1000    // pushes and accounts, each on a line
)

// A movingJob takes over the data of a Password Pusher server.
type movingJob struct {
	app           *app
	cfg           config.Config
	dump, storage string
	dryRun, join  bool

	told int
}

func (a *app) importPasswordPusher() *cobra.Command {
	var j movingJob
	cmd := &cobra.Command{
		Use:   "passwordpusher --dump FILE",
		Short: "Take over the data of a Password Pusher server",
		Long: `Take over accounts, API tokens and live pushes of a Password Pusher server, with
limits, counts, passphrases, notes, files and audit logs. Their links open as
before. Accounts keep their passwords, second factors and API tokens, and administrators
stay administrators.

FILE is a dump of its database as plain SQL in UTF-8, with its rows, by sqlite3 .dump,
pg_dump or mysqldump.
--storage names its directory of files. The master key of Password Pusher comes from
` + envMasterKey + `, and former ones from ` + envFormerKeys + `, or from the
files that the same names with ` + fileSuffix + ` behind them name, as there.

The server must not run. Try it first with --dry-run, which changes nothing and says
what cannot come, and why. What was taken over before is left as it is, so the
command can be run again; pushes that have ended here meanwhile do not come back.

An account whose address one has that was made here is left out, with its pushes: it may
be another person's. It exits with 3 if anything was left out.`,
		Example: `  sqlite3 /opt/PasswordPusher/storage/db/production.sqlite3 .dump > pwpush.sql
  pushbox import passwordpusher --dump pwpush.sql --storage /opt/PasswordPusher/storage --dry-run
  pushbox import passwordpusher --dump pwpush.sql --storage /opt/PasswordPusher/storage`,
		Args: func(_ *cobra.Command, given []string) error {
			if len(given) > 0 {
				return hint.With(usagef("too many arguments"), "name the dump with --dump FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if j.dump == "" {
				return hint.With(usagef("--dump is missing"), "name the dump of Password Pusher's database with --dump FILE")
			}
			loaded, err := a.settings(cmd)
			if err != nil {
				return err
			}
			j.app, j.cfg = a, loaded.Config
			return j.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&j.dump, "dump", "", "read the database from this dump `FILE`")
	cmd.Flags().StringVar(&j.storage, "storage", "", "read files from this `DIR`, which is storage in Password Pusher's directory")
	cmd.Flags().BoolVar(&j.dryRun, "dry-run", false, "change nothing, and say what would come and what cannot")
	cmd.Flags().BoolVar(&j.join, "join", false, "where an account with the same address was made here, give the pushes and the API token to it")
	return cmd
}

func (j *movingJob) run(ctx context.Context) (err error) {
	dump, err := os.Open(j.dump)
	if err != nil {
		return err
	}
	defer func() { _ = dump.Close() }() // it was only read
	if info, err := dump.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, hint.With(usagef("%s is not a plain file", j.dump), "the dump is read several times: write it to a file first"))
	}
	o := moving.Options{Dump: dump, DryRun: j.dryRun, Join: j.join, Actor: store.Actor{Role: store.Operator}, LeftOut: j.leftOut, Remark: func(what, remark string) { j.app.say(what + ": " + remark) }}
	if o.Keys, err = j.keys(); err != nil {
		return err
	}
	if j.storage != "" {
		if o.Storage, err = pwpush.OpenStorage(j.storage); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, o.Storage.Close()) }()
	}
	s, _, err := instance.Open(ctx, instance.Options{Config: j.cfg, Environ: j.app.environ, Create: !j.dryRun, Wait: lockWait, Note: j.app.say})
	if err != nil {
		return j.explainOpen(err)
	}
	defer func() { err = errors.Join(err, instance.Close(ctx, s)) }()
	p := j.app.progress("reading the dump")
	o.Progress = p.set
	r, err := moving.Run(ctx, s, o)
	p.end()
	if j.told > maxLeftOutTold {
		j.app.say(fmt.Sprintf("left out: %d more", j.told-maxLeftOutTold))
	}
	if err == nil || !j.dryRun && r.Accounts.Came+r.Tokens.Came+r.Pushes.Came > 0 {
		j.tell(r)
	}
	if err == nil && j.told > 0 {
		return hint.With(leftOutError(j.told), "correct what can be corrected, and run the command again: it adds only what is missing")
	}
	return j.explain(err)
}

// A leftOutError says how many rows did not come.
type leftOutError int

func (e leftOutError) Error() string {
	return humanize.Count(int(e), "row of the dump was", "rows of the dump were") + " left out, as said above"
}

// keys reads Password Pusher's master keys from the environment.
func (j *movingJob) keys() (pwpush.Keys, error) {
	vars := environ.Map(j.app.environ)
	master, err := valueOrFile(vars, envMasterKey)
	if err != nil {
		return pwpush.Keys{}, err
	}
	former, err := valueOrFile(vars, envFormerKeys)
	if err != nil {
		return pwpush.Keys{}, err
	}
	if master.IsZero() {
		j.app.say(envMasterKey + " is not set: trying the key that Password Pusher has in its source, which is public")
	}
	k, err := pwpush.NewKeys(master, former)
	if err != nil {
		err = hint.With(err, "give %s and %s the values that Password Pusher has", envMasterKey, envFormerKeys)
	}
	return k, err
}

// valueOrFile returns the value of a variable, or of the file that the variable with _FILE
// behind its name names.
func valueOrFile(vars map[string]string, name string) (secret.Text, error) {
	path := vars[name+fileSuffix]
	switch {
	case path == "":
		return secret.New(vars[name]), nil
	case vars[name] != "":
		return secret.Text{}, hint.With(usagef("%s and %s are both set", name, name+fileSuffix), "unset one of them")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return secret.Text{}, fmt.Errorf("%s: %w", name+fileSuffix, err)
	}
	return secret.New(strings.TrimSpace(string(text))), nil
}

// leftOut tells what does not come. Beyond a bound it only counts.
func (j *movingJob) leftOut(what string, why error) {
	if j.told++; j.told > maxLeftOutTold {
		return
	}
	cure := ""
	switch {
	case errors.Is(why, pwpush.ErrSealed):
		cure = "; set " + envMasterKey + " as Password Pusher has it, and run this again"
	case errors.Is(why, record.ErrFileSize):
		cure = "; raise files.max_file_size, and run this again"
	case errors.Is(why, os.ErrNotExist), errors.Is(why, moving.ErrNoStorage):
		cure = "; name the directory with --storage, and run this again"
	case errors.Is(why, moving.ErrMadeHere):
		cure = "; if it is the same person's, run this again with --join"
	}
	j.app.say(fmt.Sprintf("left out: %s: %v%s", what, why, cure))
}

// tell prints what came.
func (j *movingJob) tell(r moving.Result) {
	came := "came"
	if j.dryRun {
		came = "would come"
	}
	for _, line := range []struct {
		one, many string
		n         moving.Count
	}{{"account", "accounts", r.Accounts}, {"API token", "API tokens", r.Tokens}, {"live push", "live pushes", r.Pushes}, {"file", "files", r.Files}} {
		fmt.Fprintf(j.app.stdout, "%s: %d %s, %d here before, %d left out\n", humanize.Count(line.n.Total(), line.one, line.many), line.n.Came, came, line.n.There, line.n.LeftOut)
	}
	fmt.Fprintf(j.app.stdout, "%s that had ended: nothing of these comes\n", humanize.Count(r.Ended, "push", "pushes"))
}

// explainOpen adds what to do where the database cannot be opened.
func (j *movingJob) explainOpen(err error) error {
	switch {
	case errors.Is(err, record.ErrInUse):
		return hint.With(err, "stop the server, and start it again afterwards")
	case errors.Is(err, os.ErrNotExist) && j.dryRun:
		return hint.With(err, "a dry run makes no database: start `pushbox serve` once, and stop it")
	default:
		return err
	}
}

// explain adds what to do about an error of the move itself.
func (j *movingJob) explain(err error) error {
	var bad *pwpush.DumpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pwpush.ErrDump):
		return hint.With(fmt.Errorf("%s: %w", j.dump, err), "make it with sqlite3 FILE .dump, pg_dump without -F, or mysqldump, and leave the file as it is: not compressed, "+
			"and without a byte order mark, which PowerShell adds (pg_dump -f FILE and mysqldump --result-file=FILE write it themselves)")
	case errors.Is(err, pwpush.ErrCharset):
		return hint.With(fmt.Errorf("%s: %w", j.dump, err), "make it again: with pg_dump --encoding=UTF8, or with mysqldump --default-character-set=utf8mb4 and without --compatible and --skip-set-charset")
	case errors.Is(err, moving.ErrEmpty):
		return hint.With(fmt.Errorf("%s: %w", j.dump, err), "make it of the database that Password Pusher uses, with its rows: without --schema-only or --no-data")
	case errors.As(err, &bad):
		return hint.With(fmt.Errorf("%s: %w", j.dump, err), "make the dump again, as `pushbox help import passwordpusher` shows")
	case errors.Is(err, pwpush.ErrSealed):
		return hint.With(fmt.Errorf("nothing was changed: %w", err), "set %s as Password Pusher has it, and run this again", envMasterKey)
	case errors.Is(err, record.ErrFull):
		return hint.With(err, "make room, or raise max_store_size; then run the command again, and it goes on")
	case errors.Is(err, context.Canceled):
		return hint.With(err, "run the command again, and it goes on")
	default:
		return err
	}
}
