package daemon

import (
	"io"
	"sync/atomic"
	"time"

	"pushbox/internal/sdnotify"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/terminal"
	"pushbox/server/display"
)

func newLogger(w io.Writer, cfg config.Log) zerolog.Logger {
	level, err := zerolog.ParseLevel(cfg.Level)
	if err != nil { // config.Load refuses other levels
		level = zerolog.InfoLevel
	}
	out := zerolog.SyncWriter(w)
	if isConsole(w, cfg) {
		out = zerolog.ConsoleWriter{Out: out, TimeFormat: display.StampLayout, TimeLocation: time.UTC, NoColor: !terminal.Is(w)}
	}
	stamp := func(e *zerolog.Event, _ zerolog.Level, _ string) {
		e.Str(zerolog.TimestampFieldName, display.Stamp(time.Now()))
	}
	return zerolog.New(out).Level(level).Hook(zerolog.HookFunc(stamp))
}

// isConsole reports whether log lines are for people, not programs.
func isConsole(w io.Writer, cfg config.Log) bool {
	return cfg.Format == "console" || cfg.Format == "auto" && terminal.Is(w)
}

type debugWriter struct{ log zerolog.Logger }

// Write logs p at level debug. It never fails.
func (d debugWriter) Write(p []byte) (int, error) {
	d.log.Debug().Bytes("text", p).Msg("net/http")
	return len(p), nil
}

// A threshold is the least level that a logger writes. It can change while the logger is in
// use.
type threshold struct{ level atomic.Int32 }

func (t *threshold) Sample(l zerolog.Level) bool { return l >= zerolog.Level(t.level.Load()) }

func (t *threshold) set(l zerolog.Level) { t.level.Store(int32(l)) }

// reload is the reloadable of log.level.
func (t *threshold) reload(cfg config.Config) (apply func(), err error) {
	l, err := zerolog.ParseLevel(cfg.Log.Level)
	return func() { t.set(l) }, err
}

func liveLogger(w io.Writer, cfg config.Log) (zerolog.Logger, *threshold) {
	log, t := newLogger(w, cfg), new(threshold)
	t.set(log.GetLevel())
	return log.Level(zerolog.TraceLevel).Sample(t), t
}

// A journalWriter writes log lines for the journal of systemd, with their priority in front.
// The caller locks it.
type journalWriter struct {
	out  io.Writer
	line []byte // the last one, whose memory the next one uses
}

func (w *journalWriter) Write(p []byte) (int, error) { return w.WriteLevel(zerolog.NoLevel, p) }

func (w *journalWriter) WriteLevel(l zerolog.Level, p []byte) (int, error) {
	w.line = append(append(w.line[:0], priority(l)...), p...)
	if _, err := w.out.Write(w.line); err != nil {
		return 0, err
	}
	return len(p), nil
}

func priority(l zerolog.Level) string {
	switch {
	case l == zerolog.NoLevel || l == zerolog.InfoLevel:
		return sdnotify.JournalInfo
	case l < zerolog.InfoLevel:
		return sdnotify.JournalDebug
	case l == zerolog.WarnLevel:
		return sdnotify.JournalWarning
	default:
		return sdnotify.JournalError
	}
}
