package cli

import (
	"io"
	"sync/atomic"

	"github.com/rs/zerolog"

	"pushbox/config"
)

// A threshold is the least level that loggers write, and may change while they do.
type threshold struct{ level atomic.Int32 }

// Sample reports whether a line of that level is written.
func (t *threshold) Sample(l zerolog.Level) bool { return l >= zerolog.Level(t.level.Load()) }

func (t *threshold) set(l zerolog.Level) { t.level.Store(int32(l)) }

// reload is a reloadable.
func (t *threshold) reload(cfg config.Config) (apply func(), err error) {
	l, err := zerolog.ParseLevel(cfg.Log.Level)
	return func() { t.set(l) }, err
}

// liveLogger returns newLogger's logger, and what sets its level.
func liveLogger(w io.Writer, cfg config.Log) (zerolog.Logger, *threshold) {
	log, t := newLogger(w, cfg), new(threshold)
	t.set(log.GetLevel())
	return log.Level(zerolog.TraceLevel).Sample(t), t
}
