package daemon

import (
	"fmt"
	"io"

	"github.com/rs/zerolog"
)

// A voice speaks to the administrator while the server starts: in plain lines if a person
// reads the log, else in lines of the log, whatever its level is.
type voice struct {
	out   io.Writer
	log   zerolog.Logger
	plain bool
}

// say writes a message.
func (v voice) say(message string) {
	if v.plain {
		fmt.Fprintln(v.out, "pushbox: "+message)
		return
	}
	v.line().Msg(message)
}

// show writes a message with a text to copy, which has that key in a log line.
func (v voice) show(message, key, text string) {
	if v.plain {
		fmt.Fprintf(v.out, "pushbox: %s:\n\n    %s\n\n", message, text)
		return
	}
	v.line().Str(key, text).Msg(message)
}

// line begins a line that no level hides.
func (v voice) line() *zerolog.Event {
	return v.log.Log().Stringer(zerolog.LevelFieldName, zerolog.InfoLevel)
}
