package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/durable"
	"pushbox/internal/environ"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/internal/moving"
	"pushbox/internal/pwpush"
	"pushbox/internal/pwpush/settings"
	"pushbox/internal/rights"
	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

func (a *app) importSettings() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "settings FILE|-",
		Short: "Make a settings file from Password Pusher's variables",
		Long: `Create a pushbox settings file from FILE: a .env file or a compose file with the
variables of a Password Pusher server (PWP__...), or standard input (-). The
settings go to standard output.

Each setting has a comment with the variable that it comes from. The file also lists
variables for which pushbox needs no setting, with what it does instead. Variables that
an administrator has to decide about come first, on standard error too. Keys and
passwords are not copied.`,
		Example: `  pushbox import settings .env
  pushbox import settings docker-compose.yml -o config.yaml`,
		RunE: func(_ *cobra.Command, args []string) error {
			made, err := a.convertSettings(args[0])
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if _, err := made.WriteTo(&b); err != nil {
				return err
			}
			if err := a.deliverSettings(b.Bytes(), file); err != nil {
				return err
			}
			decide := 0
			for _, r := range made.Remarks {
				if r.Decide {
					decide++
					a.say("to decide: " + r.From + ": " + r.Text)
				}
			}
			return a.done(nil, "made %s; %d to decide, %d without a counterpart",
				humanize.Count(len(made.Settings), "setting", "settings"), decide, len(made.Remarks)-decide)
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write them to a new `FILE`")
	return cmd
}

// convertSettings converts the variables in a file, or on standard input.
func (a *app) convertSettings(path string) (made settings.Conversion, err error) {
	in := a.console.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return made, err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	vars, notes, err := settings.Read(in)
	if err != nil {
		return made, hint.With(fmt.Errorf("read the variables: %w", err), "name a file with lines NAME=VALUE, or a compose file")
	}
	made, err = settings.Convert(vars)
	if err != nil {
		return made, err
	}
	for _, note := range notes {
		a.say(note)
	}
	if len(vars) == made.Others {
		return made, hint.With(errors.New("no variable of Password Pusher is in this file"),
			"name the .env file of its server, or the compose file; a compose file may take its variables from an env_file")
	}
	return made, nil
}

// deliverSettings writes a settings file to a new file, or to standard output if path is
// empty or -. It has no secrets, and others than its owner have to read it.
func (a *app) deliverSettings(text []byte, path string) error {
	if path == "" || path == "-" {
		_, err := a.stdout.Write(text)
		return err
	}
	temp, err := durable.WriteTemp(path, text, func(f *os.File) error { return f.Chmod(0o644) })
	if err == nil {
		err = durable.PublishNew(temp, path)
	}
	if errors.Is(err, fs.ErrExist) {
		return hint.With(fmt.Errorf("the file %s exists already, and is not replaced", path), "name a file that does not exist yet, and compare the two")
	}
	return err
}

// Where Password Pusher has its master keys, and so this command.
const (
	envMasterKey   = "PWPUSH_MASTER_KEY"
	envFormerKeys  = "PWPUSH_MASTER_KEY_PREVIOUS"
	fileSuffix     = "_FILE" // behind such a name, for the path of a file with the value
	maxLeftOutTold = 1000    // pushes and accounts, each on a line
)

// A movingJob imports the data of a Password Pusher server.
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
limits, counts, passphrases, notes, files and audit logs. Their links still open.
Accounts keep their passwords, second factors and API tokens, and administrators
stay administrators.

FILE is a dump of its database as plain SQL in UTF-8, with its rows, by sqlite3 .dump,
pg_dump or mysqldump. --storage names its directory of files. The master key of Password
Pusher comes from ` + envMasterKey + `, and former ones from
` + envFormerKeys + `. As in Password Pusher, variables with ` + fileSuffix + ` behind
these names can name files that have the keys.

The server of pushbox must not run. Try the command first with --dry-run, which changes
nothing and says what it cannot import, and why. You can run the command again: it does
not change what it imported before, and does not bring back pushes that have ended here.

The command leaves out an account, with its pushes, if an account made here has the same
address: it may be another person's. The exit code is 3 if anything was left out.`,
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
			var err error
			if j.cfg, err = a.settings(cmd); err != nil {
				return err
			}
			j.app = a
			return j.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&j.dump, "dump", "", "read the database from this dump `FILE`")
	cmd.Flags().StringVar(&j.storage, "storage", "", "read files from this `DIR`, which is storage in Password Pusher's directory")
	cmd.Flags().BoolVar(&j.dryRun, "dry-run", false, "change nothing, and say what can be imported and what cannot")
	cmd.Flags().BoolVar(&j.join, "join", false, "if an account with the same address was made here, give the pushes and the API token to it")
	return cmd
}

func (j *movingJob) run(ctx context.Context) (err error) {
	dump, err := rights.Read(j.dump, func() (*os.File, error) { return os.Open(j.dump) })
	if err != nil {
		return err
	}
	defer func() { _ = dump.Close() }() // it was only read
	if info, err := dump.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, hint.With(usagef("%s is not a plain file", j.dump), "the dump is read several times: write it to a file first"))
	}
	o := moving.Options{
		Dump: dump, DryRun: j.dryRun, Join: j.join, Actor: store.Actor{Role: store.Operator}, LeftOut: j.leftOut,
		Remark: func(what, remark string) { j.app.say(what + ": " + remark) },
	}
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
		if j.dryRun {
			err = advise(err, knownHint{os.ErrNotExist, "a dry run makes no database: run `pushbox serve` once, and stop it"})
		}
		return advise(err, knownHint{record.ErrInUse, "stop the server, and start it again afterwards"})
	}
	defer func() { err = errors.Join(err, instance.Close(ctx, s)) }()
	p := j.app.progress("reading the dump")
	o.Progress = p.set
	r, err := moving.Run(ctx, s, o)
	p.end()
	if j.told > maxLeftOutTold {
		j.app.sayf("left out: %d more", j.told-maxLeftOutTold)
	}
	if err == nil || !j.dryRun && r.Accounts.Came+r.Tokens.Came+r.Pushes.Came > 0 {
		j.tell(r)
	}
	if err == nil && j.told > 0 {
		return hint.With(leftOutError(j.told), "correct what you can, and run the command again: it adds only what is missing")
	}
	return j.explain(err)
}

// A leftOutError is the number of rows that were not imported.
type leftOutError int

func (e leftOutError) Error() string {
	return humanize.Count(int(e), "row of the dump was", "rows of the dump were") + " left out, as listed above"
}

// keys reads Password Pusher's master keys from the environment.
func (j *movingJob) keys() (pwpush.Keys, error) {
	vars := environ.Map(j.app.environ)
	master, noMaster := valueOrFile(vars, envMasterKey)
	former, noFormer := valueOrFile(vars, envFormerKeys)
	if err := errors.Join(noMaster, noFormer); err != nil {
		return pwpush.Keys{}, err
	}
	if master.IsZero() {
		j.app.say(envMasterKey + " is not set: trying the public default key of Password Pusher")
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
	text, err := rights.Read(path, func() ([]byte, error) { return os.ReadFile(path) })
	if err != nil {
		return secret.Text{}, fmt.Errorf("%s: %w", name+fileSuffix, err)
	}
	return secret.New(strings.TrimSpace(string(text))), nil
}

// leftOut reports records that are left out. Beyond a bound it only counts them.
func (j *movingJob) leftOut(what string, why error) {
	if j.told++; j.told > maxLeftOutTold {
		return
	}
	cure := knownFor(why, []knownHint{
		{pwpush.ErrSealed, "; set " + envMasterKey + " as Password Pusher has it, and run the command again"},
		{record.ErrFileSize, "; raise files.max_file_size, and run the command again"},
		{os.ErrNotExist, "; name the directory with --storage, and run the command again"},
		{moving.ErrNoStorage, "; name the directory with --storage, and run the command again"},
		{moving.ErrMadeHere, "; if it is the same person's, run the command again with --join"},
	})
	j.app.sayf("left out: %s: %v%s", what, why, cure)
}

// tell prints how much was imported.
func (j *movingJob) tell(r moving.Result) {
	did := "imported"
	if j.dryRun {
		did = "would be imported"
	}
	for _, line := range []struct {
		one, many string
		n         moving.Count
	}{{"account", "accounts", r.Accounts}, {"API token", "API tokens", r.Tokens}, {"live push", "live pushes", r.Pushes}, {"file", "files", r.Files}} {
		fmt.Fprintf(j.app.stdout, "%s: %d %s, %d already here, %d left out\n", humanize.Count(line.n.Total(), line.one, line.many), line.n.Came, did, line.n.There, line.n.LeftOut)
	}
	fmt.Fprintf(j.app.stdout, "%s that had ended: not imported\n", humanize.Count(r.Ended, "push", "pushes"))
}

// explain adds a hint to an error of the import.
func (j *movingJob) explain(err error) error {
	dump := knownFor(err, []knownHint{
		{pwpush.ErrDump, "make it with sqlite3 FILE .dump, pg_dump without -F, or mysqldump, and do not change the file: it must be uncompressed " +
			"and have no byte order mark, which PowerShell adds (pg_dump -f FILE and mysqldump --result-file=FILE write it themselves)"},
		{pwpush.ErrCharset, "make it again: with pg_dump --encoding=UTF8, " +
			"or with mysqldump --default-character-set=utf8mb4 and without --compatible and --skip-set-charset"},
		{moving.ErrEmpty, "dump the database that Password Pusher uses, with its rows: without --schema-only or --no-data"},
	})
	bad := (*pwpush.DumpError)(nil)
	switch {
	case dump != "":
		return hint.With(fmt.Errorf("%s: %w", j.dump, err), "%s", dump)
	case errors.As(err, &bad):
		return hint.With(fmt.Errorf("%s: %w", j.dump, err), "make the dump again, as `pushbox help import passwordpusher` shows")
	case errors.Is(err, pwpush.ErrSealed):
		return hint.With(fmt.Errorf("nothing was changed: %w", err), "set %s as Password Pusher has it, and run the command again", envMasterKey)
	}
	return advise(err,
		knownHint{record.ErrFull, "make room, or raise max_store_size; then run the command again to continue"},
		knownHint{context.Canceled, "run the command again to continue"})
}
