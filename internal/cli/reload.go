package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
)

func (a *app) reload() *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Make the server reload its configuration",
		Long: `Make the running server read its configuration again, from the file, the
environment and the flags that it was started with. Settings that can change while
it runs apply to new requests at once; running requests are not interrupted.

Settings that need a restart are listed and stay as they are; config.example.yaml
and "pushbox config print" mark them. Certificates and the logo are read again; files
with secrets, such as that of a provider's client_secret, need a restart. If the configuration has a mistake, nothing
is changed, and the exit code is 2.

The signal SIGHUP does the same; the outcome is in the server's log alone.`,
		Example: `  pushbox reload
  pushbox reload --config /etc/pushbox/config.yaml
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

// askServer makes the server reload.
func (a *app) askServer(cmd *cobra.Command) (out admin.Reloaded, err error) {
	src := a.source(cmd)
	src.NoKey = true // in ExecReload= of a unit, systemd names the credential, and no one may read it
	loaded, err := config.Load(src)
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
		err = hint.With(err, "start it with `pushbox serve`, or name its directory with --data-dir (now: %s)", dir)
	}
	return out, err
}

// reloaded prints the result of a reload.
func (a *app) reloaded(out admin.Reloaded) error {
	if len(out.Problems) > 0 {
		err := errors.New("nothing was changed, because the server's configuration is wrong:\n" + strings.Join(out.Problems, "\n"))
		return hint.With(&usageError{err}, "correct these settings, then run: pushbox reload")
	}
	changed := "no setting changed that a reload applies"
	if len(out.Changed) > 0 {
		changed = "in force now: " + strings.Join(out.Changed, ", ")
	}
	a.say(changed)
	a.say("certificates and the logo were read again, and files with secrets were not: those need a restart")
	if len(out.Waiting) > 0 {
		a.say("waiting for a restart: " + strings.Join(out.Waiting, ", "))
	}
	return nil
}
