package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pushbox/internal/testenv"
)

// TestABackupBesideWritersHoldsAllThatWasAnswered takes backups while eight writers
// create pushes, restores each and looks for pushes that were answered before the
// backup began.
func TestABackupBesideWritersHoldsAllThatWasAnswered(t *testing.T) {
	t.Parallel()
	const looked = 200 // of those that were answered, by chance
	for range testenv.Length(t, "PUSHBOX_TEST_BACKUPS", 1, 1) {
		b := newBox(t)
		stop := b.write(t)
		for len(b.answered()) < 2*looked {
			time.Sleep(time.Millisecond)
		}
		before := b.answered()
		pushbox(t, b.dir, "", "backup", "box.db")
		stop()
		b.stop()
		dir := b.fresh(t)
		pushbox(t, dir, "", "restore", "--keep-live", filepath.Join(b.dir, "box.db"))
		checkFile(t, dir)
		back := startVictim(t, dir)
		other, n := newSender(back.url), 0
		for token, payload := range before {
			if got, err := other.view(token); err != nil || got != payload {
				t.Fatalf("P1: of %d pushes one has %q, not %q: %v", len(before), got, payload, err)
			}
			if n++; n == looked {
				break
			}
		}
		back.stop()
		checkFile(t, dir)
		checkFile(t, b.dir)
	}
}

// TestNoLinkDeliversMoreThanItsLimitAcrossARestore views pushes before the backup and
// after it, and then from what was restored.
func TestNoLinkDeliversMoreThanItsLimitAcrossARestore(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for n := range 20 {
		if err := b.create(fmt.Sprint("push ", n), ""); err != nil {
			t.Fatal(err)
		}
	}
	viewAll := func(s *sender, part func(n int) bool) (delivered int) {
		n := 0
		for token := range b.answered() {
			if n++; !part(n) {
				continue
			}
			got, err := s.view(token)
			if err != nil {
				t.Fatal(err)
			}
			if got != "" {
				delivered++
			}
		}
		return delivered
	}
	viewAll(b.sender, func(n int) bool { return n%2 == 0 })
	pushbox(t, b.dir, "", "backup", "box.db")
	viewAll(b.sender, func(n int) bool { return n%3 == 0 })
	b.stop()
	if err := os.Rename(filepath.Join(b.dir, "data", "pushbox.db"), filepath.Join(b.dir, "lost.db")); err != nil {
		t.Fatal(err)
	}
	pushbox(t, b.dir, "", "restore", "box.db")
	back := startVictim(t, b.dir)
	if n := viewAll(newSender(back.url), func(int) bool { return true }); n != 0 {
		t.Errorf("P2: %d pushes were delivered after the restore", n)
	}
	back.stop()
	checkFile(t, b.dir)
}

// TestAKilledBackupLeavesAWholeFileOrNone kills the command, or the server that makes
// the copy for it, wherever they are.
func TestAKilledBackupLeavesAWholeFileOrNone(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testenv.Seed(t), 0))
	b := newBox(t)
	b.heavy(t, 8)
	whole, none, fresh := 0, 0, b.fresh(t)
	judge := func(ended bool) {
		t.Helper()
		file := filepath.Join(b.dir, "box.db")
		_, err := os.Stat(file)
		if err != nil && ended {
			t.Errorf("it ended well, and there is no file: %v", err)
		}
		if err != nil {
			none++
			return
		}
		whole++
		pushbox(t, fresh, "", "restore", file)
		checkFile(t, fresh)
		for _, name := range []string{file, filepath.Join(fresh, "data", "pushbox.db")} {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	judge(killed(t, b.dir, 10*time.Millisecond, "backup", "box.db")) // before it can be done
	for range testenv.Length(t, "PUSHBOX_TEST_BACKUP_KILLS", 3, 1) {
		judge(killed(t, b.dir, time.Duration(r.IntN(250))*time.Millisecond, "backup", "box.db"))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			time.Sleep(time.Duration(10+r.IntN(190)) * time.Millisecond)
			_ = b.cmd.Process.Kill()
		}()
		said := failing(t, b.dir, "backup", "box.db")
		<-ended
		<-b.ended
		judge(said == nil)
		b.victim = startVictim(t, b.dir)
		if left := names(t, filepath.Join(b.dir, "data"), "*.new-*"); len(left) > 0 {
			t.Errorf("after a start there is %v", left)
		}
	}
	t.Logf("%d files, %d times none", whole, none)
	if none == 0 {
		t.Error("nothing was cut short")
	}
	b.stop()
	checkFile(t, b.dir)
}

// TestAKilledRestoreLeavesAWholeDatabaseOrNone kills a restore wherever it is.
func TestAKilledRestoreLeavesAWholeDatabaseOrNone(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testenv.Seed(t), 0))
	b := newBox(t)
	b.heavy(t, 8)
	pushbox(t, b.dir, "", "backup", "box.db")
	b.stop()
	dir := b.fresh(t)
	data := filepath.Join(dir, "data")
	whole, none, leftovers := 0, 0, 0
	kills := testenv.Length(t, "PUSHBOX_TEST_RESTORE_KILLS", 8, 2)
	for range kills {
		ended := killed(t, dir, time.Duration(r.IntN(200))*time.Millisecond, "restore", filepath.Join(b.dir, "box.db"))
		leftovers += len(names(t, data, "*.new-*"))
		if len(names(t, data, "pushbox.db")) == 0 {
			none++
			if ended {
				t.Error("it ended well, and there is no database")
			}
			continue
		}
		whole++
		checkFile(t, dir)
		if left := names(t, data, "*.new-*"); len(left) > 0 {
			t.Errorf("there is %v", left)
		}
		if err := os.Remove(filepath.Join(data, "pushbox.db")); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d databases, %d times none, %d files left behind", whole, none, leftovers)
	if kills >= 20 && (none == 0 || leftovers == 0) {
		t.Error("nothing was cut short")
	}
	pushbox(t, dir, "", "restore", filepath.Join(b.dir, "box.db"))
	checkFile(t, dir)
	if left := names(t, data, "*.new-*"); len(left) > 0 {
		t.Errorf("at last there is %v", left)
	}
}
