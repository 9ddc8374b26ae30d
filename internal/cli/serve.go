package cli

import (
	"context"
	"errors"
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
second signal it stops at once. At SIGHUP it reads its configuration again, as
"pushbox reload" has it do.`,
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
			return a.startAndServe(cmd.Context(), loaded.Config, src)
		},
	}
	cmd.Flags().String(listenFlag, "", "listen on `ADDR`: HOST:PORT, unix:/PATH or systemd:NAME (the setting listen)")
	return cmd
}

// startAndServe opens all that the server needs, so that what is wrong is an
// error before anything is served, then serves until ctx ends, then closes what
// it opened.
func (a *app) startAndServe(ctx context.Context, cfg config.Config, src config.Source) (err error) {
	hangups, ignore := listenForHangups()
	defer ignore()
	tuneMemory(a.environ)
	log, level := liveLogger(a.stderr, cfg.Log)
	dumpable := harden()
	if dumpable != nil {
		log.Warn().Err(dumpable).Msg("a crash may leave secrets in a core dump")
	}
	watch, err := newWatch(ctx, cfg, a.environ, log)
	if err != nil {
		return err
	}
	defer watch.close()
	s, created, err := openStore(ctx, opening{cfg: cfg, environ: a.environ, create: true, wait: serveWait, watch: watch, note: a.say})
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
	handler, first, err := newHandler(ctx, cfg, s, log, watch.options)
	if err != nil {
		return err
	}
	webhooks, err := newDispatcher(cfg, s, log)
	if err != nil {
		return err
	}
	mails, err := newMailer(cfg, s, log)
	if err != nil {
		return err
	}
	control, err := admin.Listen(ctx, admin.SocketPath(cfg.DataDir))
	if err != nil {
		return err
	}
	doors, err := a.openDoors(ctx, cfg, handler)
	if err != nil {
		return errors.Join(err, control.Close())
	}
	tls, err := openTLS(ctx, cfg, log)
	if err != nil {
		return errors.Join(err, closeDoors(doors), control.Close())
	}
	addr := doors[0].listener.Addr()
	if created || isConsole(a.stderr, cfg.Log) {
		a.greet(cfg, addr, tls.reach(addr))
	}
	if first != "" {
		a.invite(cfg, addr, tls.reach(addr), first)
	}
	watch.attach(s, handler, tls.expiry())
	d := daemon{cfg: cfg, store: s, log: log, control: control, doors: doors, tls: tls, webhooks: webhooks, mail: mails, watch: watch}
	d.newProbe, d.dumpable = handler.NewProbe, dumpable
	d.hangups, d.lost = hangups, lostTerminal(a.stderr)
	d.reloads = newReloader(cfg, src, log, level.reload, storeReload(s), handlerReload(handler), tls.reload)
	d.reloads.watch = watch
	return d.run(ctx)
}
