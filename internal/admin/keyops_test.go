package admin_test

import (
	"testing"

	"pushbox/internal/admin"
	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

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
