package golden

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// This version opens the database of each schema, upgrades older ones, and finds all
// their content.
func TestDatabasesOfEverySchemaOpenWithAllTheirContent(t *testing.T) {
	t.Parallel()
	dirs, err := os.ReadDir(databases)
	if err != nil || len(dirs) < 2 {
		t.Fatalf("%d databases, %v", len(dirs), err)
	}
	for _, d := range dirs {
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			from := filepath.Join(databases, d.Name())
			if g := readExpectation(t, from); d.Name() != "schema-"+strconv.Itoa(g.Schema) {
				t.Errorf("it is of schema %d", g.Schema)
			}
			wantContent(t, from)
		})
	}
}

// wantContent opens a copy of the database in a directory, and looks for its content.
func wantContent(t *testing.T, from string) {
	t.Helper()
	g, dir := readExpectation(t, from), copyDatabase(t, from)
	old := env.Read(t, filepath.Join(from, databaseFile))
	var notes []string
	listen := func(o *bolt.Options) { o.Note = func(say string) { notes = append(notes, say) } }
	f := storetest.OpenDir(t, dir, g.At, listen)
	wantUpgrade(t, dir, g.Schema, old, notes)
	w := opened{f, t, g}
	w.wantWhole()
	w.wantPushes()
	w.wantRepeat()
	w.wantNewcomer()
	w.wantRequests()
	w.wantAccounts()
	w.wantUse()
	env.OK(t, f.Close(ctx))
	if ring, err := bolt.ReadKeyRing(ctx, filepath.Join(dir, databaseFile), env.Patience); err != nil || seal.IsFirstRing(ring) {
		t.Errorf("the key ring is as older databases have it, %v", err)
	}
	notes = nil
	f = storetest.OpenDir(t, dir, f.Clock.Now(), listen)
	defer func() { _ = f.Close(ctx) }()
	if problems, err := f.Store.Check(ctx); err != nil || len(problems) > 0 || len(notes) > 0 {
		t.Errorf("opened again: %q, %q, %v", problems, notes, err)
	}
}

// presentSchema is the schema of a new database.
func presentSchema(t *testing.T) int {
	t.Helper()
	path := filepath.Join(t.TempDir(), databaseFile)
	db, _, err := bolt.Open(ctx, bolt.Options{Path: path, Timeout: env.Patience})
	if err == nil {
		err = db.Close()
	}
	env.OK(t, err)
	return schemaOf(t, env.Read(t, path))
}

// wantUpgrade checks that a file of an older schema was copied and that a note reports
// it, and that neither happened to a file of the present schema.
func wantUpgrade(t *testing.T, dir string, schema int, old []byte, notes []string) {
	t.Helper()
	kept := filepath.Join(dir, databaseFile+".schema"+strconv.Itoa(schema))
	if schema == presentSchema(t) {
		if _, err := os.Stat(kept); err == nil || len(notes) > 0 {
			t.Errorf("it was upgraded: %q", notes)
		}
		return
	}
	if !bytes.Equal(env.Read(t, kept), old) {
		t.Error("the copy differs from the old file")
	}
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", info.Mode(), err)
	}
	if len(notes) != 2 || !strings.Contains(notes[1], kept) || schemaOf(t, env.Read(t, filepath.Join(dir, databaseFile))) != presentSchema(t) {
		t.Errorf("the notes are %q", notes)
	}
}

// An opened is an open golden database.
type opened struct {
	*storetest.Fixture
	t *testing.T
	g expectation
}

// wantWhole checks the file, and compares its payloads and chunks with digests; the
// first schema had none.
func (w opened) wantWhole() {
	w.t.Helper()
	problems, c, err := w.CheckDeep(ctx, func(int64, int64) {})
	if err != nil || len(problems) > 0 {
		w.t.Errorf("check: %q, %v", problems, err)
	}
	if covered := c.Payloads > 0 && c.Chunks > 0; covered != (w.g.Schema > 4) || covered != (c.Without == 0) {
		w.t.Errorf("it covers %+v", c)
	}
	want := w.g.Events
	if w.g.Schema < 6 {
		want++ // its key ring was sealed anew
	}
	if events, err := w.AdminEvents(ctx, time.Time{}, 0, record.MaxAdminEvents); err != nil || len(events) != want {
		w.t.Errorf("%d events instead of %d, %v", len(events), want, err)
	}
	hooks, err := w.Store.Hooks(ctx, storetest.Email)
	if err != nil || len(hooks) != w.g.Hooks || w.Waiting() != w.g.Waiting {
		w.t.Errorf("%d webhooks, %d messages wait, %v", len(hooks), w.Waiting(), err)
	}
	for _, h := range hooks {
		if h.URL.Reveal() != hookURL {
			w.t.Error("a webhook has another address")
		}
	}
}

// wantPushes reads every push before it retrieves any.
func (w opened) wantPushes() {
	views, entries := 0, 0
	for _, p := range w.g.Pushes {
		got, err := w.Look(ctx, p.Link())
		if err != nil || got.State != p.State || got.Views != p.Views || got.Kind.String() != p.Kind {
			w.t.Errorf("%s: %+v, %v", p.What, got, err)
		}
		views, entries = views+got.Views, entries+int(got.Seq)
		if p.Owner != "" {
			w.wantOwned(p, got.PushInfo)
		}
	}
	if views != w.g.Views || entries != w.g.Entries {
		w.t.Errorf("%d views and %d entries instead of %d and %d", views, entries, w.g.Views, w.g.Entries)
	}
	for _, p := range w.g.Pushes {
		w.wantPayload(p)
		if p.Grant != "" {
			w.wantFiles(p, secret.New(p.Grant))
		}
	}
}

// wantOwned compares what the owner can see.
func (w opened) wantOwned(p storetest.Sent, got store.PushInfo) {
	by := w.By(w.t, p.Owner)
	if kinds := strings.TrimSpace(storetest.EntryKinds(w.t, w.Fixture, by, got)); kinds != p.Audit {
		w.t.Errorf("%s: the audit log has %s", p.What, kinds)
	}
	h, err := w.History(ctx, by, p.Link(), 1)
	if err != nil || h.Name.Reveal() != p.Name || h.Note.Reveal() != p.Note || h.Token.Reveal() != p.Token {
		w.t.Errorf("%s: its owner sees another name, note or link (%v)", p.What, err)
	}
}

// wantPayload retrieves a push: it must deliver its payload, and count a view.
func (w opened) wantPayload(p storetest.Sent) {
	if p.Passphrase != "" {
		if _, err := w.Retrieve(ctx, storetest.Anonymous, p.Link(), secret.New("a wrong one"), nil); !errors.Is(err, record.ErrPassphrase) {
			w.t.Errorf("%s with a wrong passphrase: %v", p.What, err)
		}
	}
	got, err := w.Retrieve(ctx, storetest.Anonymous, p.Link(), secret.New(p.Passphrase), nil)
	live := p.State == record.Live
	if err != nil || live != (got.Views == p.Views+1) || live && got.Payload.Reveal() != p.Payload || !live && !got.Payload.IsZero() {
		w.t.Errorf("%s: %d views, %d bytes, %v", p.What, got.Views, len(got.Payload.Reveal()), err)
		return
	}
	if live && len(p.Files) > 0 {
		for i, f := range got.Files {
			if f.Name.Reveal() != p.Files[i].Name {
				w.t.Errorf("%s: file %d is called %s", p.What, i, f.Name.Reveal())
			}
		}
		w.wantFiles(p, got.Grant)
	}
}

func (w opened) wantFiles(p storetest.Sent, grant secret.Text) {
	for i, want := range p.Contents() {
		if got, err := storetest.Download(w.Fixture, grant, i); err != nil || !bytes.Equal(got, want) {
			w.t.Errorf("%s: file %d has %d bytes, %v", p.What, i, len(got), err)
		}
	}
}

// wantRepeat makes a push once more.
func (w opened) wantRepeat() {
	if w.g.Once == "" {
		return
	}
	if p, err := w.CreatePush(ctx, storetest.Anonymous, store.NewPush{Repeat: once}); err != nil || !p.Repeated || p.URLToken() != w.g.Once {
		w.t.Errorf("the push that was made once: repeated %t, %v", p.Repeated, err)
	}
}

// wantNewcomer confirms the address that is to be confirmed. All others are.
func (w opened) wantNewcomer() {
	all := env.Must(w.Accounts(ctx))(w.t)
	for _, a := range all {
		if a.Unconfirmed != (w.g.Newcomer != nil && a.Email == w.g.Newcomer.Email) {
			w.t.Errorf("%s is confirmed: %v", a.Email, !a.Unconfirmed)
		}
	}
	if w.g.Newcomer == nil {
		return
	}
	if code := mailedCode(w.t, w.Fixture); code != w.g.Newcomer.Code {
		w.t.Errorf("the code is %s", code)
	}
	n, err := w.SignIn(ctx, storetest.Anonymous, w.g.Newcomer.Email, secret.New(w.g.Newcomer.Password))
	if err == nil {
		err = w.ConfirmAddress(ctx, storetest.Anonymous, n.Secret, secret.New(w.g.Newcomer.Code))
	}
	if state, stateErr := w.Address(ctx, n.Secret); err != nil || stateErr != nil || !state.Confirmed {
		w.t.Errorf("the newcomer: %+v, %v, %v", state, err, stateErr)
	}
}

// wantRequests reads the requests, the live ones first, and answers those.
func (w opened) wantRequests() {
	if len(w.g.Requests) == 0 {
		return
	}
	by := w.By(w.t, cmp.Or(w.g.Requests[0].Owner, w.g.Newcomer.Email))
	list, err := w.Store.Requests(ctx, by, 1)
	if err != nil || len(list) != len(w.g.Requests) {
		w.t.Fatalf("%d requests, %v", len(list), err)
	}
	for _, r := range list {
		i := slices.IndexFunc(w.g.Requests, func(want request) bool { return want.Text == r.Text.Reveal() })
		if i < 0 {
			w.t.Error("a request has another text")
			continue
		}
		want := w.g.Requests[i]
		got, err := w.Request(ctx, by, r.ID)
		if err != nil || got.Live() == want.Ended || len(got.Pushes) != len(want.Answers) {
			w.t.Errorf("%s: %+v, %v", want.Text, got, err)
			continue
		}
		for n, p := range got.Pushes {
			opened, err := w.Retrieve(ctx, by, p.Token, secret.Text{}, nil)
			if err != nil || opened.Payload.Reveal() != want.Answers[n] || p.Name.Reveal() != want.Text {
				w.t.Errorf("%s: answer %d is another, %v", want.Text, n, err)
			}
		}
		token, err := store.ParseRequestToken(want.Token)
		if err == nil {
			_, err = w.CreatePush(ctx, storetest.Anonymous, store.NewPush{Kind: record.Text, Payload: secret.New("x"), Request: token})
		}
		if want.Ended != errors.Is(err, record.ErrNotFound) || !want.Ended && err != nil {
			w.t.Errorf("%s: another answer: %v", want.Text, err)
		}
	}
}

func (w opened) wantAccounts() {
	for _, a := range w.g.Accounts {
		owner, _, err := w.Authenticate(ctx, storetest.Anonymous, secret.New(a.Token))
		if a.Disabled != errors.Is(err, record.ErrToken) || !a.Disabled && (err != nil || owner.Email != a.Email) {
			w.t.Errorf("%s: its token: %v", a.Email, err)
		}
		if a.Revoked != "" {
			if _, _, err := w.Authenticate(ctx, storetest.Anonymous, secret.New(a.Revoked)); !errors.Is(err, record.ErrToken) {
				w.t.Errorf("%s: the token that was revoked: %v", a.Email, err)
			}
		}
		if a.Disabled {
			continue
		}
		list, err := w.Fixture.Sessions(ctx, secret.New(a.Session))
		if err != nil || len(list) != a.Sessions {
			w.t.Errorf("%s: %d sessions, %v", a.Email, len(list), err)
		}
		w.wantSignIn(a)
		if a.Subject != "" {
			x := a.External()
			x.Link = false
			if n, err := w.SignInAs(ctx, storetest.Anonymous, x); err != nil || n.Email != a.Email {
				w.t.Errorf("%s: the provider's user got %q, %v", a.Email, n.Email, err)
			}
		}
	}
}

// wantSignIn signs in, with the second factor if there is one: by a code, then by a
// recovery code.
func (w opened) wantSignIn(a storetest.Member) {
	for _, recovery := range []bool{false, true} {
		w.Clock.Advance(time.Minute)
		n, err := w.SignIn(ctx, storetest.Anonymous, a.Email, secret.New(a.Password))
		if err != nil || n.Pending != (a.TOTP != "") {
			w.t.Errorf("%s signs in: %t, %v", a.Email, n.Pending, err)
		}
		if a.TOTP == "" {
			return
		}
		code := storetest.Code(w.t, w.Fixture, secret.New(a.TOTP), 0)
		if recovery {
			code = secret.New(a.Recovery[0])
		}
		if _, err := w.SignInCode(ctx, storetest.Anonymous, n.Secret, code); err != nil {
			w.t.Errorf("%s gives a code: %v", a.Email, err)
		}
	}
}

// wantUse uses the store, and then checks the file.
func (w opened) wantUse() {
	by := w.By(w.t, storetest.Email)
	p := storetest.Push(w.t, w.Fixture, by, nil)
	storetest.PushFiles(w.t, w.Fixture, by, nil, storetest.Content(1, 100_000))
	env.Equal(w.t, "a new push has", storetest.Retrieve(w.t, w.Fixture, storetest.Anonymous, p), "s3cret")
	if i := slices.IndexFunc(w.g.Pushes, func(p storetest.Sent) bool { return p.Owner != "" && p.State == record.Live }); i >= 0 {
		if _, err := w.DeletePush(ctx, by, w.g.Pushes[i].Link()); err != nil {
			w.t.Errorf("delete: %v", err)
		}
	}
	w.Clock.Advance(8 * day)
	if _, err := w.Sweep(ctx); err != nil {
		w.t.Errorf("sweep: %v", err)
	}
	if _, _, err := w.Fixture.Compact(ctx, storetest.Operator, func(int64, int64) {}); err != nil {
		w.t.Errorf("compact: %v", err)
	}
	if problems, _, err := w.CheckDeep(ctx, func(int64, int64) {}); err != nil || len(problems) > 0 {
		w.t.Errorf("check after use: %q, %v", problems, err)
	}
}
