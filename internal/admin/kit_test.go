package admin_test

import (
	"context"
	"net"
	"testing"

	"pushbox/internal/admin"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store/storetest"
)

const (
	alice    = "alice@example.com"
	password = "correct horse battery"
)

// serve answers on a new socket until the test ends.
func serve(t *testing.T, f *storetest.Fixture) (path string) {
	t.Helper()
	path = admin.SocketPath(env.ShortDir(t))
	l, err := admin.Listen(t.Context(), path)
	env.OK(t, err)
	serveOn(t, f, l)
	return path
}

func serveOn(t *testing.T, f *storetest.Fixture, l net.Listener) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s := f.Store // as it is now, whatever the test does to the fixture
	go func() { ended <- admin.Serve(ctx, l, s) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve returned %v", err)
		}
	})
}

func client(t *testing.T, path string) *admin.Client {
	t.Helper()
	c, err := admin.NewClient(path)
	env.OK(t, err)
	return c
}

func clear(text string) admin.Clear { return admin.Clear{Text: secret.New(text)} }
