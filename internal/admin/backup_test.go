package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/admin"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
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
	env.ErrorIs(t, "it", err, context.Canceled)
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
		env.Must(r.f.CreatePush(t.Context(), store.Actor{}, store.NewPush{Kind: record.Text, Payload: secret.New("s3cret")}))(t)
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

// A store without a server cannot do these operations, nor can a server without a handler.
func TestWhatAServerDoesOnItself(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	for name, err := range map[string]error{
		"reload":  second(admin.Reload.Do(t.Context(), f.Store, admin.None{})),
		"health":  second(admin.Health.Do(t.Context(), f.Store, admin.None{})),
		"failing": second(admin.Failing.Do(t.Context(), f.Store, admin.None{})),
		"examine": second(admin.Examine.Do(t.Context(), f.Store, admin.None{})),
		"probe":   second(admin.Probe.Do(t.Context(), f.Store, admin.None{})),
	} {
		if !errors.Is(err, admin.ErrNoServer) {
			t.Errorf("%s on a store: %v", name, err)
		}
	}
	plain := client(t, serve(t, f))
	_, err := admin.Reload.Call(t.Context(), plain, admin.None{})
	env.ErrorIs(t, "by a server that cannot", err, admin.ErrUnknown)
	path := admin.SocketPath(env.ShortDir(t))
	l := env.Must(admin.Listen(t.Context(), path))(t)
	want := admin.Reloaded{Changed: []string{"a"}, Waiting: []string{"b"}}
	stop := env.Run(t, func(ctx context.Context) error {
		return admin.Serve(ctx, l, f.Store, admin.Reload.By(func(context.Context, admin.None) (admin.Reloaded, error) { return want, nil }))
	})
	got, err := admin.Reload.Call(t.Context(), client(t, path), admin.None{})
	if err != nil || len(got.Changed) != 1 || got.Changed[0] != "a" || got.Waiting[0] != "b" {
		t.Errorf("it says %+v, %v", got, err)
	}
	if _, err := admin.UserList.Call(t.Context(), client(t, path), admin.None{}); err != nil {
		t.Errorf("what is done to its store: %v", err)
	}
	stop()
}

func second[T any](_ T, err error) error { return err }

func TestASecretPrintsNothingAndCrossesWhole(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "hunter2-marker", "\x00\xff\xfe", "ünïcode\n"} {
		in := admin.Credentials{Email: alice, Password: clear(text)}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			if out := fmt.Sprintf(verb, in); text != "" && strings.Contains(out, text) {
				t.Errorf("%s printed %s", verb, out)
			}
		}
		b := env.Must(json.Marshal(in))(t)
		var out admin.Credentials
		env.OK(t, json.Unmarshal(b, &out))
		if out.Password.Reveal() != text {
			t.Errorf("%q came out as %q", text, out.Password.Reveal())
		}
	}
}

func TestASecretThatIsMangledIsRefusedWithoutBeingQuoted(t *testing.T) {
	t.Parallel()
	var c admin.Credentials
	for _, b := range []string{`{"Password":"hunter2-marker!"}`, `{"Password":17}`} {
		err := json.Unmarshal([]byte(b), &c)
		if err == nil {
			t.Errorf("%s was read", b)
		} else if strings.Contains(err.Error(), "marker") {
			t.Errorf("the error quotes it: %v", err)
		}
	}
}
