package cli

import (
	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/postgres"
	"pushbox/store/record"
)

func (a *app) move() *cobra.Command {
	var to string
	var back, undo bool
	cmd := &cobra.Command{
		Use:   "move",
		Short: "Move the database to PostgreSQL, or back",
		Long: `Copy the database of the data directory into an empty PostgreSQL database, and compare
the two, record by record. With --back, copy PostgreSQL into a new database file in the
data directory. Stop all servers first.

Links, accounts, API tokens, sessions, waiting messages and audit logs do not change.
Only one of the two databases is in use at any moment: the command renames the file to
pushbox.db.moved, or marks PostgreSQL, so that servers refuse to use it. Remove what you
no longer need.

You can interrupt the command at any moment. Run it again to continue.

The address of PostgreSQL comes from the settings (database_url_file) or from --to.
Other users of the machine can see arguments, so --to takes no address with a password.`,
		Example: `  pushbox move --config /etc/pushbox/config.yaml
  pushbox move --to 'postgres://pushbox@db.example.com/pushbox?sslmode=verify-full'
  pushbox move --back --config /etc/pushbox/config.yaml`,
		RunE: a.configured(func(cmd *cobra.Command, _ []string, cfg config.Config) error {
			if undo && !back {
				return hint.With(usagef("--undo needs --back"), "after a move to PostgreSQL, rename pushbox.db.moved to pushbox.db")
			}
			if postgres.HasPassword(to) {
				return hint.With(usagef("the address after --to has a password, which other users of this machine can see while the command runs"),
					"change that password; then give the address in database_url_file or PUSHBOX_DATABASE_URL_FILE, or the password alone in a file .pgpass")
			}
			if to != "" {
				cfg.DatabaseURL, cfg.DatabaseURLFile = secret.New(to), ""
			}
			switch {
			case undo:
				done, err := instance.UndoMoveBack(cmd.Context(), cfg)
				if err == nil && !done {
					return a.done(nil, "PostgreSQL is in use; there is nothing to undo")
				}
				return a.done(err, "servers use PostgreSQL again; it does not have what was written to the file since the move")
			case back:
				return a.moveBack(cmd, cfg)
			default:
				return a.moveTo(cmd, cfg)
			}
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&to, "to", "", "`ADDRESS` of the PostgreSQL database, without a password")
	flags.BoolVar(&back, "back", false, "move from PostgreSQL to a file")
	flags.BoolVar(&undo, "undo", false, "with --back: make servers use PostgreSQL again, as it was before the move back")
	return cmd
}

// watchMove shows the parts of a move on a terminal. The caller calls end.
func (a *app) watchMove() (watch store.MoveWatch, end func()) {
	shows, p := store.MoveCopies, a.progress("copying")
	watch = func(part store.MovePart, done, total int64) {
		if part != shows {
			p.end()
			shows, p = part, a.progress("comparing")
		}
		p.set(done, total)
	}
	return watch, func() { p.end() }
}

func (a *app) moveTo(cmd *cobra.Command, cfg config.Config) error {
	watch, end := a.watchMove()
	m, err := instance.Move(cmd.Context(), cfg, lockWait, watch)
	end()
	switch {
	case err != nil:
		return advise(err,
			knownHint{record.ErrInUse, "stop the server first"},
			knownHint{record.ErrExists, "name an empty database; createdb creates one"})
	case m.Before:
		a.sayf("the database was moved earlier; the file is kept as %s", m.File)
	default:
		a.sayf("moved %s; the file is kept as %s", humanize.Count(int(m.Records), "record", "records"), m.File)
	}
	return a.done(nil, "start the servers with database_url_file, which names that database")
}

func (a *app) moveBack(cmd *cobra.Command, cfg config.Config) error {
	watch, end := a.watchMove()
	m, err := instance.MoveBack(cmd.Context(), cfg, a.say, watch)
	end()
	switch {
	case err != nil:
		return advise(err, knownHint{
			record.ErrInUse,
			"stop all servers first; a pooler such as PgBouncer may keep connections: restart it, or name PostgreSQL itself with --to",
		})
	case m.Before:
		a.sayf("the database was moved earlier, to %s", m.File)
	case m.Records == 0:
		a.sayf("finished an earlier move; the database is %s", m.File)
	default:
		a.sayf("moved %s to %s", humanize.Count(int(m.Records), "record", "records"), m.File)
	}
	return a.done(nil, "remove database_url and database_url_file from the settings, and start one server")
}
