package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/testkit/env"
)

func TestACommandWaitsForAServerThatIsStopping(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	s := opened(t, settingsFor(dir)) // a server that has closed its socket already
	release := time.AfterFunc(3*lockWait, func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	defer release.Stop()
	r := run(t, dir, "", "user", "list").want(t, exitDone)
	if !strings.Contains(r.stdout, alice) {
		t.Errorf("the list is\n%s", r.stdout)
	}
}

func TestACommandWaitsForAServerThatIsStarting(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	s := opened(t, settingsFor(dir)) // a server that has not made its socket yet
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	time.AfterFunc(3*lockWait, func() {
		l, err := admin.Listen(ctx, admin.SocketPath(dir))
		if err == nil {
			err = admin.Serve(ctx, l, s)
		}
		ended <- err
	})
	run(t, dir, "", "user", "disable", alice).want(t, exitDone)
	users, err := s.Accounts(t.Context())
	if err != nil || len(users) != 1 || !users[0].Disabled {
		t.Errorf("the server's store has %+v, %v", users, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	closed(t, s)
}

func TestACommandDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	s := opened(t, settingsFor(dir))
	defer closed(t, s)
	start := time.Now()
	run(t, dir, "", "user", "list").want(t, exitInUse, "in use by another process", "hint: a server is starting or stopping")
	if took := time.Since(start); took < patience {
		t.Errorf("it gave up after %v", took)
	}
}

func TestACommandThatIsInterruptedEnds(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	code := Main(ctx, []string{"user", "list", "--data-dir", dir}, strings.NewReader(""), &out, &out, nil)
	result{code, "", out.String()}.want(t, exitFailed, "hint: it was interrupted")
}

func TestADirectoryTooDeepForASocketIsAnErrorThatNamesTheLimit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(env.ShortDir(t), strings.Repeat("d", 100))
	for _, args := range [][]string{{"user", "list"}, {"serve", "--listen", "127.0.0.1:0"}} {
		run(t, dir, "", args...).want(t, exitFailed, "the path of the socket is too long", "this platform allows 1", "hint: choose a shorter --data-dir")
	}
	if _, err := admin.NewClient(admin.SocketPath(dir)); !errors.Is(err, admin.ErrPathTooLong) {
		t.Error(err)
	}
}
