package forgery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	accounts []member
	pushes   []sent
	truth    map[string]any // question → answer
}

// A member is an account, with all that its owner needs.
type member struct {
	email    string
	by       store.Actor
	session  secret.Text
	apiToken secret.Text
}

// A sent is a push as its sender knows it.
type sent struct {
	name       string
	token      store.Token
	by         store.Actor
	passphrase string
	files      int
	grant      secret.Text
}

const passphrase = "open sesame, please"

func (w *world) open(path string) (*storetest.Fixture, error) {
	f := &storetest.Fixture{Clock: storetest.NewClock(), Path: path}
	if !w.now.IsZero() {
		f.Clock.Advance(w.now.Sub(f.Clock.Now()))
	}
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: path, Timeout: env.Patience})
	if err != nil {
		return nil, err
	}
	f.Store, err = store.Open(ctx, engine, w.root, store.Options{
		Clock: f.Clock, Terms: storetest.Terms(),
		Guessing: store.Guessing{PerClient: 100, PerPush: 100, Queue: 64},
		Files:    store.FileLimits{MaxCount: 10, MaxSize: 1 << 20, Window: 15 * time.Minute},
		Sessions: store.SessionLimits{Idle: 12 * time.Hour, MaxAge: 30 * 24 * time.Hour},
		Hooks:    store.HookOptions{Queue: 100, GiveUp: 24 * time.Hour},
		Mail:     store.MailOptions{Languages: []string{"en"}, MaxRecipients: 5, PerAccount: 10, PerInstance: 15, GiveUp: 24 * time.Hour},
	})
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
	for _, email := range []string{storetest.Email, "mallory@example.com", "carol@example.com"} {
		a := storetest.AddMember(t, f, email)
		by := store.Actor{Account: a.ID, Client: "192.0.2.7", IP: "192.0.2.7"}
		n := env.Must(f.SignIn(ctx, by, email, secret.New(storetest.Password)))(t)
		token := env.Must(f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{Label: "laptop"}))(t)
		env.Must(f.AddHook(ctx, storetest.Operator, email, secret.New("https://hooks.example.com/"+email), []record.Event{record.EventView}))(t)
		w.accounts = append(w.accounts, member{email, by, n.Secret, token.Secret})
		for i := range 4 {
			w.add(t, f, sent{by: by, passphrase: []string{"", passphrase}[i%2]})
		}
	}
	w.add(t, f, sent{by: storetest.Anonymous})
	ann := w.accounts[0].by
	for range 2 {
		f.Clock.Advance(time.Millisecond)
		p := storetest.PushFiles(t, f, ann, nil, []byte("a file"), []byte("another"))
		w.pushes = append(w.pushes, sent{name: fmt.Sprint(len(w.pushes)), token: p.Token, by: ann, files: 2, grant: storetest.Grant(t, f, storetest.Anonymous, p).Grant})
	}
	u := f.NewUpload(f.Policy("")) // not closed, as when the process is killed
	env.OK(t, u.Add(ctx, strings.NewReader("chunks that belong to no push")))
}

func (w *world) add(t *testing.T, f *storetest.Fixture, s sent) {
	t.Helper()
	f.Clock.Advance(time.Millisecond)
	s.name = fmt.Sprint(len(w.pushes))
	p := storetest.Push(t, f, s.by, func(in *store.NewPush) {
		in.Name, in.Payload, in.Passphrase = secret.New(s.name), secret.New("payload "+s.name), secret.New(s.passphrase)
		if s.by.Account != 0 {
			in.Mail = &store.MailRequest{To: secret.New("to@example.net"), Base: "https://push.example.com"}
		}
	})
	s.token = p.Token
	w.pushes = append(w.pushes, s)
}

// change ends and edits pushes, and changes and removes what belongs to accounts.
func (w *world) change(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	ann, carol := w.accounts[0], w.accounts[2]
	f.Clock.Advance(time.Minute)
	env.Must(f.DeletePush(ctx, ann.by, w.pushes[0].token))(t)
	env.Must(f.EditPush(ctx, ann.by, w.pushes[1].token, store.PushEdit{Views: new(50)}))(t)
	env.OK(t, f.SetDisabled(ctx, storetest.Operator, carol.email, true))
	env.OK(t, f.SetPassword(ctx, storetest.Operator, w.accounts[1].email, secret.New("a changed password"), false))
	tokens := env.Must(f.Tokens(ctx, carol.email))(t)
	env.OK(t, f.RevokeToken(ctx, storetest.Operator, tokens[0].ID))
	hooks := env.Must(f.Hooks(ctx, carol.email))(t)
	env.OK(t, f.RemoveHook(ctx, storetest.Operator, hooks[0].ID))
	env.Must(f.Sweep(ctx))(t)
}

// view views pushes.
func (w *world) view(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	for _, i := range []int{2, 4, 4} {
		env.Must(f.Retrieve(ctx, storetest.Anonymous, w.pushes[i].token, secret.Text{}, nil))(t)
	}
}

// write writes a file with the content of an image.
func write(t *testing.T, path string, image []byte) {
	t.Helper()
	env.OK(t, os.WriteFile(path, image, 0o600))
}
