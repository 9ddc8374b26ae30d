package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	fileMark    = "{}"            // in an argument of backup.after: the path of the backup
	afterGrace  = 5 * time.Second // from the signal to the end of a command that must stop
	afterOutput = 1 << 10         // bytes of a failed command's last output, for the log
)

// follow runs backup.after for a backup. It ends the command when the next backup is due, or
// when ctx ends. Its failure is in the log, in the metrics and in doctor; the backup itself
// stays.
func (b *backups) follow(ctx context.Context, file string) {
	if len(b.after) == 0 {
		return
	}
	begun := time.Now()
	inTime, cancel := context.WithTimeout(ctx, b.keeper.Every)
	defer cancel()
	output, err := runCommand(inTime, b.after, file)
	took := time.Since(begun)
	switch {
	case err == nil:
		b.log.Info().Dur("took_ms", took).Msg("backup.after has run")
	case ctx.Err() != nil:
		b.log.Warn().Msg("backup.after was stopped with the server")
	default:
		if errors.Is(inTime.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("it was still running when the next backup was due: %w", err)
		}
		b.log.Error().Err(err).Str("output", output).Dur("took_ms", took).Msg("backup.after failed")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.now.afterDone, b.now.afterFault = b.now.afterDone+1, ""
		return
	}
	b.now.afterFails, b.now.afterFault = b.now.afterFails+1, err.Error()
}

// runCommand runs a program, and returns the end of its output. Its environment contains no setting
// of pushbox, which may be a secret, and nothing that is only for the server.
func runCommand(ctx context.Context, argv []string, file string) (output string, err error) {
	args := make([]string, len(argv)-1)
	for i, a := range argv[1:] {
		args[i] = strings.ReplaceAll(a, fileMark, file)
	}
	said := &tail{most: afterOutput}
	cmd := exec.CommandContext(ctx, argv[0], args...)
	cmd.Env = commandEnviron(os.Environ())
	cmd.Stdout, cmd.Stderr = said, said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = afterGrace
	err = cmd.Run()
	return said.String(), err
}

func commandEnviron(vars []string) []string {
	ours := []string{"PUSHBOX_", "CREDENTIALS_DIRECTORY=", "NOTIFY_SOCKET=", "WATCHDOG_", "LISTEN_"}
	return slices.DeleteFunc(slices.Clone(vars), func(v string) bool {
		return slices.ContainsFunc(ours, func(prefix string) bool { return strings.HasPrefix(v, prefix) })
	})
}

// A tail keeps the last bytes that were written to it.
type tail struct {
	most int
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-t.most):]
	return len(p), nil
}

// String returns the kept output in valid UTF-8.
func (t *tail) String() string {
	return strings.ToValidUTF8(string(bytes.TrimSpace(t.kept)), "?")
}
