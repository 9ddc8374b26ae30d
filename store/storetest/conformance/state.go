package conformance

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

var engineSuite = suite{
	"every method refuses a context that has ended":            heedsContexts,
	"every method refuses when the engine is closed":           refusesWhenClosed,
	"random operations agree with a model":                     agreesWithAModel,
	"an operation is visible to the next one in any goroutine": isLinear,
}

// methods calls each method that takes a context, where each could succeed.
var methods = map[string]func(context.Context, record.Engine) error{
	"CreatePush": func(ctx context.Context, e record.Engine) error {
		p := livePush(2, 0)
		return e.CreatePush(ctx, p, payloadOf(2), creation(p))
	},
	"Push": func(ctx context.Context, e record.Engine) error { _, err := e.Push(ctx, pushID(1)); return err },
	"PushAndSize": func(ctx context.Context, e record.Engine) error {
		_, _, err := e.PushAndSize(ctx, pushID(1))
		return err
	},
	"Change": func(ctx context.Context, e record.Engine) error {
		_, err := e.Change(ctx, pushID(1), view)
		return err
	},
	"Pushes": func(ctx context.Context, e record.Engine) error {
		_, err := e.Pushes(ctx, 1, true, record.ID{}, 0, 9)
		return err
	},
	"CountPushes": func(ctx context.Context, e record.Engine) error {
		_, err := e.CountPushes(ctx, 1, true, 9)
		return err
	},
	"Entries": func(ctx context.Context, e record.Engine) error {
		_, err := e.Entries(ctx, pushID(1), 0, 9)
		return err
	},
	"Due": func(ctx context.Context, e record.Engine) error {
		_, _, err := e.Due(ctx, record.Expiring, epoch, 9)
		return err
	},
	"Scan": func(ctx context.Context, e record.Engine) error { _, err := e.Scan(ctx, pushID(1), 9); return err },
	"PutChunks": func(ctx context.Context, e record.Engine) error {
		return e.PutChunks(ctx, pushID(4), 0, 0, [][]byte{chunkOf(4, 0, 0)})
	},
	"Chunk": func(ctx context.Context, e record.Engine) error {
		_, _, err := e.Chunk(ctx, newGrant(3, 1).Digest, 0, 0, nil)
		return err
	},
	"Grant": func(ctx context.Context, e record.Engine) error {
		_, _, err := e.Grant(ctx, newGrant(3, 1).Digest)
		return err
	},
	"ChangeGrant": func(ctx context.Context, e record.Engine) error {
		_, err := e.ChangeGrant(ctx, newGrant(3, 1).Digest, slide(time.Hour))
		return err
	},
	"Orphans": func(ctx context.Context, e record.Engine) error { _, err := e.Orphans(ctx, pushID(1), 9); return err },
	"Space": func(ctx context.Context, e record.Engine) error {
		_, err := e.Space(ctx)
		return err
	},
	"Compact": func(ctx context.Context, e record.Engine) error {
		return e.Compact(ctx, func(int64, int64) {})
	},
	"Backup": func(ctx context.Context, e record.Engine) error {
		b, temp, err := e.Backup(ctx, "", func(int64, int64) {})
		if err == nil {
			err = errors.Join(b.Close(), os.Remove(temp))
		}
		return err
	},
	"Reseal": func(ctx context.Context, e record.Engine) error {
		_, err := e.Reseal(ctx, nothingSealed{}, func(int64, int64) {})
		return err
	},
	"RemoveCopies": func(ctx context.Context, e record.Engine) error {
		_, err := e.RemoveCopies(ctx, time.Now())
		return err
	},
	"FindRing": func(ctx context.Context, e record.Engine) error {
		_, err := e.FindRing(ctx, func([]byte) bool { return false })
		return err
	},
	"Forget": func(ctx context.Context, e record.Engine) error { return e.Forget(ctx) },
	"FreeOrphans": func(ctx context.Context, e record.Engine) error {
		_, err := e.FreeOrphans(ctx, pushID(5), 9)
		return err
	},
	"View": func(ctx context.Context, e record.Engine) error {
		return e.View(ctx, func(record.View) error { return nil })
	},
	"Update": func(ctx context.Context, e record.Engine) error {
		return e.Update(ctx, func(t record.Tx) error { return t.Put(record.Requests.Table, RequestOf(9, 0, 1)) })
	},
	"Touch": func(ctx context.Context, e record.Engine) error {
		_, err := e.Touch(ctx, record.Accounts.Table, [][]byte{record.NumberKey(1)}, func(r record.Record) (record.Record, error) { return nil, nil })
		return err
	},
	"AnswerRequest": func(ctx context.Context, e record.Engine) error {
		p := AnswerTo(RequestOf(1, 1, 1), 2)
		_, err := e.AnswerRequest(ctx, p, payloadOf(2), creation(p))
		return err
	},
	"DueMessages": func(ctx context.Context, e record.Engine) error {
		_, _, err := e.DueMessages(ctx, dueAt(0, 9))
		return err
	},
	"CountMessages": func(ctx context.Context, e record.Engine) error { _, err := e.CountMessages(ctx); return err },
	"RetryMessage":  func(ctx context.Context, e record.Engine) error { return e.RetryMessage(ctx, messageAt(1), epoch) },
	"Messages": func(ctx context.Context, e record.Engine) error {
		_, err := e.Messages(ctx, record.Message{}, 9)
		return err
	},
	"EndMessages": func(ctx context.Context, e record.Engine) error {
		_, err := e.EndMessages(ctx, []record.Message{messageAt(1)})
		return err
	},
	"KeyRing": func(ctx context.Context, e record.Engine) error { _, err := e.KeyRing(ctx); return err },
	"SetKeyRing": func(ctx context.Context, e record.Engine) error {
		return e.SetKeyRing(ctx, []byte("sealed"), Keys{}, Told)
	},
	"FollowKeys": func(ctx context.Context, e record.Engine) error {
		return e.FollowKeys(ctx, func(context.Context, []byte) (record.RowKeys, error) { return Keys{}, nil })
	},
	"Dump": func(ctx context.Context, e record.Engine) error {
		for _, err := range e.Dump(ctx) {
			return err
		}
		return nil
	},
	"Load": func(ctx context.Context, e record.Engine) error {
		return e.Load(ctx, func(func(record.DumpRecord, error) bool) {}, func(record.Records) error { return nil })
	},
	"Unlock":     func(ctx context.Context, e record.Engine) error { return e.Unlock(ctx, Keys{}, nil) },
	"LatestTime": func(ctx context.Context, e record.Engine) error { _, err := e.LatestTime(ctx); return err },
	"Ready":      func(ctx context.Context, e record.Engine) error { return e.Ready(ctx) },
	"SetLatestTime": func(ctx context.Context, e record.Engine) error {
		return e.SetLatestTime(ctx, epoch)
	},
	"CountLive": func(ctx context.Context, e record.Engine) error { return e.CountLive(ctx) },
	"Check":     func(ctx context.Context, e record.Engine) error { return e.Check(ctx, func(string) {}) },
}

// WantFromAll fails the test for every method of e that does not return want.
func WantFromAll(ctx context.Context, t *testing.T, e record.Engine, want error) {
	t.Helper()
	for name, call := range methods {
		t.Run(name, func(t *testing.T) { WantErr(t, call(ctx, e), want) })
	}
}

// WantLocked fails the test for every method that does not wait for Unlock, of an engine
// with a key ring, and for those two if they fail.
func WantLocked(t *testing.T, e record.Engine) {
	t.Helper()
	for name, call := range methods {
		if name != "KeyRing" && name != "Unlock" {
			t.Run(name, func(t *testing.T) { WantErr(t, call(t.Context(), e), record.ErrNoKeys) })
		}
	}
	if _, err := e.Stats(); !errors.Is(err, record.ErrNoKeys) {
		t.Errorf("stats: %v", err)
	}
	sealed, err := e.KeyRing(t.Context())
	Must(t, err)
	Same(t, "key ring", string(sealed), "sealed")
	Must(t, e.Unlock(t.Context(), Keys{}, nil))
}

func heedsContexts(t *testing.T, e record.Engine) {
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
	Must(t, err)
	Same(t, "push", p, livePush(1, 0))
	list, err := cold.Accounts(t.Context(), e, 0, 9)
	Must(t, err)
	if len(list) != 1 || list[0].Disabled {
		t.Errorf("accounts: %+v", list)
	}
	sessions, err := cold.Sessions(t.Context(), e, list[0].ID, 9)
	Must(t, err)
	Same(t, "sessions", len(sessions), 1)
	wantOrphans(t, e, 5)
	wantGrant(t, e, 3, g)
	Same(t, "more", free(t, e, 5, files*chunks-1), true)
}

func refusesWhenClosed(t *testing.T, e record.Engine) {
	Must(t, e.Close())
	Must(t, e.Close())
	WantFromAll(t.Context(), t, e, record.ErrClosed)
	select {
	case <-e.Failed():
		t.Error("closing counts as a failure")
	default:
	}
}
