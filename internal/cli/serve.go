package cli

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/store"
)

const serveWait = time.Second // for another process to let go of the database

func (a *app) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server until it is told to stop. The first start makes the data
directory, the master key and the database.

It stops at SIGINT or SIGTERM, when the requests that run are finished; at the
second signal it stops at once.`,
		Example: `  pushbox serve
  pushbox serve --listen 127.0.0.1:8080 --data-dir /var/lib/pushbox`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := a.settings(cmd)
			if err != nil {
				return err
			}
			return a.startAndServe(cmd.Context(), loaded.Config)
		},
	}
	cmd.Flags().String(listenFlag, "", "listen on `ADDR` (the setting listen)")
	return cmd
}

// startAndServe opens all that the server needs, so that what is wrong is an
// error before anything is served, then serves until ctx ends, then closes what
// it opened.
func (a *app) startAndServe(ctx context.Context, cfg config.Config) (err error) {
	tuneMemory(a.environ)
	log := newLogger(a.stderr, cfg.Log)
	if err := harden(); err != nil {
		log.Warn().Err(err).Msg("a crash may leave secrets in a core dump")
	}
	s, created, err := openStore(ctx, opening{cfg: cfg, create: true, wait: serveWait, note: a.say})
	if errors.Is(err, store.ErrInUse) {
		return withHint(err, "a server or another command uses this data directory; stop it or let it finish, or choose another with --data-dir")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore(ctx, s)) }()
	if err := prepareBackups(cfg, a.say); err != nil {
		return err
	}
	handler, first, err := newHandler(ctx, cfg, s, log)
	if err != nil {
		return err
	}
	control, err := admin.Listen(ctx, admin.SocketPath(cfg.DataDir))
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	web, err := lc.Listen(ctx, network(cfg.Listen), cfg.Listen)
	if err != nil {
		return errors.Join(err, control.Close())
	}
	tls, err := openTLS(ctx, cfg, log)
	if err != nil {
		return errors.Join(err, web.Close(), control.Close())
	}
	if created || isConsole(a.stderr, cfg.Log) {
		a.greet(cfg, tls.reach(web.Addr()))
	}
	if first != "" {
		a.invite(cfg, tls.reach(web.Addr()), first)
	}
	d := daemon{cfg: cfg, store: s, log: log, handler: handler, control: control, web: web, tls: tls}
	return d.run(ctx)
}

// network keeps 0.0.0.0 to IPv4: with "tcp" it would stand for IPv6, too.
func network(listen string) string {
	if ap, err := netip.ParseAddrPort(listen); err == nil && ap.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}
