package sdnotify

import (
	"io"
	"os"

	"pushbox/internal/environ"
)

// The prefixes of lines for the journal, which give them a priority (sd-daemon(3)). The
// journal removes them.
const (
	JournalError   = "<3>"
	JournalWarning = "<4>"
	JournalInfo    = "<6>"
	JournalDebug   = "<7>"
)

// IsJournal reports whether the journal of systemd reads what is written to w: then
// JOURNAL_STREAM, in variables as os.Environ returns them, has the device and inode of w.
// Another stream may have been put in its place since, such as a file.
func IsJournal(w io.Writer, variables []string) bool {
	stream := environ.Map(variables)["JOURNAL_STREAM"]
	f, ok := w.(*os.File)
	if stream == "" || !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && stream == identity(info)
}
