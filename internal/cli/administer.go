package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/store/record"
)

const (
	patience = 2 * time.Second        // while a server is starting or stopping
	lockWait = 200 * time.Millisecond // for the database, before the socket is tried again
)

// administer does an operation on the store that cmd's flags name: through the server if
// one runs, otherwise in place. If the database is in use but no server listens, a server
// is starting or stopping, and administer tries again for a moment.
func administer[In, Out any](a *app, cmd *cobra.Command, o admin.Op[In, Out], in In) (out Out, err error) {
	return administerCreating(a, cmd, o, in, false)
}

// administerCreating is administer. If create is set, it makes a store that does not exist, as
// serve does.
func administerCreating[In, Out any](a *app, cmd *cobra.Command, o admin.Op[In, Out], in In, create bool) (out Out, err error) {
	cfg, err := a.settings(cmd)
	if err != nil {
		return out, err
	}
	ctx := cmd.Context()
	// It tries often enough even where this process hardly gets to run.
	for end, tries := time.Now().Add(patience), 1; ; tries++ {
		out, err = ask(ctx, cfg.DataDir, o, in)
		if !errors.Is(err, admin.ErrNoServer) {
			return out, err
		}
		out, err = inPlace(ctx, a, cfg, o, in, create)
		if !errors.Is(err, record.ErrInUse) || tries > int(patience/lockWait) && time.Now().After(end) {
			return out, err
		}
	}
}

// administerWatched is administer, and shows the progress of the operation.
func administerWatched[In, Out any](a *app, cmd *cobra.Command, what string, o admin.Op[In, Out], in In) (Out, error) {
	p := a.progress(what)
	defer p.end()
	return administer(a, cmd, o.WithProgress(p.set), in)
}

// ask makes the server of a data directory do an operation.
func ask[In, Out any](ctx context.Context, dir string, o admin.Op[In, Out], in In) (out Out, err error) {
	client, err := admin.NewClient(admin.SocketPath(dir))
	if err == nil {
		out, err = o.Call(ctx, client, in)
	}
	return out, err
}

func inPlace[In, Out any](ctx context.Context, a *app, cfg config.Config, o admin.Op[In, Out], in In, create bool) (out Out, err error) {
	if o.AsIs() && !instance.HasDatabaseURL(cfg) {
		if err := refuseUpgrade(cfg); err != nil {
			return out, err
		}
	}
	s, _, err := instance.Open(ctx, instance.Options{Config: cfg, Environ: a.environ, Create: create, Wait: lockWait, Note: a.say})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, instance.Close(ctx, s)) }()
	return o.Do(ctx, s, in)
}

// refuseUpgrade returns an error if the database awaits an upgrade, which opening it would run.
func refuseUpgrade(cfg config.Config) error {
	u, err := findUpgrade(instance.Database(cfg))
	if err != nil || u == nil {
		return err
	}
	return hint.With(fmt.Errorf("%s has schema %d, which this command does not upgrade to schema %d", instance.Database(cfg), u.From, u.To),
		"`pushbox doctor` says what the upgrade needs, and `pushbox serve` runs it; to read the database or back it up before that, use the build of pushbox that wrote it")
}

// say writes a message to standard error.
func (a *app) say(message string) { fmt.Fprintln(a.stderr, "pushbox: "+printable(message)) }

// sayf writes a message in a format to standard error.
func (a *app) sayf(format string, args ...any) { a.say(fmt.Sprintf(format, args...)) }

// done reports the result of a command, or returns its error.
func (a *app) done(err error, format string, args ...any) error {
	if err == nil {
		a.sayf(format, args...)
	}
	return err
}
