package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pushbox/internal/admin"
	"pushbox/internal/testkit/env"
	"pushbox/store/storetest"
)

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
	if _, err := admin.Reload.Call(t.Context(), plain, admin.None{}); !errors.Is(err, admin.ErrUnknown) {
		t.Errorf("by a server that cannot: %v", err)
	}
	path := admin.SocketPath(env.ShortDir(t))
	l, err := admin.Listen(t.Context(), path)
	env.OK(t, err)
	want := admin.Reloaded{Changed: []string{"a"}, Waiting: []string{"b"}}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- admin.Serve(ctx, l, f.Store, admin.Reload.By(func(context.Context, admin.None) (admin.Reloaded, error) { return want, nil }))
	}()
	got, err := admin.Reload.Call(t.Context(), client(t, path), admin.None{})
	if err != nil || len(got.Changed) != 1 || got.Changed[0] != "a" || got.Waiting[0] != "b" {
		t.Errorf("it says %+v, %v", got, err)
	}
	if _, err := admin.UserList.Call(t.Context(), client(t, path), admin.None{}); err != nil {
		t.Errorf("what is done to its store: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
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
		b, err := json.Marshal(in)
		env.OK(t, err)
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
