// Package daemon is the serving process. It opens a data directory and listeners, serves
// requests, does the background work, and stops everything in order.
package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/certs"
	"pushbox/internal/environ"
	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/internal/sdnotify"
	"pushbox/server"
	"pushbox/store/record"
)

const serveWait = time.Second

// Options configure Run.
type Options struct {
	Config  config.Config
	Values  []config.Value // of Config, with their origins, for administrators
	Source  config.Source  // of Config; a reload reads it again
	Stderr  io.Writer      // for the log and for messages to the administrator
	Version string         // of this program, without its commit

	voice // for those messages
}

// Run serves until ctx ends. It first opens everything that the server needs, so that a
// mistake is an error before a request is served. At the end it closes everything. It
// changes the garbage collector, the limits and the umask of the process.
func Run(ctx context.Context, o Options) error {
	hangups, ignore := listenForHangups()
	defer ignore()
	tuneMemory(o.Source.Environ)
	d, err := open(ctx, o)
	if err != nil {
		return err
	}
	d.hangups, d.terminalGone = hangups, lostTerminal(o.Stderr)
	return errors.Join(d.run(ctx), d.close(ctx))
}

// open returns a daemon with everything open, or closes what it has opened.
func open(ctx context.Context, o Options) (d *daemon, err error) {
	plain, out := isConsole(o.Stderr, o.Config.Log), o.Stderr
	if !plain && sdnotify.IsJournal(out, o.Source.Environ) {
		out = &journalWriter{out: out}
	}
	log, level := liveLogger(out, o.Config.Log)
	made := new(bytes.Buffer) // messages of the first start about what it made
	o.voice = voice{o.Stderr, log, plain}
	if plain && isFirst(o.Config) {
		o.out = made
	}
	d = &daemon{cfg: o.Config, version: o.Version, log: log, dumpable: harden()}
	if d.dumpable != nil {
		log.Warn().Err(d.dumpable).Msg("a crash may write secrets to a core dump")
	}
	defer func() {
		if err != nil {
			_, _ = made.WriteTo(o.Stderr) // the error comes after it
			err = errors.Join(err, d.abandon(ctx))
		}
	}()
	if d.watch, err = newWatch(ctx, o, log); err != nil {
		return d, err
	}
	if isFirst(o.Config) {
		if err := tryOut(ctx, o.Config); err != nil {
			return d, err
		}
	}
	created, err := d.openStore(ctx, o)
	if err != nil {
		return d, err
	}
	if d.people, err = newDirectoryLink(d.cfg.LDAP, d.store, log); err != nil {
		return d, err
	}
	handler, first, err := newHandler(ctx, o, d.store, log, d.watch.options, d.inside(o), d.people.options)
	if err != nil {
		return d, err
	}
	if err := d.openListeners(ctx, o, handler); err != nil {
		return d, err
	}
	o.out = o.Stderr
	o.introduce(d, created, first, made)
	limitConnections := func(cfg config.Config) (func(), error) { return func() { setConnections(d.conns, cfg) }, nil }
	parts := []reloadable{level.reload, storeReload(d.store), handlerReload(handler), limitConnections}
	var expiry func() time.Time // of the certificate; nil: there is none
	if c := d.tls.certs; c != nil {
		// It refuses a pair that cannot be used; the old one then stays in use.
		parts, expiry = append(parts, func(config.Config) (func(), error) { return func() {}, c.Reload() }), c.Expiry
	}
	d.watch.attach(handler, d.sources(handler, expiry))
	d.newProbe, d.endUploads = handler.NewProbe, handler.EndUploads
	d.reloads = newReloader(o, log, parts...)
	d.reloads.watch, d.reloads.note = d.watch, d.store.NoteReload
	return d, nil
}

// isFirst reports whether a database in the data directory is still to be made.
func isFirst(cfg config.Config) bool {
	_, err := os.Stat(instance.Database(cfg))
	return cfg.DatabaseURL.IsZero() && errors.Is(err, fs.ErrNotExist)
}

// tryOut tests the files and addresses in the settings before a first start makes a key and a
// database, so that a mistake leaves nothing behind.
func tryOut(ctx context.Context, cfg config.Config) error {
	if _, err := readLogo(cfg.Brand.LogoFile); err != nil {
		return err
	}
	if cfg.TLS.CertFile != "" {
		if _, err := certs.ReadPair(cfg.TLS.CertFile, cfg.TLS.KeyFile); err != nil {
			return hint.With(err, "%s", certs.Hint(err))
		}
	}
	for setting, address := range map[string]string{"listen": cfg.Listen, "public_listen": cfg.PublicListen, "tls.redirect_listen": cfg.TLS.RedirectListen} {
		if address == "" || strings.HasPrefix(address, config.UnixPrefix) || strings.HasPrefix(address, config.SystemdPrefix) {
			continue
		}
		listeners, err := listen(ctx, address, 0, nil)
		if err != nil {
			return badListener(setting, address, err)
		}
		for _, l := range listeners {
			_ = l.Close() // it accepted no connection
		}
	}
	return nil
}

func (d *daemon) openStore(ctx context.Context, o Options) (created bool, err error) {
	d.store, created, err = instance.Open(ctx, instance.Options{
		Config: d.cfg, Environ: o.Source.Environ, Create: true, Wait: serveWait, Note: o.say,
		Wrap: d.watch.observed, Committed: d.watch.committed(), Trouble: d.watch.trouble,
	})
	if errors.Is(err, record.ErrInUse) {
		return false, hint.With(err, "stop the server or the command that uses this data directory, or choose another directory with --data-dir")
	}
	if err != nil {
		return false, err
	}
	if d.events, err = newFollower(ctx, d.store, d.log); err != nil {
		return false, err
	}
	if err := prepareBackups(d.cfg, o.say); err != nil {
		return false, err
	}
	if d.webhooks, err = newDispatcher(d.cfg, d.store, d.log); err != nil {
		return false, err
	}
	if d.mail, err = newMailer(d.cfg, d.store, d.log); err != nil {
		return false, err
	}
	d.backups, err = newBackups(d.cfg, d.store, d.log)
	return created, err
}

// openListeners opens the control socket, the listeners for clients, and the certificates.
func (d *daemon) openListeners(ctx context.Context, o Options, handler *server.Server) (err error) {
	if d.control, err = admin.Listen(ctx, admin.SocketPath(d.cfg.DataDir)); err != nil {
		return err
	}
	if d.endpoints, err = openEndpoints(ctx, o, handler); err != nil {
		return err
	}
	d.tls, err = openTLS(ctx, d.cfg, d.log)
	d.conns = newConnections(d.cfg, d.log)
	d.tls.redirect, d.watch.listener = d.conns.Wrap(d.tls.redirect), d.conns.Wrap(d.watch.listener)
	return err
}

func (d *daemon) abandon(ctx context.Context) error {
	err := closeEndpoints(d.endpoints)
	if d.control != nil {
		err = errors.Join(err, d.control.Close())
	}
	return errors.Join(err, d.close(ctx))
}

func (d *daemon) close(ctx context.Context) (err error) {
	if d.store != nil {
		err = instance.Close(ctx, d.store)
	}
	d.watch.close()
	return err
}

// Garbage of requests is cheaper to collect rarely. But each hash of a passphrase takes
// 19 MiB, which must not add up.
const (
	// MemoryLimit is the soft limit of the heap in bytes, without argonMemory for each core.
	// Above it the collector runs more often; nothing is refused.
	MemoryLimit = 64 << 20

	gcPercent   = 400
	argonMemory = 20 << 20 // bytes that hashing a passphrase takes, for each core
)

// tuneMemory tunes the garbage collector for a server. GOGC and GOMEMLIMIT in the
// environment have priority.
func tuneMemory(vars []string) {
	set := environ.Map(vars)
	if _, ok := set["GOGC"]; !ok {
		debug.SetGCPercent(gcPercent)
	}
	if _, ok := set["GOMEMLIMIT"]; !ok {
		debug.SetMemoryLimit(MemoryLimit + argonMemory*int64(runtime.GOMAXPROCS(0)))
	}
}
