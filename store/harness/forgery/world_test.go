package forgery

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

var ctx = context.Background()

// A world is a database with rows in every bucket, and what the store says about it.
type world struct {
	root     seal.RootKey
	now      time.Time
	image    []byte // the file
	before   []byte // the file as it was before some rows changed, and others went
	accounts []storetest.Member
	pushes   []storetest.Sent
	spare    record.TokenID
	by       map[string]store.Actor // by address; none for pushes without an owner
	truth    map[string]any         // question → answer
}

func (w *world) open(path string) (*storetest.Fixture, error) {
	f := &storetest.Fixture{Clock: storetest.NewClock(), Path: path}
	if !w.now.IsZero() {
		f.Clock.Advance(w.now.Sub(f.Clock.Now()))
	}
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: path, Timeout: env.Patience})
	if err != nil {
		return nil, err
	}
	options := storetest.Options(f.Clock)
	options.Guessing = store.Guessing{PerClient: 100, PerPush: 100, Queue: 64}
	options.Mail = store.MailOptions{Languages: []string{"en"}, MaxRecipients: 5, PerAccount: 10, PerInstance: 15, GiveUp: 24 * time.Hour}
	f.Store, err = store.Open(ctx, engine, w.root, options)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return f, nil
}

// newWorld makes the database in three parts: what is there before, what changes then,
// and views at the end, which stay in the journal.
func newWorld(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{root: seal.NewRootKey()}
	path := filepath.Join(dir, "pushbox.db")
	for i, part := range []func(*testing.T, *storetest.Fixture){w.fill, w.change, w.view} {
		f := env.Must(w.open(path))(t)
		part(t, f)
		w.now = f.Clock.Now()
		env.OK(t, f.Close(ctx))
		image := env.Read(t, path)
		if w.image = image; i == 0 {
			w.before = bytes.Clone(image)
		}
	}
	return w
}

func (w *world) fill(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	all := storetest.Furnished{Fixture: f, T: t}
	all.Furnish()
	w.by = make(map[string]store.Actor)
	for _, m := range all.Members {
		w.by[m.Email] = f.By(t, m.Email)
		if m.Disabled {
			continue
		}
		env.Must(f.AddHook(ctx, storetest.Operator, m.Email, store.NewHook{URL: secret.New("https://hooks.example.com/" + m.Email), Events: []record.Event{record.EventView}}))(t)
		all.Send(storetest.Sent{What: "mailed", Owner: m.Email}, func(in *store.NewPush) {
			in.Mail = &store.MailRequest{To: secret.New("to@example.net"), Base: "https://push.example.com"}
		})
		env.Must(f.CreateRequest(ctx, w.by[m.Email], store.NewRequest{Text: secret.New("the door code")}))(t)
	}
	w.spare = env.Must(f.CreateToken(ctx, storetest.Operator, all.Members[0].Email, store.TokenTerms{Label: "spare"}))(t).ID
	w.accounts, w.pushes = all.Members, all.Sent
}

// first returns the first push of an account that is as described.
func (w *world) first(what, owner string) store.Token {
	i := slices.IndexFunc(w.pushes, func(s storetest.Sent) bool { return s.What == what && s.Owner == owner })
	return w.pushes[i].Link()
}

// change ends and edits pushes, and changes and removes what belongs to accounts.
func (w *world) change(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	ann, bob := w.accounts[0].Email, w.accounts[1].Email
	f.Clock.Advance(time.Minute)
	env.Must(f.DeletePush(ctx, w.by[ann], w.first("a QR code", ann)))(t)
	env.Must(f.EditPush(ctx, w.by[ann], w.first("a URL", ann), store.PushEdit{Views: new(50)}))(t)
	env.OK(t, f.SetPassword(ctx, storetest.Operator, bob, secret.New("a changed password"), false))
	env.OK(t, f.RevokeToken(ctx, storetest.Operator, w.spare))
	hooks := env.Must(f.Hooks(ctx, bob))(t)
	env.OK(t, f.RemoveHook(ctx, storetest.Operator, hooks[0].ID))
	env.Must(f.Sweep(ctx))(t)
}

// view views pushes.
func (w *world) view(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	ann := w.accounts[0].Email
	for _, token := range []store.Token{w.first("a text", ""), w.first("a text", ann), w.first("a text", ann)} {
		env.Must(f.Retrieve(ctx, storetest.Anonymous, token, secret.Text{}, nil))(t)
	}
}

// write writes a file with the content of an image.
func write(t *testing.T, path string, image []byte) {
	t.Helper()
	env.OK(t, os.WriteFile(path, image, 0o600))
}
