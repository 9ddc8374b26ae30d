//go:build unix

package daemon

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/backup"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// following are backups after which a shell runs a script, with {} as its first argument.
func following(log *bytes.Buffer, every time.Duration, script string) *backups {
	return &backups{
		log: zerolog.New(log), after: []string{"/bin/sh", "-c", script, "sh", "{}"},
		keeper: &backup.Keeper{Every: every},
	}
}

func TestTheCommandAfterABackupGetsItsFile(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	out := filepath.Join(t.TempDir(), "out")
	b := following(&log, time.Hour, "echo \"got $1\" > "+out)
	b.follow(t.Context(), "/srv/a backup; $(exit 1).db")
	got, err := os.ReadFile(out)
	if err != nil || string(got) != "got /srv/a backup; $(exit 1).db\n" {
		t.Errorf("it got %q, %v", got, err)
	}
	if now := b.state(); now.afterDone != 1 || now.afterFails != 0 || now.afterFault != "" || !strings.Contains(log.String(), "backup.after has run") {
		t.Errorf("the state is %+v, the log %s", now, &log)
	}
}

func TestACommandThatFailsIsInTheLogWithTheEndOfWhatItSaid(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	b := following(&log, time.Hour, "i=0; while [ $i -lt 2000 ]; do echo noise; i=$((i+1)); done; echo no such bucket >&2; exit 7")
	b.follow(t.Context(), "x.db")
	if now := b.state(); now.afterFails != 1 || now.afterFault != "exit status 7" {
		t.Errorf("the state is %+v", now)
	}
	if said := log.String(); !strings.Contains(said, "backup.after failed") || !strings.Contains(said, "no such bucket") || len(said) > 2*afterOutput {
		t.Errorf("the log is %d bytes: %s", len(said), said)
	}
	b.after = []string{"/bin/true"}
	b.follow(t.Context(), "x.db")
	if now := b.state(); now.afterDone != 1 || now.afterFault != "" {
		t.Errorf("after the next: %+v", now)
	}
	b.after = []string{"/nowhere/program"}
	b.follow(t.Context(), "x.db")
	if now := b.state(); now.afterFails != 2 || !strings.Contains(now.afterFault, "/nowhere/program: no such file") {
		t.Errorf("without the program: %+v", now)
	}
}

func TestACommandEndsWhenTheNextBackupIsDueOrTheServerStops(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	b := following(&log, 50*time.Millisecond, "exec sleep 600")
	b.follow(t.Context(), "x.db")
	if now := b.state(); now.afterFails != 1 || !strings.Contains(now.afterFault, "still running when the next backup was due") {
		t.Errorf("the state is %+v", now)
	}
	b = following(&log, time.Hour, "exec sleep 600")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	b.follow(ctx, "x.db")
	env.Contains(t, "the log", log.String(), "was stopped with the server")
}

func TestACommandGetsNoSettingOfTheServer(t *testing.T) {
	t.Parallel()
	got := commandEnviron([]string{"PATH=/bin", "PUSHBOX_MASTER_KEY=marker", "RESTIC_REPOSITORY=r", "CREDENTIALS_DIRECTORY=/c", "NOTIFY_SOCKET=/n", "WATCHDOG_USEC=1", "LISTEN_FDS=1"})
	if strings.Join(got, " ") != "PATH=/bin RESTIC_REPOSITORY=r" {
		t.Errorf("it gets %q", got)
	}
}

// A secret that is there must not be replaced because it cannot be read.
func TestTheHintForASecretFitsTheError(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	w := config.Default().Webhooks
	w.URL, w.SecretFile = secret.New("https://hooks.example.com/x"), file
	if err := CheckInstanceHook(w); !strings.HasPrefix(hint.Of(err), "make one: ") || !strings.Contains(err.Error(), "webhooks.secret_file") {
		t.Errorf("a file that is missing: %v; hint: %s", err, hint.Of(err))
	}
	env.OK(t, os.WriteFile(file, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"), 0o600))
	if err := CheckInstanceHook(w); err != nil {
		t.Errorf("a secret: %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root can read everything")
	}
	env.OK(t, os.Chmod(file, 0))
	if err := CheckInstanceHook(w); !strings.HasPrefix(hint.Of(err), "let the server's user read it: chown") {
		t.Errorf("a file that cannot be read: %v; hint: %s", err, hint.Of(err))
	}
}
