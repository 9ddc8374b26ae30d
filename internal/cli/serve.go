package cli

import (
	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/daemon"
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
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			src := a.source(cmd)
			loaded, err := config.Load(src)
			if err != nil {
				return err
			}
			return daemon.Run(cmd.Context(), daemon.Options{Config: loaded.Config, Values: loaded.Values, Source: src, Stderr: a.stderr, Version: release})
		},
	}
	cmd.Flags().String(listenFlag, "", "listen on `ADDR`: HOST:PORT, unix:/PATH or systemd:NAME (the setting listen)")
	return cmd
}
