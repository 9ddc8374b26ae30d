package golden

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	update "pushbox/internal/testkit/golden"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// passphrase protects the pushes that have a passphrase.
const passphrase = "open sesame, please"

// A maker fills a database with every kind of record in every state.
type maker struct {
	*storetest.Fixture
	t *testing.T
	expectation
}

// With -update the test makes the database of the present schema, unless it exists: the
// databases of a release stay as that release wrote them.
func TestMakeAGoldenDatabase(t *testing.T) {
	t.Parallel()
	if !update.Update() {
		t.Skip("it makes a database only with -update")
	}
	work := t.TempDir()
	env.Must(seal.CreateKeyFile(filepath.Join(work, storetest.KeyFile)))(t)
	m := &maker{Fixture: storetest.OpenDir(t, work, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil), t: t}
	defer func() { _ = m.Close(ctx) }()
	m.accounts()
	m.beforeTheKeyChanges()
	m.pushes()
	m.files()
	m.leftovers()
	m.hooks()
	m.newcomer()
	m.requests()
	m.views() // last, so that they are still in the journal
	m.At = m.Clock.Now()
	image := env.Read(t, m.Path)
	m.record()
	m.write(image[:storetest.UsedBytes(image)], work)
}

// accounts adds one account with a second factor, one without, and a disabled one.
func (m *maker) accounts() {
	ann := account{Email: storetest.Email, Password: storetest.Password}
	storetest.AddMember(m.t, m.Fixture, storetest.Email)
	session := storetest.SignIn(m.t, m.Fixture)
	totp, recovery := storetest.EnableTOTP(m.t, m.Fixture, &session)
	ann.TOTP, ann.Session = totp.Reveal(), session.Secret.Reveal()
	for _, code := range recovery {
		ann.Recovery = append(ann.Recovery, code.Reveal())
	}
	storetest.SignIn(m.t, m.Fixture) // and leave the session pending
	m.token(&ann.Token, storetest.Email)
	revoked := m.token(&ann.Revoked, storetest.Email)
	env.OK(m.t, m.RevokeToken(ctx, storetest.Operator, revoked))
	others := []account{{Email: "bob@example.com", Password: storetest.Password}, {Email: "carol@example.com", Password: storetest.Password, Disabled: true}}
	for i := range others {
		a := &others[i]
		storetest.AddMember(m.t, m.Fixture, a.Email)
		n := env.Must(m.SignIn(ctx, storetest.Anonymous, a.Email, secret.New(storetest.Password)))(m.t)
		a.Session = n.Secret.Reveal()
		if !a.Disabled {
			a.Subject = "0123456789"
			env.Must(m.SignInAs(ctx, storetest.Anonymous, a.external()))(m.t)
		}
		m.token(&a.Token, a.Email)
		if a.Disabled {
			env.OK(m.t, m.SetDisabled(ctx, storetest.Operator, a.Email, true))
		}
	}
	m.Accounts = append([]account{ann}, others...)
}

func (m *maker) token(text *string, address string) record.TokenID {
	n := env.Must(m.CreateToken(ctx, storetest.Operator, address, store.TokenTerms{Label: "laptop", Lifetime: 300 * day}))(m.t)
	*text = n.Secret.Reveal()
	return n.ID
}

// add creates a push and records it.
func (m *maker) add(p push, change func(*store.NewPush)) store.PushInfo {
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
		made = storetest.PushFiles(m.t, m.Fixture, by, fill, p.content()...)
	} else {
		made = storetest.Push(m.t, m.Fixture, by, fill)
	}
	p.Token, p.Kind = made.Token.Reveal(), made.Kind.String()
	m.Pushes = append(m.Pushes, p)
	return made
}

// beforeTheKeyChanges makes a push that an older key of the ring seals.
func (m *maker) beforeTheKeyChanges() {
	m.add(push{What: "sealed under the first key of the ring", Owner: storetest.Email, Payload: "an old secret", Name: "old", Note: "from the first month"},
		func(in *store.NewPush) { in.Days = new(90) })
	m.Clock.Advance(31 * day)
	m.sweep()
	m.Clock.Advance(2 * time.Hour) // then the new key is in use
	for i := range m.Accounts {    // their sessions have ended by now
		a := &m.Accounts[i]
		if a.Disabled {
			a.Session = ""
			continue
		}
		n, err := m.SignIn(ctx, storetest.Anonymous, a.Email, secret.New(storetest.Password))
		if err == nil && n.Pending {
			m.Clock.Advance(time.Minute)
			n, err = m.SignInCode(ctx, storetest.Anonymous, n.Secret, storetest.Code(m.t, m.Fixture, secret.New(a.TOTP), 0))
		}
		env.OK(m.t, err)
		a.Session = n.Secret.Reveal()
	}
}

func (m *maker) sweep() {
	m.t.Helper()
	env.Must(m.Sweep(ctx))(m.t)
}

// pushes creates pushes of every kind but files, in every state.
func (m *maker) pushes() {
	m.add(push{What: "without an owner", Payload: "an anonymous secret"}, nil)
	m.add(push{What: "owned", Owner: storetest.Email, Payload: "ann's secret", Name: "for the printer", Note: "third floor"}, nil)
	m.add(push{What: "with a passphrase", Payload: "a protected secret", Passphrase: passphrase}, nil)
	m.add(push{What: "owned, with a passphrase", Owner: "bob@example.com", Payload: "bob's secret", Passphrase: passphrase}, nil)
	m.add(push{What: "a URL", Payload: "https://example.com/a"}, func(in *store.NewPush) { in.Kind = record.URL })
	m.add(push{What: "a QR code", Payload: "shown as a code"}, func(in *store.NewPush) { in.Kind = record.QR })
	m.add(push{What: "long", Owner: storetest.Email, Payload: strings.Repeat("a secret of several pages. ", 400)}, nil)
	gone := m.add(push{What: "deleted", Owner: storetest.Email}, func(in *store.NewPush) { in.Payload = secret.New("a deleted secret") })
	env.Must(m.DeletePush(ctx, actorOf(m.t, m.Fixture, storetest.Email), gone.Token))(m.t)
	m.add(push{What: "expired by time", Owner: storetest.Email}, func(in *store.NewPush) {
		in.Payload, in.Lifetime = secret.New("an expired secret"), time.Minute
	})
	seen := m.add(push{What: "viewed up"}, func(in *store.NewPush) { in.Payload, in.Views = secret.New("seen once"), new(1) })
	storetest.Retrieve(m.t, m.Fixture, storetest.Anonymous, seen)
	m.Clock.Advance(2 * time.Minute)
	m.sweep()
}

// files creates a push that is not retrieved, one with a grant, and one whose last view
// left its files to its grant.
func (m *maker) files() {
	few := []file{{"file 0.bin", 1, 1000}, {"file 1.bin", 2, seal.ChunkSize + 5000}}
	m.add(push{What: "files", Owner: storetest.Email, Payload: "and a text", Files: few, Name: "papers"}, nil)
	granted := m.add(push{What: "files with a grant", Owner: storetest.Email, Files: []file{{"file 0.bin", 3, 3000}}}, nil)
	m.Pushes[len(m.Pushes)-1].Grant = storetest.Grant(m.t, m.Fixture, storetest.Anonymous, granted).Grant.Reveal()
	last := m.add(push{What: "files of a last view", Owner: "bob@example.com", Files: []file{{"file 0.bin", 4, 2000}}},
		func(in *store.NewPush) { in.Views = new(1) })
	m.Pushes[len(m.Pushes)-1].Grant = storetest.Grant(m.t, m.Fixture, storetest.Anonymous, last).Grant.Reveal()
}

// leftovers adds chunks of an upload that was cut off.
func (m *maker) leftovers() {
	u := m.NewUpload(m.Policy("")) // not closed, as when the process is killed
	env.OK(m.t, u.Add(ctx, bytes.NewReader(storetest.Content(9, 20_000))))
}

// hooks adds a webhook, which gets messages about the views after it.
func (m *maker) hooks() {
	env.Must(m.AddHook(ctx, storetest.Operator, storetest.Email, secret.New(hookURL), []record.Event{record.EventView, record.EventFailedPassphrase}))(m.t)
	m.expectation.Hooks = 1
}

// newcomer signs up, and has a code sent to the address, which waits.
func (m *maker) newcomer() {
	n := newcomer{Email: "dora@example.com", Password: storetest.Password}
	env.Must(m.SignUp(ctx, storetest.Anonymous, n.Email, secret.New(n.Password)))(m.t)
	s := env.Must(m.SignIn(ctx, storetest.Anonymous, n.Email, secret.New(n.Password)))(m.t)
	env.OK(m.t, m.MailCode(ctx, storetest.Anonymous, s.Secret, ""))
	n.Code = mailedCode(m.t, m.Fixture)
	m.Newcomer = &n
}

// requests adds a request that was answered and takes more, and one that has ended.
func (m *maker) requests() {
	by := actorOf(m.t, m.Fixture, m.Newcomer.Email)
	for _, r := range []request{{Text: "the password of the printer", Answers: []string{"1234"}}, {Text: "the door code", Ended: true}} {
		m.Clock.Advance(time.Second)
		made := env.Must(m.CreateRequest(ctx, by, store.NewRequest{Text: secret.New(r.Text), MaxAnswers: new(2)}))(m.t)
		for _, answer := range r.Answers {
			env.Must(m.CreatePush(ctx, storetest.Anonymous, store.NewPush{Kind: record.Text, Payload: secret.New(answer), Request: made.Token}))(m.t)
		}
		if r.Ended {
			env.Must(m.EndRequest(ctx, by, made.ID))(m.t)
		}
		r.Token = made.Token.Reveal()
		m.Requests = append([]request{r}, m.Requests...)
	}
}

// mailedCode returns the code in the one mail that waits.
func mailedCode(t *testing.T, f *storetest.Fixture) string {
	t.Helper()
	due, _, err := f.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: 9})
	if err != nil || len(due) != 1 {
		t.Fatalf("%d mails wait, %v", len(due), err)
	}
	l, wanted, err := f.OpenMail(ctx, due[0])
	if err != nil || !wanted {
		t.Fatalf("the code is to be sent: %v, %v", wanted, err)
	}
	return l.Code.Reveal()
}

// views retrieves pushes, and guesses passphrases.
func (m *maker) views() {
	for i := range m.Pushes {
		p := m.Pushes[i]
		if p.What != "owned" && p.What != "without an owner" && p.Passphrase == "" {
			continue
		}
		by := store.Actor{Client: "198.51.100.7", IP: "198.51.100.7", UserAgent: "Reader/2.0", Referrer: secret.New("https://chat.example.com/")}
		for range 2 {
			env.Must(m.Retrieve(ctx, by, p.token(m.t), secret.New(p.Passphrase), nil))(m.t)
		}
		if p.Passphrase != "" {
			_, _ = m.Retrieve(ctx, by, p.token(m.t), secret.New("not this one"), nil) // it fails, and leaves an entry
		}
	}
}

// record records the states and counts of all pushes, and the length of the instance log.
func (m *maker) record() {
	events := env.Must(m.AdminEvents(ctx, time.Time{}, 0, record.MaxAdminEvents))(m.t)
	m.Events = len(events)
	for i := range m.Pushes {
		p := &m.Pushes[i]
		got := env.Must(m.Look(ctx, p.token(m.t)))(m.t)
		p.State, p.Views, m.expectation.Waiting = got.State, got.Views, m.Fixture.Waiting()
		m.Views, m.Entries = m.Views+got.Views, m.Entries+int(got.Seq)
		if p.Owner != "" {
			p.Audit = strings.TrimSpace(storetest.EntryKinds(m.t, m.Fixture, actorOf(m.t, m.Fixture, p.Owner), got.PushInfo))
		}
	}
	for i := range m.Accounts {
		a := &m.Accounts[i]
		if a.Session == "" {
			continue
		}
		list := env.Must(m.Fixture.Sessions(ctx, a.session()))(m.t)
		a.Sessions = len(list)
	}
}

// schemaOf finds the schema number in a file, behind its name; the highest, since a free
// page may have an earlier one.
func schemaOf(t *testing.T, image []byte) (schema int) {
	t.Helper()
	name := []byte("schema\x00\x00")
	for i := bytes.Index(image, name); i >= 0; i = bytes.Index(image, name) {
		image = image[i+len("schema"):]
		schema = max(schema, int(binary.BigEndian.Uint32(image)))
	}
	if schema == 0 {
		t.Fatal("the file has no schema number")
	}
	return schema
}

func (m *maker) write(image []byte, work string) {
	m.Schema = schemaOf(m.t, image)
	dir := filepath.Join(databases, fmt.Sprintf("schema-%d", m.Schema))
	if _, err := os.Stat(dir); err == nil {
		m.t.Skip(dir + " is there, and stays as it is")
	}
	key := env.Read(m.t, filepath.Join(work, storetest.KeyFile))
	says, err := json.MarshalIndent(m.expectation, "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for name, b := range map[string][]byte{databaseFile: image, storetest.KeyFile: key, expectationFile: append(says, '\n')} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
	}
	env.OK(m.t, err)
	m.t.Logf("%s: schema %d, %d bytes, %d pushes", dir, m.Schema, len(image), len(m.Pushes))
}
