package storetest

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"pushbox/store"
)

// methods calls each method that takes a context, where all could go well.
var methods = map[string]func(context.Context, store.Engine) error{
	"CreatePush": func(ctx context.Context, e store.Engine) error {
		p := livePush(2, 0)
		return e.CreatePush(ctx, p, payloadOf(2), creation(p))
	},
	"Push": func(ctx context.Context, e store.Engine) error { _, err := e.Push(ctx, pushID(1)); return err },
	"Sized": func(ctx context.Context, e store.Engine) error {
		_, _, err := e.Sized(ctx, pushID(1))
		return err
	},
	"Change": func(ctx context.Context, e store.Engine) error {
		_, err := e.Change(ctx, pushID(1), view)
		return err
	},
	"Pushes":  func(ctx context.Context, e store.Engine) error { _, err := e.Pushes(ctx, 1, true, 0, 9); return err },
	"Entries": func(ctx context.Context, e store.Engine) error { _, err := e.Entries(ctx, pushID(1), 0, 9); return err },
	"Due": func(ctx context.Context, e store.Engine) error {
		_, _, err := e.Due(ctx, store.Expiring, epoch, 9)
		return err
	},
	"Scan": func(ctx context.Context, e store.Engine) error { _, err := e.Scan(ctx, pushID(1), 9); return err },
	"PutChunks": func(ctx context.Context, e store.Engine) error {
		return e.PutChunks(ctx, pushID(4), 0, 0, [][]byte{chunkOf(4, 0, 0)})
	},
	"Chunk": func(ctx context.Context, e store.Engine) error {
		_, _, err := e.Chunk(ctx, newIssue(3, 1).Digest, 0, 0, nil)
		return err
	},
	"Grant": func(ctx context.Context, e store.Engine) error {
		_, _, err := e.Grant(ctx, newIssue(3, 1).Digest)
		return err
	},
	"ChangeGrant": func(ctx context.Context, e store.Engine) error {
		_, err := e.ChangeGrant(ctx, newIssue(3, 1).Digest, slide(time.Hour))
		return err
	},
	"Orphans": func(ctx context.Context, e store.Engine) error { _, err := e.Orphans(ctx, pushID(1), 9); return err },
	"Space": func(ctx context.Context, e store.Engine) error {
		_, err := e.Space(ctx)
		return err
	},
	"Compact": func(ctx context.Context, e store.Engine) error {
		return e.Compact(ctx, func(int64, int64) {})
	},
	"Backup": func(ctx context.Context, e store.Engine) error {
		b, temp, err := e.Backup(ctx, "", func(int64, int64) {})
		if err == nil {
			err = errors.Join(b.Close(), os.Remove(temp))
		}
		return err
	},
	"Forget": func(ctx context.Context, e store.Engine) error { return e.Forget(ctx) },
	"FreeOrphans": func(ctx context.Context, e store.Engine) error {
		_, err := e.FreeOrphans(ctx, pushID(5), 9)
		return err
	},
	"CreateAccount": func(ctx context.Context, e store.Engine) error {
		_, err := e.CreateAccount(ctx, store.Account{Email: "b@example.org"})
		return err
	},
	"Account":        func(ctx context.Context, e store.Engine) error { _, err := e.Account(ctx, 1); return err },
	"AccountByEmail": func(ctx context.Context, e store.Engine) error { _, err := e.AccountByEmail(ctx, "a"); return err },
	"Accounts":       func(ctx context.Context, e store.Engine) error { _, err := e.Accounts(ctx, 0, 9); return err },
	"ChangeAccount": func(ctx context.Context, e store.Engine) error {
		_, err := e.ChangeAccount(ctx, 1, store.SessionDigest{}, func(a store.Account) (store.Account, store.Turnover, error) {
			a.Disabled = true
			return a, store.Turnover{}, nil
		})
		return err
	},
	"CreateFirstAccount": func(ctx context.Context, e store.Engine) error {
		_, err := e.CreateFirstAccount(ctx, store.Account{Email: "b@example.org"})
		return err
	},
	"Session": func(ctx context.Context, e store.Engine) error {
		_, _, err := e.Session(ctx, newSession(1, false).Digest)
		return err
	},
	"Sessions": func(ctx context.Context, e store.Engine) error { _, err := e.Sessions(ctx, 1, 9); return err },
	"TouchSession": func(ctx context.Context, e store.Engine) error {
		return e.TouchSession(ctx, newSession(1, false).Digest, epoch)
	},
	"RemoveSession": func(ctx context.Context, e store.Engine) error { return e.RemoveSession(ctx, 1, 1) },
	"ClearSessions": func(ctx context.Context, e store.Engine) error {
		_, _, err := e.ClearSessions(ctx, store.SessionDigest{}, 9, func(store.Session) bool { return true })
		return err
	},
	"RemoveAccount": func(ctx context.Context, e store.Engine) error { return e.RemoveAccount(ctx, 1) },
	"CreateToken": func(ctx context.Context, e store.Engine) error {
		_, err := e.CreateToken(ctx, apiToken(2, 1))
		return err
	},
	"Token": func(ctx context.Context, e store.Engine) error {
		_, _, err := e.Token(ctx, apiToken(1, 1).Digest)
		return err
	},
	"Tokens": func(ctx context.Context, e store.Engine) error { _, err := e.Tokens(ctx, 1, 0, 9); return err },
	"TouchToken": func(ctx context.Context, e store.Engine) error {
		return e.TouchToken(ctx, apiToken(1, 1).Digest, epoch)
	},
	"RemoveToken": func(ctx context.Context, e store.Engine) error { return e.RemoveToken(ctx, 0, 1) },
	"CreateHook": func(ctx context.Context, e store.Engine) error {
		_, err := e.CreateHook(ctx, hookOf(1))
		return err
	},
	"Hooks":      func(ctx context.Context, e store.Engine) error { _, err := e.Hooks(ctx, 0, 0, 9); return err },
	"SetHook":    func(ctx context.Context, e store.Engine) error { return e.SetHook(ctx, hookOf(1)) },
	"RemoveHook": func(ctx context.Context, e store.Engine) error { return e.RemoveHook(ctx, 1, 1) },
	"DueMessages": func(ctx context.Context, e store.Engine) error {
		_, _, err := e.DueMessages(ctx, epoch, skipNone, 9)
		return err
	},
	"CountMessages": func(ctx context.Context, e store.Engine) error { _, err := e.CountMessages(ctx); return err },
	"RetryMessage":  func(ctx context.Context, e store.Engine) error { return e.RetryMessage(ctx, messageAt(1), epoch) },
	"EndMessages": func(ctx context.Context, e store.Engine) error {
		_, err := e.EndMessages(ctx, []store.Message{messageAt(1)})
		return err
	},
	"KeyRing":    func(ctx context.Context, e store.Engine) error { _, err := e.KeyRing(ctx); return err },
	"SetKeyRing": func(ctx context.Context, e store.Engine) error { return e.SetKeyRing(ctx, []byte("sealed")) },
	"LatestTime": func(ctx context.Context, e store.Engine) error { _, err := e.LatestTime(ctx); return err },
	"SetLatestTime": func(ctx context.Context, e store.Engine) error {
		return e.SetLatestTime(ctx, epoch)
	},
	"CountLive": func(ctx context.Context, e store.Engine) error { return e.CountLive(ctx) },
	"Check":     func(ctx context.Context, e store.Engine) error { return e.Check(ctx, func(string) {}) },
}

// WantFromAll fails the test for every method of e that does not return want.
func WantFromAll(ctx context.Context, t *testing.T, e store.Engine, want error) {
	t.Helper()
	for name, call := range methods {
		t.Run(name, func(t *testing.T) { wantErr(t, call(ctx, e), want) })
	}
}

func heedsContexts(t *testing.T, e store.Engine) {
	begin(t, e, account(t, e, "a"), 1, false)
	create(t, e, 1, 0)
	createFiles(t, e, 3, 0)
	g := issue(t, e, 3, 1)
	upload(t, e, 5)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	WantFromAll(ctx, t, e, context.Canceled)
	ctx, cancel = context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	WantFromAll(ctx, t, e, context.DeadlineExceeded)

	p, err := e.Push(t.Context(), pushID(1))
	must(t, err)
	same(t, "push", p, livePush(1, 0))
	list, err := e.Accounts(t.Context(), 0, 9)
	must(t, err)
	if len(list) != 1 || list[0].Disabled {
		t.Errorf("accounts: %+v", list)
	}
	wantSessions(t, e, list[0].ID, 1)
	wantOrphans(t, e, 5)
	wantGrant(t, e, 3, g)
	same(t, "more", free(t, e, 5, files*chunks-1), true)
}

func refusesWhenClosed(t *testing.T, e store.Engine) {
	must(t, e.Close())
	must(t, e.Close())
	WantFromAll(t.Context(), t, e, store.ErrClosed)
	select {
	case <-e.Failed():
		t.Error("closing counts as a failure")
	default:
	}
}

func keepsTheKeyRing(t *testing.T, e store.Engine) {
	ring, err := e.KeyRing(t.Context())
	must(t, err)
	if ring != nil {
		t.Errorf("a new store has the key ring %q", ring)
	}
	for _, want := range []string{"sealed", "sealed again, and longer"} {
		given := []byte(want)
		must(t, e.SetKeyRing(t.Context(), given))
		scribble(given)
		for range 2 {
			ring, err = e.KeyRing(t.Context())
			must(t, err)
			same(t, "key ring", string(ring), want)
			scribble(ring)
		}
	}
}

func keepsTheLatestTime(t *testing.T, e store.Engine) {
	got, err := e.LatestTime(t.Context())
	must(t, err)
	same(t, "time of a new store", got, time.Time{})
	for _, c := range []struct{ set, want time.Duration }{
		{0, 0}, {time.Millisecond, time.Millisecond}, {-time.Hour, time.Millisecond}, {time.Hour, time.Hour},
	} {
		must(t, e.SetLatestTime(t.Context(), epoch.Add(c.set)))
		got, err = e.LatestTime(t.Context())
		must(t, err)
		same(t, "latest time", got, epoch.Add(c.want))
	}
}
