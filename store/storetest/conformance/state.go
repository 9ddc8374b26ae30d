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
		p := LivePush(2, 0)
		return Made(e.CreatePush(ctx, p, Payload(2), Creation(p)))
	},
	"Push":   func(ctx context.Context, e record.Engine) error { return got(Push(ctx, e, PushID(1))).err },
	"Change": func(ctx context.Context, e record.Engine) error { return got(e.Change(ctx, PushID(1), View)).err },
	"Pushes": func(ctx context.Context, e record.Engine) error {
		return got(e.Pushes(ctx, 1, true, record.ID{}, 0, 9)).err
	},
	"CountPushes": func(ctx context.Context, e record.Engine) error { return got(e.CountPushes(ctx, 1, true, 9)).err },
	"Entries":     func(ctx context.Context, e record.Engine) error { return got(e.Entries(ctx, PushID(1), 0, 9)).err },
	"Due": func(ctx context.Context, e record.Engine) error {
		return third(e.Due(ctx, record.Expiring, record.ExpiryPlace{}, epoch, 9))
	},
	"Scan": func(ctx context.Context, e record.Engine) error { return got(e.Scan(ctx, PushID(1), 9)).err },
	"PutChunks": func(ctx context.Context, e record.Engine) error {
		return e.PutChunks(ctx, PushID(4), 0, 0, [][]byte{chunkOf(4, 0, 0)})
	},
	"Chunk": func(ctx context.Context, e record.Engine) error {
		return third(e.Chunk(ctx, newGrant(3, 1).Digest, 0, 0, nil))
	},
	"Grant": func(ctx context.Context, e record.Engine) error { return third(e.Grant(ctx, newGrant(3, 1).Digest)) },
	"ChangeGrant": func(ctx context.Context, e record.Engine) error {
		return got(e.ChangeGrant(ctx, newGrant(3, 1).Digest, slide(time.Hour))).err
	},
	"Orphans": func(ctx context.Context, e record.Engine) error { return got(e.Orphans(ctx, PushID(1), 9)).err },
	"Stats":   func(ctx context.Context, e record.Engine) error { return got(e.Stats(ctx)).err },
	"Compact": func(ctx context.Context, e record.Engine) error { return e.Compact(ctx, func(int64, int64) {}) },
	"Backup": func(ctx context.Context, e record.Engine) error {
		b, temp, err := e.Backup(ctx, "", func(int64, int64) {})
		if err == nil {
			err = errors.Join(b.Close(), os.Remove(temp))
		}
		return err
	},
	"Reseal": func(ctx context.Context, e record.Engine) error {
		return got(e.Reseal(ctx, NothingSealed{}, func(int64, int64) {})).err
	},
	"FreeOrphans": func(ctx context.Context, e record.Engine) error { return got(e.FreeOrphans(ctx, PushID(5), 9)).err },
	"View": func(ctx context.Context, e record.Engine) error {
		return e.View(ctx, func(record.View) error { return nil })
	},
	"Update": func(ctx context.Context, e record.Engine) error {
		return e.Update(ctx, func(t record.Tx) error { return t.Put(record.Requests.Table, RequestOf(9, 0, 1)) })
	},
	"Touch": func(ctx context.Context, e record.Engine) error {
		drop := func(record.Record) (record.Record, error) { return nil, nil }
		return got(e.Touch(ctx, record.Accounts.Table, [][]byte{record.NumberKey(1)}, drop)).err
	},
	"DueMessages":   func(ctx context.Context, e record.Engine) error { return third(e.DueMessages(ctx, dueAt(0, 9))) },
	"CountMessages": func(ctx context.Context, e record.Engine) error { return got(e.CountMessages(ctx)).err },
	"KeyRing":       func(ctx context.Context, e record.Engine) error { return got(e.KeyRing(ctx)).err },
	"SetKeyRing": func(ctx context.Context, e record.Engine) error {
		return e.SetKeyRing(ctx, []byte("sealed"), Keys{}, Told)
	},
	"Unlock":   func(ctx context.Context, e record.Engine) error { return e.Unlock(ctx, Keys{}, nil, nil) },
	"Ready":    func(ctx context.Context, e record.Engine) error { return e.Ready(ctx) },
	"KeepTime": func(ctx context.Context, e record.Engine) error { return got(e.KeepTime(ctx, epoch)).err },
	"Check":    func(ctx context.Context, e record.Engine) error { return e.Check(ctx, func(string) {}) },
}

// third is the error of a method with three results.
func third[A, B any](_ A, _ B, err error) error { return err }

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
	Same(t, "key ring", string(got(e.KeyRing(t.Context())).of(t)), "sealed")
	Must(t, e.Unlock(t.Context(), Keys{}, nil, nil))
}

func heedsContexts(t *testing.T, e record.Engine) {
	begin(t, e, account(t, e, "a"), 1, false)
	create(t, e, 1, 0)
	CreateFiles(t, e, 3, 0)
	g := issue(t, e, 3, 1)
	upload(t, e, 5)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	WantFromAll(ctx, t, e, context.Canceled)
	ctx, cancel = context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	WantFromAll(ctx, t, e, context.DeadlineExceeded)

	Same(t, "push", got(Push(t.Context(), e, PushID(1))).of(t), LivePush(1, 0))
	list := got(cold.Accounts(t.Context(), e, 0, 9)).of(t)
	if len(list) != 1 || list[0].Disabled {
		t.Errorf("accounts: %+v", list)
	}
	Same(t, "sessions", len(got(cold.Sessions(t.Context(), e, list[0].ID, 9)).of(t)), 1)
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
