package damage

import (
	"bytes"
	"context"
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
	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// A world is a database with every kind of record, and its known content.
type world struct {
	dir    string // of the file to damage
	image  []byte // the file as it was made
	buffer []byte // the file as it was left
	parts  []part // of it
	root   seal.RootKey
	now    time.Time
	pushes []knownPush
	ann    knownAccount
	bob    knownAccount
	grants []knownGrant
}

// A knownPush is a push as its sender knows it.
type knownPush struct {
	id         record.ID
	token      store.Token
	owner      record.AccountID
	payload    string
	passphrase string
	name       string
	files      [][]byte
	special    bool // used after every damage
	over       bool // nothing may be delivered
}

type knownAccount struct {
	record.Account
	by       store.Actor
	session  secret.Text // of a full session
	apiToken secret.Text
}

type knownGrant struct {
	token secret.Text
	files [][]byte
}

const day = 24 * time.Hour

var ctx = context.Background()

const (
	passphrase = "open sesame, please"
	fillers    = 60
)

// newWorld makes a database in dir. A large one has a MiB.
func newWorld(t *testing.T, dir string, large bool) *world {
	t.Helper()
	w := &world{dir: dir, root: seal.NewRootKey()}
	clock := storetest.NewClock()
	s := env.Must(w.open(clock, timeLimit))(t)
	f := &storetest.Fixture{Store: s, Clock: clock, Path: w.path()}
	w.addAccounts(t, f)
	w.addPushes(t, f)
	w.addFiles(t, f, large)
	w.addLeftovers(t, f)
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Fatalf("the database has problems before it is damaged: %q, %v", problems, err)
	}
	env.OK(t, s.Close(ctx))
	w.image = env.Must(os.ReadFile(w.path()))(t)
	w.image = w.image[:storetest.UsedBytes(w.image)]
	w.now, w.parts = clock.Now(), partsOf(w.image)
	return w
}

func (w *world) path() string { return filepath.Join(w.dir, "pushbox.db") }

// open opens the file as the program does.
func (w *world) open(clock clock.Clock, patience time.Duration) (*store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: w.path(), MinFree: 1 << 20})
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, engine, w.root, store.Options{
		Clock: clock, Terms: storetest.Terms(), PurgeAfter: 30 * day,
		Guessing: store.Guessing{PerClient: 100, PerPush: 100, Queue: 64},
		Files:    store.FileLimits{MaxCount: 10, MaxSize: 1 << 30, Window: 15 * time.Minute},
		Sessions: store.SessionLimits{Idle: 12 * time.Hour, MaxAge: 30 * day},
	})
	if err != nil {
		_ = engine.Close() // the error of the opening counts
		return nil, err
	}
	return s, nil
}

// addAccounts makes two accounts, one with a second factor, and a disabled one,
// with sessions and API tokens.
func (w *world) addAccounts(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	w.ann = w.addAccount(t, f, storetest.Email)
	asking := store.NewSession{Secret: w.ann.session}
	storetest.EnableTOTP(t, f, &asking)
	w.ann.session = asking.Secret
	storetest.SignIn(t, f) // which stays pending
	w.bob = w.addAccount(t, f, "bob@example.com")
	carol := w.addAccount(t, f, "carol@example.com")
	env.OK(t, f.SetDisabled(ctx, storetest.Operator, carol.Email, true))
}

func (w *world) addAccount(t *testing.T, f *storetest.Fixture, address string) knownAccount {
	t.Helper()
	k := knownAccount{Account: storetest.AddMember(t, f, address)}
	k.by = store.Actor{Account: k.ID, Client: "192.0.2.7", IP: "192.0.2.7", UserAgent: "Browser/1.0"}
	n := env.Must(f.SignIn(ctx, k.by, address, secret.New(storetest.Password)))(t)
	for _, label := range []string{"laptop", "server"} {
		token := env.Must(f.CreateToken(ctx, storetest.Operator, address, store.TokenTerms{Label: label}))(t)
		k.apiToken = token.Secret
	}
	k.session = n.Secret
	return k
}

// add creates a push and records it.
func (w *world) add(t *testing.T, f *storetest.Fixture, by store.Actor, k knownPush, change func(*store.NewPush)) knownPush {
	t.Helper()
	f.Clock.Advance(time.Millisecond) // so that the same seed gives the same file
	k.owner, k.name = by.Account, fmt.Sprintf("push number %d", len(w.pushes))
	p := storetest.Push(t, f, by, func(in *store.NewPush) {
		in.Payload, in.Passphrase, in.Name = secret.New(k.payload), secret.New(k.passphrase), secret.New(k.name)
		if change != nil {
			change(in)
		}
	})
	k.id, k.token = p.ID, p.Token
	w.pushes = append(w.pushes, k)
	return k
}

// addPushes creates pushes of every kind but files, in every state.
func (w *world) addPushes(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	for i := range fillers {
		by := []store.Actor{storetest.Anonymous, w.ann.by, w.bob.by}[i%3]
		w.add(t, f, by, knownPush{payload: fmt.Sprintf("payload of filler %d ", i) + strings.Repeat("x", 37*(i%11))}, nil)
	}
	long := strings.Repeat("a payload of several pages. ", 400)
	for _, by := range []store.Actor{storetest.Anonymous, w.ann.by} {
		w.add(t, f, by, knownPush{payload: "a short text", special: true}, nil)
		w.add(t, f, by, knownPush{payload: long, special: true}, nil)
		w.add(t, f, by, knownPush{payload: "a protected text", passphrase: passphrase, special: true}, nil)
		w.add(t, f, by, knownPush{payload: "https://example.com/a", special: true}, func(in *store.NewPush) { in.Kind = record.URL })
		w.add(t, f, by, knownPush{payload: "shown as a code", special: true}, func(in *store.NewPush) { in.Kind = record.QR })
		viewed := w.add(t, f, by, knownPush{payload: "viewed up", special: true, over: true}, func(in *store.NewPush) { in.Views = new(1) })
		deleted := w.add(t, f, by, knownPush{payload: "a deleted text", special: true, over: true}, nil)
		w.add(t, f, by, knownPush{payload: "an expired text", special: true, over: true}, func(in *store.NewPush) { in.Lifetime = time.Minute })
		env.Must(f.Retrieve(ctx, storetest.Anonymous, viewed.token, secret.Text{}, nil))(t)
		env.Must(f.DeletePush(ctx, by, deleted.token))(t)
	}
	f.Clock.Advance(2 * time.Minute)
	for _, k := range w.pushes { // one after the other, so that the same seed gives the same file
		env.Must(f.Look(ctx, k.token))(t)
	}
}

// addFiles creates pushes with files: one that was not retrieved, one with grants, one
// whose last view left its files to its grant.
func (w *world) addFiles(t *testing.T, f *storetest.Fixture, large bool) {
	t.Helper()
	size := 0
	if large {
		size = 8 * seal.ChunkSize
	}
	for i, views := range []int{5, 5, 1} {
		f.Clock.Advance(time.Millisecond)
		k := knownPush{files: [][]byte{storetest.Content(uint64(i), 1000), storetest.Content(uint64(i+10), seal.ChunkSize/4+size)}, special: true, owner: w.ann.ID}
		k.name = fmt.Sprintf("push number %d", len(w.pushes))
		p := storetest.PushFiles(t, f, w.ann.by, func(in *store.NewPush) { in.Views, in.Name = new(views), secret.New(k.name) }, k.files...)
		if i > 0 {
			w.grants = append(w.grants, knownGrant{storetest.Grant(t, f, storetest.Anonymous, p).Grant, k.files})
		}
		k.id, k.token, k.over, size = p.ID, p.Token, views == 1, 0
		w.pushes = append(w.pushes, k)
	}
}

// addLeftovers adds chunks of an upload that was cut off, and free pages.
func (w *world) addLeftovers(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	u := f.NewUpload(f.Policy("")) // not closed, as when the process is killed
	env.OK(t, u.Add(ctx, bytes.NewReader(storetest.Content(99, 20_000))))
	var tokens []store.Token
	for range 20 {
		f.Clock.Advance(time.Millisecond)
		tokens = append(tokens, storetest.Push(t, f, w.bob.by, func(in *store.NewPush) { in.Payload = secret.New(strings.Repeat("gone ", 600)) }).Token)
	}
	for _, token := range tokens {
		env.Must(f.DeletePush(ctx, w.bob.by, token))(t)
	}
}
