package admin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pushbox/internal/admin"
	"pushbox/store/storetest"
)

func TestABackupBelongsToItsCaller(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		must(t, r, admin.UserAdd, admin.Credentials{Email: alice, Password: clear(password)})
		b := must(t, r, admin.Backup, admin.None{})
		info, err := os.Stat(b.Path)
		if err != nil || !filepath.IsAbs(b.Path) || info.Size() != b.Size || b.At.IsZero() {
			t.Fatalf("it tells %+v of %v, %v", b, info, err)
		}
		own := filepath.Join(t.TempDir(), "box.db")
		if err := os.Rename(b.Path, own); err != nil {
			t.Fatal(err)
		}
		if accounts, err := r.f.Over(own).Accounts(t.Context()); err != nil || len(accounts) != 1 {
			t.Errorf("it has %v, %v", accounts, err)
		}
	})
}

func TestABackupThatItsCallerCancelsIsRemoved(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ctx, leave := context.WithCancel(t.Context())
	_, err := admin.Backup.WithProgress(func(done, total int64) {
		if done == total { // the copy is made, and it is to be verified
			leave()
		}
	}).Do(ctx, f.Store, admin.None{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, err := filepath.Glob(f.Path + ".new-*"); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
}
