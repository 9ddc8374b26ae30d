package daemon

import (
	"io"

	"github.com/rs/zerolog"

	"pushbox/internal/sdnotify"
)

// A journalWriter writes log lines for the journal of systemd, with their priority in front.
// The caller locks it.
type journalWriter struct {
	out  io.Writer
	line []byte // the last one, whose memory the next one uses
}

// Write writes a line of no level.
func (w *journalWriter) Write(p []byte) (int, error) { return w.WriteLevel(zerolog.NoLevel, p) }

// WriteLevel writes a line with the priority of a level.
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
