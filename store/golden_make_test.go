package store_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// goldenEnv makes TestMakeAGoldenDatabase write one into the directory that it
// names, with the present schema. docs/upgrading.md says when.
const goldenEnv = "PUSHBOX_MAKE_GOLDEN"

// A goldenMaker fills a database with every kind of record in every state.
type goldenMaker struct {
	*storetest.Fixture
	t *testing.T
	golden
}

func TestMakeAGoldenDatabase(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(goldenEnv)
	if dir == "" {
		t.Skip("it makes one only where " + goldenEnv + " names a directory")
	}
	work := t.TempDir()
	if _, err := seal.CreateKeyFile(filepath.Join(work, goldenKey)); err != nil {
		t.Fatal(err)
	}
	m := &goldenMaker{Fixture: openGolden(t, work, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil), t: t}
	defer func() { _ = m.Close(ctx) }()
	m.accounts()
	m.beforeTheKeyChanges()
	m.pushes()
	m.files()
	m.leftovers()
	m.hooks()
	m.views() // last: they are to be in the journal still
	m.At = m.Clock.Now()
	image, err := os.ReadFile(m.Path) // as a kill would leave it
	if err != nil {
		t.Fatal(err)
	}
	m.tell()
	m.write(dir, image[:usedBytes(image)], work)
}

// accounts are one with a second factor, one without, and a disabled one.
func (m *goldenMaker) accounts() {
	ann := goldenAccount{Email: email, Password: right}
	member(m.t, m.Fixture, email)
	session := signIn(m.t, m.Fixture)
	totp, recovery := enable(m.t, m.Fixture, &session)
	ann.TOTP, ann.Session = totp.Reveal(), session.Secret.Reveal()
	for _, code := range recovery {
		ann.Recovery = append(ann.Recovery, code.Reveal())
	}
	signIn(m.t, m.Fixture) // and it stays pending
	m.token(&ann.Token, email)
	revoked := m.token(&ann.Revoked, email)
	if err := m.RevokeToken(ctx, revoked); err != nil {
		m.t.Fatal(err)
	}
	others := []goldenAccount{{Email: "bob@example.com", Password: right}, {Email: "carol@example.com", Password: right, Disabled: true}}
	for i := range others {
		a := &others[i]
		member(m.t, m.Fixture, a.Email)
		n, err := m.SignIn(ctx, nobody, a.Email, secret.New(right))
		if err != nil {
			m.t.Fatal(err)
		}
		a.Session = n.Secret.Reveal()
		m.token(&a.Token, a.Email)
		if a.Disabled {
			if err := m.SetDisabled(ctx, a.Email, true); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	m.Accounts = append([]goldenAccount{ann}, others...)
}

func (m *goldenMaker) token(text *string, address string) store.TokenID {
	n, err := m.CreateToken(ctx, address, "laptop", 300*day)
	if err != nil {
		m.t.Fatal(err)
	}
	*text = n.Secret.Reveal()
	return n.ID
}

// add creates a push and takes note of it.
func (m *goldenMaker) add(p goldenPush, change func(*store.NewPush)) store.PushInfo {
	m.t.Helper()
	m.Clock.Advance(time.Second)
	by := actorOf(m.t, m.Fixture, p.Owner)
	fill := func(in *store.NewPush) {
		in.Passphrase, in.Name, in.Note = secret.New(p.Passphrase), secret.New(p.Name), secret.New(p.Note)
		if len(p.Files) == 0 || p.Payload != "" {
			in.Payload = secret.New(p.Payload)
		}
		if change != nil {
			change(in)
		}
	}
	var made store.PushInfo
	if len(p.Files) > 0 {
		made = pushFiles(m.t, m.Fixture, by, fill, p.content()...)
	} else {
		made = push(m.t, m.Fixture, by, fill)
	}
	p.Token, p.Kind = made.Token.Reveal(), made.Kind.String()
	m.Pushes = append(m.Pushes, p)
	return made
}

// beforeTheKeyChanges makes a push that an older key of the ring seals.
func (m *goldenMaker) beforeTheKeyChanges() {
	m.add(goldenPush{What: "sealed under the first key of the ring", Owner: email, Payload: "an old secret", Name: "old", Note: "from the first month"},
		func(in *store.NewPush) { in.Days = ptr(90) })
	m.Clock.Advance(31 * day)
	m.sweep()
	m.Clock.Advance(2 * time.Hour) // from when on the new key is in use
	for i := range m.Accounts {    // their sessions have ended meanwhile
		a := &m.Accounts[i]
		if a.Disabled {
			a.Session = ""
			continue
		}
		n, err := m.SignIn(ctx, nobody, a.Email, secret.New(right))
		if err == nil && n.Pending {
			m.Clock.Advance(time.Minute)
			n, err = m.SignInCode(ctx, nobody, n.Secret, codeAt(m.t, m.Fixture, secret.New(a.TOTP), 0))
		}
		if err != nil {
			m.t.Fatal(err)
		}
		a.Session = n.Secret.Reveal()
	}
}

func (m *goldenMaker) sweep() {
	m.t.Helper()
	if _, err := m.Sweep(ctx); err != nil {
		m.t.Fatal(err)
	}
}

// pushes are of every kind but files, in every state.
func (m *goldenMaker) pushes() {
	m.add(goldenPush{What: "of nobody", Payload: "nobody's secret"}, nil)
	m.add(goldenPush{What: "owned", Owner: email, Payload: "ann's secret", Name: "for the printer", Note: "third floor"}, nil)
	m.add(goldenPush{What: "with a passphrase", Payload: "a protected secret", Passphrase: damagePassphrase}, nil)
	m.add(goldenPush{What: "owned, with a passphrase", Owner: "bob@example.com", Payload: "bob's secret", Passphrase: damagePassphrase}, nil)
	m.add(goldenPush{What: "a URL", Payload: "https://example.com/a"}, func(in *store.NewPush) { in.Kind = store.URL })
	m.add(goldenPush{What: "a QR code", Payload: "shown as a code"}, func(in *store.NewPush) { in.Kind = store.QR })
	m.add(goldenPush{What: "long", Owner: email, Payload: strings.Repeat("a secret of several pages. ", 400)}, nil)
	gone := m.add(goldenPush{What: "deleted", Owner: email}, func(in *store.NewPush) { in.Payload = secret.New("a deleted secret") })
	if _, err := m.DeletePush(ctx, actorOf(m.t, m.Fixture, email), gone.Token); err != nil {
		m.t.Fatal(err)
	}
	m.add(goldenPush{What: "expired by time", Owner: email}, func(in *store.NewPush) {
		in.Payload, in.Lifetime = secret.New("an expired secret"), time.Minute
	})
	seen := m.add(goldenPush{What: "viewed up"}, func(in *store.NewPush) { in.Payload, in.Views = secret.New("seen once"), ptr(1) })
	retrieve(m.t, m.Fixture, nobody, seen)
	m.Clock.Advance(2 * time.Minute)
	m.sweep()
}

// files are of a push that was not retrieved, of one with a grant, and of one whose
// last view left them to its grant.
func (m *goldenMaker) files() {
	few := []goldenFile{{"file 0.bin", 1, 1000}, {"file 1.bin", 2, seal.ChunkSize + 5000}}
	m.add(goldenPush{What: "files", Owner: email, Payload: "and a text", Files: few, Name: "papers"}, nil)
	granted := m.add(goldenPush{What: "files with a grant", Owner: email, Files: []goldenFile{{"file 0.bin", 3, 3000}}}, nil)
	m.Pushes[len(m.Pushes)-1].Grant = grantOf(m.t, m.Fixture, nobody, granted).Grant.Reveal()
	last := m.add(goldenPush{What: "files of a last view", Owner: "bob@example.com", Files: []goldenFile{{"file 0.bin", 4, 2000}}},
		func(in *store.NewPush) { in.Views = ptr(1) })
	m.Pushes[len(m.Pushes)-1].Grant = grantOf(m.t, m.Fixture, nobody, last).Grant.Reveal()
}

// leftovers are chunks of an upload that was cut off.
func (m *goldenMaker) leftovers() {
	u := m.NewUpload() // that is not closed, as when the process is killed
	if err := u.Add(ctx, bytes.NewReader(content(9, 20_000))); err != nil {
		m.t.Fatal(err)
	}
}

// hooks is one, which the views after it are told to.
func (m *goldenMaker) hooks() {
	if _, err := m.AddHook(ctx, email, secret.New(goldenHook), []store.Event{store.EventView, store.EventFailedPassphrase}); err != nil {
		m.t.Fatal(err)
	}
	m.golden.Hooks = 1
}

// views are counted, and passphrases guessed.
func (m *goldenMaker) views() {
	for i := range m.Pushes {
		p := m.Pushes[i]
		if p.What != "owned" && p.What != "of nobody" && p.Passphrase == "" {
			continue
		}
		by := store.Actor{Client: "198.51.100.7", IP: "198.51.100.7", UserAgent: "Reader/2.0", Referrer: "https://chat.example.com/"}
		for range 2 {
			if _, err := m.Retrieve(ctx, by, p.token(m.t), secret.New(p.Passphrase)); err != nil {
				m.t.Fatal(err)
			}
		}
		if p.Passphrase != "" {
			_, _ = m.Retrieve(ctx, by, p.token(m.t), secret.New("not this one")) // it fails, and leaves an entry
		}
	}
}

// tell takes note of the states and counts that have come of all that.
func (m *goldenMaker) tell() {
	for i := range m.Pushes {
		p := &m.Pushes[i]
		got, err := m.Look(ctx, p.token(m.t))
		if err != nil {
			m.t.Fatal(err)
		}
		p.State, p.Views, m.golden.Waiting = got.State, got.Views, m.Fixture.Waiting()
		m.Views, m.Entries = m.Views+got.Views, m.Entries+int(got.Seq)
		if p.Owner != "" {
			p.Audit = strings.TrimSpace(entryKinds(m.t, m.Fixture, actorOf(m.t, m.Fixture, p.Owner), got))
		}
	}
	for i := range m.Accounts {
		a := &m.Accounts[i]
		if a.Session == "" {
			continue
		}
		list, err := m.Fixture.Sessions(ctx, a.session())
		if err != nil {
			m.t.Fatal(err)
		}
		a.Sessions = len(list)
	}
}

// schemaOf finds the schema number in a file: behind its name.
func schemaOf(t *testing.T, image []byte) int {
	t.Helper()
	name := []byte("schema\x00\x00")
	i := bytes.Index(image, name)
	if i < 0 {
		t.Fatal("the file has no schema number")
	}
	return int(binary.BigEndian.Uint32(image[i+len("schema"):]))
}

func (m *goldenMaker) write(dir string, image []byte, work string) {
	m.Schema = schemaOf(m.t, image)
	key, err := os.ReadFile(filepath.Join(work, goldenKey))
	if err != nil {
		m.t.Fatal(err)
	}
	says, err := json.MarshalIndent(m.golden, "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for name, b := range map[string][]byte{goldenDatabase: image, goldenKey: key, goldenSays: append(says, '\n')} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Logf("%s: schema %d, %d bytes, %d pushes", dir, m.Schema, len(image), len(m.Pushes))
}
