package admin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"

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
		env.OK(t, os.Rename(b.Path, own))
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

func TestTheKeyIsNamedAndRotatedWhereItCanBe(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		if k := must(t, r, admin.KeyID, admin.None{}); k.ID != r.f.KeyID() || len(k.ID) != 8 {
			t.Errorf("it is %+v", k)
		}
		wantErr(t, r, admin.KeyRotate, admin.Rotation{}, record.ErrDenied) // its key is in no file
	})
}

func TestADeepCheckTellsWhatItHasRead(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, r route) {
		if _, err := r.f.CreatePush(t.Context(), store.Actor{}, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret")}); err != nil {
			t.Fatal(err)
		}
		told := int64(-1)
		found := must(t, r, admin.CheckDeep.WithProgress(func(done, total int64) {
			if told = done; done > total {
				t.Errorf("%d of %d is done", done, total)
			}
		}), admin.None{})
		if len(found.Problems) > 0 || found.Payloads != 1 || found.Chunks != 0 || found.Without != 0 || found.Bytes == 0 || told != found.Bytes {
			t.Errorf("it is %+v, and %d bytes were told", found, told)
		}
	})
}
