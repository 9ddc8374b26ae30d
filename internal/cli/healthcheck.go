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
)

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
does not matter here: "pushbox config print" finds those.`,
		Example: `  pushbox healthcheck
  podman exec pushbox /pushbox healthcheck`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.askHealth(cmd); err != nil {
				return err
			}
			a.say("the server works")
			return nil
		},
	}
}

// askHealth returns nil if the server works. No error of it has an exit code of its own:
// container engines know only 0 and 1.
func (a *app) askHealth(cmd *cobra.Command) error {
	dir, err := config.DataDir(a.source(cmd))
	if err != nil {
		return hint.With(errors.New(err.Error()), "correct data_dir; `pushbox config init FILE` writes a file with all settings")
	}
	client, err := admin.NewClient(admin.SocketPath(dir))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), healthWait)
	defer cancel()
	_, err = admin.Health.Call(ctx, client, admin.None{})
	switch {
	case errors.Is(err, admin.ErrNoServer):
		return hint.With(fmt.Errorf("%w on %s", err, dir), "start it with `pushbox serve`, or name its directory with --data-dir")
	case errors.Is(err, context.DeadlineExceeded):
		return hint.With(fmt.Errorf("the server did not answer within %v", healthWait), "see the server's log, and check its disk")
	}
	return err
}
