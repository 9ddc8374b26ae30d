package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) reload() *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Have the server read its configuration again",
		Long: `Have the running server read its configuration again, from the file, the
environment and the flags that it was started with. What can change while it runs
is in force at once, for requests that come from then on; nobody is cut off.

Settings that need a restart, as config.example.yaml and "pushbox config print"
tell, are named and stay as they are. If anything is wrong with the configuration,
nothing is changed, and the exit code is 2.

The signal SIGHUP does the same, with the outcome in the server's log.`,
		Example: `  pushbox reload
  pushbox reload --config /etc/pushbox.yaml
  kill -HUP "$(pidof pushbox)"`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := a.askServer(cmd)
			if err != nil {
				return err
			}
			return a.reloaded(out)
		},
	}
}

// askServer has the server reload.
func (a *app) askServer(cmd *cobra.Command) (out admin.Reloaded, err error) {
	loaded, err := a.settings(cmd)
	if err != nil {
		return out, err
	}
	dir := loaded.Config.DataDir
	client, err := admin.NewClient(admin.SocketPath(dir))
	if err != nil {
		return out, err
	}
	out, err = admin.Reload.Call(cmd.Context(), client, admin.None{})
	if errors.Is(err, admin.ErrNoServer) {
		err = withHint(err, "start it with `pushbox serve`; or name the directory that it runs on with --data-dir, which is %s now", dir)
	}
	return out, err
}

// reloaded says what came of it.
func (a *app) reloaded(out admin.Reloaded) error {
	if len(out.Problems) > 0 {
		err := errors.New("nothing was changed, since the server's configuration is wrong:\n" + strings.Join(out.Problems, "\n"))
		return withHint(&usageError{err}, "correct these settings, then run: pushbox reload")
	}
	if len(out.Changed) == 0 {
		a.say("no setting was changed that a reload applies; a certificate and a logo, if there are any, were read again")
	} else {
		a.say("in force now: " + strings.Join(out.Changed, ", "))
	}
	if len(out.Waiting) > 0 {
		a.say("waiting for a restart: " + strings.Join(out.Waiting, ", "))
	}
	return nil
}
