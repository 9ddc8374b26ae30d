package cli

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"pushbox/config"
	"pushbox/server"
)

// stampFormat is UTC with milliseconds, as in the API.
const stampFormat = "2006-01-02T15:04:05.000Z"

// newLogger returns the logger that the configuration asks for.
func newLogger(w io.Writer, cfg config.Log) zerolog.Logger {
	level, err := zerolog.ParseLevel(cfg.Level)
	if err != nil { // not after config.Load
		level = zerolog.InfoLevel
	}
	out := zerolog.SyncWriter(w)
	if isConsole(w, cfg) {
		out = zerolog.ConsoleWriter{Out: out, TimeFormat: stampFormat, TimeLocation: time.UTC, NoColor: !isTerminal(w)}
	}
	stamp := func(e *zerolog.Event, _ zerolog.Level, _ string) {
		e.Str(zerolog.TimestampFieldName, server.Stamp(time.Now()))
	}
	return zerolog.New(out).Level(level).Hook(zerolog.HookFunc(stamp))
}

// isConsole reports whether logs are for people rather than programs.
func isConsole(w io.Writer, cfg config.Log) bool {
	return cfg.Format == "console" || cfg.Format == "auto" && isTerminal(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A debugWriter logs what a standard logger writes, one call a line.
type debugWriter struct{ log zerolog.Logger }

// Write logs p at level debug. It never fails.
func (d debugWriter) Write(p []byte) (int, error) {
	d.log.Debug().Bytes("text", p).Msg("net/http")
	return len(p), nil
}
