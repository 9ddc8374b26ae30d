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
	"pushbox/internal/daemon"
	"pushbox/internal/hint"
	"pushbox/internal/rights"
)

func (a *app) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server until SIGINT or SIGTERM. The first start creates the data
directory, the master key and the database.

At the first signal it finishes the running requests, at a second one it stops at
once. At SIGHUP it reads its configuration again, as with "pushbox reload".`,
		Example: `  pushbox serve
  pushbox serve --listen 127.0.0.1:8080 --data-dir /var/lib/pushbox
  pushbox serve --listen unix:/run/pushbox/pushbox.sock`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			src := a.source(cmd)
			loaded, err := config.Load(src)
			if err != nil {
				return err
			}
			other, err := rights.Of(loaded.Config.DataDir)
			key, keyErr := rights.At(loaded.Config.KeyFile())
			if err := errors.Join(err, keyErr); err != nil {
				return err
			}
			if other = cmp.Or(other, key.Owner()); other != nil {
				return hint.With(fmt.Errorf("%s belongs to %s, and this is root", other.At, other), "start the server as that user, or give the directory to root")
			}
			return daemon.Run(cmd.Context(), daemon.Options{Config: loaded.Config, Values: loaded.Values, Source: src, Stderr: a.stderr, Version: release})
		},
	}
	cmd.Flags().String(listenFlag, "", "listen on `ADDR`: HOST:PORT, unix:/PATH or systemd:NAME (the setting listen)")
	return cmd
}

func (a *app) reload() *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Make the server reload its configuration",
		Long: `Make the running server read its configuration again, from the file, the
environment and the flags that it was started with. Settings that can change while
it runs apply to new requests at once; running requests are not interrupted.

The command lists settings that need a restart; they keep their values until then.
config.example.yaml and "pushbox config print" mark them. The server reads
certificates and the logo again; files with secrets, such as that of a provider's
client_secret, need a restart. If the configuration has a mistake, nothing is changed,
and the exit code is 2.

The signal SIGHUP does the same; only the server's log shows the outcome.`,
		Example: `  pushbox reload
  pushbox reload --config /etc/pushbox/config.yaml
  kill -HUP "$(pidof pushbox)"`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			src := a.source(cmd)
			src.NoKey = true // in ExecReload= of a unit, systemd names the credential, and no one may read it
			loaded, err := config.Load(src)
			if err != nil {
				return err
			}
			dir := loaded.Config.DataDir
			if err := rights.Take(dir); err != nil {
				return err
			}
			out, err := ask(cmd.Context(), dir, admin.Reload, admin.None{})
			if err != nil {
				return advise(err, knownHint{admin.ErrNoServer, "start it with `pushbox serve`, or name its directory with --data-dir (now: " + dir + ")"})
			}
			if len(out.Problems) > 0 {
				err := errors.New("nothing was changed, because the server's configuration is wrong:\n" + strings.Join(out.Problems, "\n"))
				return hint.With(&usageError{err}, "correct these settings, then run: pushbox reload")
			}
			if len(out.Changed) > 0 {
				a.say("in force now: " + strings.Join(out.Changed, ", "))
			} else {
				a.say("no setting changed that a reload applies")
			}
			a.say("reloaded certificates and the logo; files with secrets need a restart")
			if len(out.Waiting) > 0 {
				a.say("waiting for a restart: " + strings.Join(out.Waiting, ", "))
			}
			return nil
		},
	}
}

// healthWait is how long the server has to answer.
const healthWait = 5 * time.Second

func (a *app) healthcheck() *cobra.Command {
	return &cobra.Command{
		Use:   "healthcheck",
		Short: "Exit with 0 if the server works",
		Long: `Ask the running server, over its control socket, whether its database can be written
and read. The exit code is 0 if it answers within five seconds that it can, and 1
otherwise. This needs no network and no other program, so it is the health check of
the container image.

Run it as the user that the server runs as. A wrong setting, other than data_dir,
does not matter here: "pushbox config check" finds such settings.`,
		Example: `  pushbox healthcheck
  podman exec pushbox /pushbox healthcheck`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.done(a.askHealth(cmd), "the server works")
		},
	}
}

// askHealth returns nil if the server works. All its errors have exit code 1: container engines
// know only 0 and 1.
func (a *app) askHealth(cmd *cobra.Command) error {
	dir, err := config.DataDir(a.source(cmd))
	if err != nil {
		return hint.With(errors.New(err.Error()), "correct data_dir; `pushbox config init FILE` writes a file with all settings")
	}
	if err := rights.Take(dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), healthWait)
	defer cancel()
	_, err = ask(ctx, dir, admin.Health, admin.None{})
	switch {
	case errors.Is(err, admin.ErrNoServer):
		return hint.With(fmt.Errorf("%w on %s", err, dir), "start it with `pushbox serve`, or name its directory with --data-dir")
	case errors.Is(err, context.DeadlineExceeded):
		return hint.With(fmt.Errorf("the server did not answer within %v", healthWait), "check the server's log and its disk")
	}
	return err
}
