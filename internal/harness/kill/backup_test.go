package kill

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// TestABackupBesideWritersHoldsAllThatWasAnswered takes backups while eight writers
// create pushes, restores each and looks for pushes that were answered before the
// backup began.
func TestABackupBesideWritersHoldsAllThatWasAnswered(t *testing.T) {
	t.Parallel()
	const looked = 200 // random ones of those that were answered
	for range env.Length(t, "PUSHBOX_TEST_BACKUPS") {
		b := newBackupServer(t)
		stop := b.write(t)
		for len(b.answered()) < 2*looked {
			time.Sleep(time.Millisecond)
		}
		before := b.answered()
		proctest.Run(t, b.dir, "", "backup", "box.db")
		stop()
		b.Stop()
		dir := b.restoreDir(t)
		proctest.Run(t, dir, "", "restore", "--keep-live", filepath.Join(b.dir, "box.db"))
		proctest.CheckFile(t, dir)
		back := proctest.StartServer(t, dir)
		other, n := newSender(back.URL), 0
		for token, payload := range before {
			if got, err := other.view(token); err != nil || got != payload {
				t.Fatalf("P1: of %d pushes one has %q, not %q: %v", len(before), got, payload, err)
			}
			if n++; n == looked {
				break
			}
		}
		back.Stop()
		proctest.CheckFile(t, dir)
		proctest.CheckFile(t, b.dir)
	}
}

// TestNoLinkDeliversMoreThanItsLimitAcrossARestore views pushes before the backup,
// after it, and again from the restored database.
func TestNoLinkDeliversMoreThanItsLimitAcrossARestore(t *testing.T) {
	t.Parallel()
	b := newBackupServer(t)
	for n := range 20 {
		env.OK(t, b.create(fmt.Sprint("push ", n), ""))
	}
	viewAll := func(s *sender, part func(n int) bool) (delivered int) {
		n := 0
		for token := range b.answered() {
			if n++; !part(n) {
				continue
			}
			got := env.Must(s.view(token))(t)
			if got != "" {
				delivered++
			}
		}
		return delivered
	}
	viewAll(b.sender, func(n int) bool { return n%2 == 0 })
	proctest.Run(t, b.dir, "", "backup", "box.db")
	viewAll(b.sender, func(n int) bool { return n%3 == 0 })
	b.Stop()
	env.OK(t, os.Rename(filepath.Join(b.dir, "data", "pushbox.db"), filepath.Join(b.dir, "lost.db")))
	proctest.Run(t, b.dir, "", "restore", "box.db")
	back := proctest.StartServer(t, b.dir)
	if n := viewAll(newSender(back.URL), func(int) bool { return true }); n != 0 {
		t.Errorf("P2: %d pushes were delivered after the restore", n)
	}
	back.Stop()
	proctest.CheckFile(t, b.dir)
}

// TestAKilledBackupLeavesAWholeFileOrNone kills the command, or the server that makes
// the copy for it, at any point.
func TestAKilledBackupLeavesAWholeFileOrNone(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(env.Seed(t), 0))
	b := newBackupServer(t)
	b.fillUp(t, 8)
	whole, none, restoreDir := 0, 0, b.restoreDir(t)
	judge := func(ended bool) {
		t.Helper()
		file := filepath.Join(b.dir, "box.db")
		_, err := os.Stat(file)
		if err != nil && ended {
			t.Errorf("it succeeded without a file: %v", err)
		}
		if err != nil {
			none++
			return
		}
		whole++
		proctest.Run(t, restoreDir, "", "restore", file)
		proctest.CheckFile(t, restoreDir)
		for _, name := range []string{file, filepath.Join(restoreDir, "data", "pushbox.db")} {
			env.OK(t, os.Remove(name))
		}
	}
	try := func(after time.Duration) {
		t.Helper()
		ended := killed(t, b.dir, after, "backup", "box.db")
		b.idle(t)
		judge(ended)
	}
	try(10 * time.Millisecond) // too early for it to succeed
	for range env.Length(t, "PUSHBOX_TEST_BACKUP_KILLS") {
		try(time.Duration(r.IntN(250)) * time.Millisecond)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			time.Sleep(time.Duration(10+r.IntN(190)) * time.Millisecond)
			b.Kill()
		}()
		err := failing(t, b.dir, "backup", "box.db")
		<-ended
		<-b.Ended
		judge(err == nil)
		b.Server = proctest.StartServer(t, b.dir)
		if left := names(t, filepath.Join(b.dir, "data"), "*.new-*"); len(left) > 0 {
			t.Errorf("after a start there is %v", left)
		}
	}
	t.Logf("%d times a file, %d times none", whole, none)
	if none == 0 {
		t.Error("no backup or restore was interrupted")
	}
	b.Stop()
	proctest.CheckFile(t, b.dir)
}

// TestAKilledRestoreLeavesAWholeDatabaseOrNone kills a restore at any point.
func TestAKilledRestoreLeavesAWholeDatabaseOrNone(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(env.Seed(t), 0))
	b := newBackupServer(t)
	b.fillUp(t, 8)
	proctest.Run(t, b.dir, "", "backup", "box.db")
	b.Stop()
	dir := b.restoreDir(t)
	data := filepath.Join(dir, "data")
	whole, none, leftovers := 0, 0, 0
	kills := env.Length(t, "PUSHBOX_TEST_RESTORE_KILLS")
	for range kills {
		ended := killed(t, dir, time.Duration(r.IntN(200))*time.Millisecond, "restore", filepath.Join(b.dir, "box.db"))
		leftovers += len(names(t, data, "*.new-*"))
		if len(names(t, data, "pushbox.db")) == 0 {
			none++
			if ended {
				t.Error("it succeeded without a database")
			}
			continue
		}
		whole++
		proctest.CheckFile(t, dir)
		if left := names(t, data, "*.new-*"); len(left) > 0 {
			t.Errorf("there is %v", left)
		}
		env.OK(t, os.Remove(filepath.Join(data, "pushbox.db")))
	}
	t.Logf("%d times a database, %d times none, %d files left behind", whole, none, leftovers)
	if kills >= 20 && (none == 0 || leftovers == 0) {
		t.Error("no backup or restore was interrupted")
	}
	proctest.Run(t, dir, "", "restore", filepath.Join(b.dir, "box.db"))
	proctest.CheckFile(t, dir)
	if left := names(t, data, "*.new-*"); len(left) > 0 {
		t.Errorf("at last there is %v", left)
	}
}
