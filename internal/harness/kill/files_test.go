package kill

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

const fileClients = 48 // as many uploads as one account may have at a time

// TestAKillLosesNoFileAndLeavesNone kills a server at random moments while 48
// clients send and fetch files. PUSHBOX_TEST_FILE_KILLS sets how often.
func TestAKillLosesNoFileAndLeavesNone(t *testing.T) {
	t.Parallel()
	kills := env.Length(t, "PUSHBOX_TEST_FILE_KILLS")
	dir := t.TempDir()
	v := proctest.StartServer(t, dir)
	token := proctest.APIToken(t, dir)
	var kept proctest.Stash
	for range kills {
		c := proctest.NewFileClient(t, v.URL, token)
		ctx, cancel := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		sent := kept.Sent()
		for range fileClients {
			clients.Go(func() { work(ctx, t, c, &kept) })
		}
		env.Eventually(t, "files are sent", func() bool { return kept.Sent() > sent })
		v.Wait(nil, 200*time.Millisecond+rand.N(800*time.Millisecond))
		v.KillNow()
		cancel()
		clients.Wait()
		v = proctest.StartServer(t, dir)
		for _, x := range kept.All {
			if err := proctest.NewFileClient(t, v.URL, token).Compare(t.Context(), x); err != nil {
				t.Errorf("after a kill: %v", err)
			}
		}
		v.Stop()
		proctest.CheckFile(t, dir)
		proctest.WantNoOrphans(t, dir)
		v = proctest.StartServer(t, dir)
	}
	t.Logf("%d files, %d of them sent in the last round and not fetched", kept.Next, len(kept.All))
	v.Stop()
}

// work sends or downloads one file after the other, until the server is gone.
func work(ctx context.Context, t *testing.T, c *proctest.FileClient, kept *proctest.Stash) {
	for ctx.Err() == nil {
		if x, ok := kept.Take(); ok && rand.IntN(2) == 0 {
			err := c.Compare(ctx, x)
			if err == nil || isTransport(err) {
				kept.Add(x)
			}
			if err != nil {
				if !isTransport(err) {
					t.Errorf("fetch: %v", err)
				}
				return
			}
			continue
		} else if ok {
			kept.Add(x)
		}
		x := proctest.StoredFile{Seed: kept.Seed(), Size: rand.Int64N(3 << 20)}
		var err error
		if x.Token, err = c.Push(ctx, proctest.Multipart, proctest.Content(x.Seed, x.Size)); err != nil {
			if !isTransport(err) {
				t.Errorf("push: %v", err)
			}
			return
		}
		kept.Add(x)
	}
}

// isTransport reports whether an error comes from a connection that ended.
func isTransport(err error) bool {
	var gone *url.Error
	var broken *net.OpError
	return errors.As(err, &gone) || errors.As(err, &broken) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled)
}
