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

// A maker fills a database with every kind of record in every state.
type maker struct {
	storetest.Furnished
	t    *testing.T
	says expectation
}

// A database of the present schema opens with all its content too. With -update the test
// keeps it, unless there is one: those of a release stay as that release wrote them.
func TestMakeAGoldenDatabase(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	env.Must(seal.CreateKeyFile(filepath.Join(work, storetest.KeyFile)))(t)
	f := storetest.OpenDir(t, work, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	m := &maker{Furnished: storetest.Furnished{Fixture: f, T: t}, t: t}
	defer func() { _ = m.Close(ctx) }()
	m.beforeTheKeyChanges()
	m.Furnish()
	m.hooks()
	m.newcomer()
	m.requests()
	m.says.Once = m.Send(storetest.Sent{What: "made once"}, func(in *store.NewPush) { in.Repeat = once }).Token.Reveal()
	m.views() // last, so that they are still in the journal
	m.says.At = m.Clock.Now()
	image := env.Read(t, m.Path)
	m.record()
	wantContent(t, m.write(image[:storetest.UsedBytes(image)], work))
}

// beforeTheKeyChanges makes a push that an older key of the ring seals.
func (m *maker) beforeTheKeyChanges() {
	m.Send(storetest.Sent{What: "sealed under the first key of the ring"}, func(in *store.NewPush) { in.Days = new(90) })
	m.Clock.Advance(31 * day)
	env.Must(m.Sweep(ctx))(m.t)
	m.Clock.Advance(2 * time.Hour) // then the new key is in use
}

// hooks adds a webhook, which gets messages about the views after it.
func (m *maker) hooks() {
	env.Must(m.AddHook(ctx, storetest.Operator, storetest.Email, store.NewHook{URL: secret.New(hookURL), Events: []record.Event{record.EventView, record.EventFailedPassphrase}}))(m.t)
	m.says.Hooks = 1
}

// newcomer signs up, and has a code sent to the address, which waits.
func (m *maker) newcomer() {
	n := newcomer{Email: "dora@example.com", Password: storetest.Password}
	env.Must(m.SignUp(ctx, storetest.Anonymous, n.Email, secret.New(n.Password)))(m.t)
	s := env.Must(m.SignIn(ctx, storetest.Anonymous, n.Email, secret.New(n.Password)))(m.t)
	env.OK(m.t, m.MailCode(ctx, storetest.Anonymous, s.Secret, ""))
	n.Code = mailedCode(m.t, m.Fixture)
	m.says.Newcomer = &n
}

// requests adds a request that was answered and takes more, and one that has ended.
func (m *maker) requests() {
	by := m.By(m.t, storetest.Email)
	for _, r := range []request{{Owner: storetest.Email, Text: "the password of the printer", Answers: []string{"1234"}}, {Owner: storetest.Email, Text: "the door code", Ended: true}} {
		m.Clock.Advance(time.Second)
		made := env.Must(m.CreateRequest(ctx, by, store.NewRequest{Text: secret.New(r.Text), MaxAnswers: new(2)}))(m.t)
		for _, answer := range r.Answers {
			env.Must(m.CreatePush(ctx, storetest.Anonymous, store.NewPush{Kind: record.Text, Payload: secret.New(answer), Request: made.Token}))(m.t)
		}
		if r.Ended {
			env.Must(m.EndRequest(ctx, by, made.ID))(m.t)
		}
		r.Token = made.Token.Reveal()
		m.says.Requests = append([]request{r}, m.says.Requests...)
	}
}

// mailedCode returns the code in a mail that waits.
func mailedCode(t *testing.T, f *storetest.Fixture) (code string) {
	t.Helper()
	due, _, err := f.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: 9})
	env.OK(t, err)
	for _, m := range due {
		l, _, err := f.OpenMail(ctx, m)
		env.OK(t, err)
		code += l.Code.Reveal()
	}
	return code
}

// views retrieves pushes, and guesses passphrases.
func (m *maker) views() {
	by := store.Actor{Client: "198.51.100.7", IP: "198.51.100.7", UserAgent: "Reader/2.0", Referrer: secret.New("https://chat.example.com/")}
	for _, p := range m.Sent {
		if p.What != "a text" && p.Passphrase == "" {
			continue
		}
		for range 2 {
			env.Must(m.Retrieve(ctx, by, p.Link(), secret.New(p.Passphrase), nil))(m.t)
		}
		if p.Passphrase != "" {
			_, _ = m.Retrieve(ctx, by, p.Link(), secret.New("not this one"), nil) // it fails, and leaves an entry
		}
	}
}

// record records the states and counts of all pushes, and the length of the instance log.
func (m *maker) record() {
	says := &m.says
	says.Events = len(env.Must(m.AdminEvents(ctx, time.Time{}, 0, record.MaxAdminEvents))(m.t))
	says.Waiting = m.Waiting()
	for _, p := range m.Sent {
		got := env.Must(m.Look(ctx, p.Link()))(m.t)
		p.State, p.Views = got.State, got.Views
		says.Views, says.Entries = says.Views+got.Views, says.Entries+int(got.Seq)
		if p.Owner != "" {
			p.Audit = strings.TrimSpace(storetest.EntryKinds(m.t, m.Fixture, m.By(m.t, p.Owner), got.PushInfo))
		}
		says.Pushes = append(says.Pushes, p)
	}
	for _, a := range m.Members {
		if a.Session != "" {
			a.Sessions = len(env.Must(m.Sessions(ctx, secret.New(a.Session)))(m.t))
		}
		says.Accounts = append(says.Accounts, a)
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

// write writes the database with its key and what it contains to a directory, which it returns.
func (m *maker) write(image []byte, work string) (dir string) {
	m.says.Schema = schemaOf(m.t, image)
	dir = m.t.TempDir()
	if update.Update() {
		dir = filepath.Join(databases, fmt.Sprintf("schema-%d", m.says.Schema))
	}
	if _, err := os.Stat(dir); update.Update() && err == nil {
		m.t.Skip(dir + " is there, and stays as it is")
	}
	key := env.Read(m.t, filepath.Join(work, storetest.KeyFile))
	says, err := json.MarshalIndent(m.says, "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for name, b := range map[string][]byte{databaseFile: image, storetest.KeyFile: key, expectationFile: append(says, '\n')} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
	}
	env.OK(m.t, err)
	m.t.Logf("%s: schema %d, %d bytes, %d pushes", dir, m.says.Schema, len(image), len(m.Sent))
	return dir
}
