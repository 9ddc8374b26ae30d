package storetest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// Operator is the administrator in tests.
var Operator = store.Actor{Role: store.Operator}

// The account that SignIn signs in to.
const (
	Email    = "ann@example.com"
	Password = "correct horse battery"
)

// KeyFile is the name of the root key's file beside a database that OpenDir opens.
const KeyFile = "master.key"

// Anonymous is a client without an account.
var Anonymous = store.Actor{Client: "192.0.2.9", IP: "192.0.2.9"}

var ctx = context.Background()

// OpenDir opens the store whose database and root key are the files pushbox.db and
// master.key in dir, at the time at. The caller closes and checks it.
func OpenDir(t testing.TB, dir string, at time.Time, options func(*bolt.Options)) *Fixture {
	t.Helper()
	f := newFixture(t, filepath.Join(dir, "pushbox.db"))
	f.Clock.Jump(at.Sub(f.Clock.Now()))
	o := &f.setup
	o.KeyFile = filepath.Join(dir, KeyFile)
	o.Root.File = o.KeyFile
	o.Hooks.Queue = 100
	o.Mail = store.MailOptions{Languages: []string{"en"}, MaxRecipients: 5, PerAccount: 10, PerInstance: 15, PerAddressee: 5, GiveUp: 24 * time.Hour}
	if options != nil {
		options(&o.Engine)
	}
	f.open()
	return f
}

// Push creates a text push, which change may alter first.
func Push(t testing.TB, f *Fixture, by store.Actor, change func(*store.NewPush)) store.PushInfo {
	t.Helper()
	in := store.NewPush{Kind: record.Text, Payload: secret.New("s3cret")}
	if change != nil {
		change(&in)
	}
	p, err := f.CreatePush(ctx, by, in)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return p
}

// PushFiles creates a push of files called "file 0.bin" and so on, which change may
// alter first.
func PushFiles(t testing.TB, f *Fixture, by store.Actor, change func(*store.NewPush), files ...[]byte) store.PushInfo {
	t.Helper()
	u := f.NewUpload(f.Policy(""))
	for i, c := range files {
		if err := u.Add(ctx, bytes.NewReader(c)); err != nil {
			t.Fatalf("file %d: %v", i, err)
		}
		u.Describe(fmt.Sprintf("file %d.bin", i), "text/plain")
	}
	in := store.NewPush{Kind: record.File, Files: u}
	if change != nil {
		change(&in)
	}
	p, err := f.CreatePush(ctx, by, in)
	if closeErr := u.Close(ctx); err != nil || closeErr != nil {
		t.Fatalf("create: %v, %v", err, closeErr)
	}
	return p
}

// Content returns size bytes that look random and depend only on seed.
func Content(seed uint64, size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

// Grant retrieves a push and returns it with the grant for its files.
func Grant(t testing.TB, f *Fixture, by store.Actor, p store.PushInfo) store.PushInfo {
	t.Helper()
	got, err := f.Store.Retrieve(ctx, by, p.Token, secret.Text{}, nil)
	if err != nil || got.Grant.IsZero() {
		t.Fatalf("retrieve: no grant, %v", err)
	}
	return got
}

// Retrieve retrieves a push and returns its payload, or "" if it delivers none.
func Retrieve(t testing.TB, f *Fixture, by store.Actor, p store.PushInfo) string {
	t.Helper()
	got, err := f.Store.Retrieve(ctx, by, p.Token, secret.Text{}, nil)
	if err != nil {
		t.Fatalf("retrieve: %v", err)
	}
	return got.Payload.Reveal()
}

// EntryKinds are the kinds of the entries of a push's audit log, each with a space
// behind it.
func EntryKinds(t testing.TB, f *Fixture, by store.Actor, p store.PushInfo) (kinds string) {
	t.Helper()
	log, err := f.Audit(ctx, by, p.Token, 1)
	if err != nil {
		t.Fatalf("audit: %v", err)
	}
	for _, e := range log {
		kinds += e.Kind.String() + " "
	}
	return kinds
}

// Download reads a whole file under a grant.
func Download(f *Fixture, grant secret.Text, file int) ([]byte, error) {
	d, err := f.Store.Download(ctx, grant, file)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return io.ReadAll(d)
}

// AddMember adds an account whose password is Password.
func AddMember(t testing.TB, f *Fixture, address string) record.Account {
	t.Helper()
	a, err := f.AddAccount(ctx, Operator, address, secret.New(Password))
	if err != nil {
		t.Fatalf("add account: %v", err)
	}
	return a
}

// SignIn begins a session of the account Email.
func SignIn(t testing.TB, f *Fixture) store.NewSession {
	t.Helper()
	n, err := f.Store.SignIn(ctx, Anonymous, Email, secret.New(Password))
	if err != nil {
		t.Fatalf("sign in: %v", err)
	}
	return n
}

// EnableTOTP gives the account of a session a second factor. The new session takes
// the place of the old one.
func EnableTOTP(t testing.TB, f *Fixture, session *store.NewSession) (key secret.Text, recovery []secret.Text) {
	t.Helper()
	setup, err := f.NewTOTP(ctx, session.Secret)
	env.OK(t, err)
	old := session.Secret
	*session, recovery, err = f.Store.EnableTOTP(ctx, Anonymous, old, secret.New(Password), store.Factor{}, setup.Secret, Code(t, f, setup.Secret, 0))
	env.OK(t, err)
	if _, err := f.Resume(ctx, old); !errors.Is(err, record.ErrSession) || session.Pending || !session.MFA {
		t.Errorf("the old session: %v; the new one: %+v", err, session.SessionInfo)
	}
	return setup.Secret, recovery
}

// Code is the code that an authenticator app shows d after the fixture's time
// (RFC 6238: HMAC-SHA1, 30 seconds, 6 digits).
func Code(t testing.TB, f *Fixture, key secret.Text, d time.Duration) secret.Text {
	t.Helper()
	raw := env.Must(base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(key.Reveal()))(t)
	mac := hmac.New(sha1.New, raw)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(f.Clock.Now().Add(d).Unix()/30)))
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	return secret.New(fmt.Sprintf("%06d", (binary.BigEndian.Uint32(sum[at:])&0x7fffffff)%1_000_000))
}

// UsedBytes returns how much of a database's file was ever used: the file grows in advance. Both
// header pages have the number in pages of 4 KiB.
func UsedBytes(image []byte) int {
	const (
		page   = 4096
		highAt = 16 + 40
	)
	return page * int(max(binary.NativeEndian.Uint64(image[highAt:]), binary.NativeEndian.Uint64(image[page+highAt:])))
}

// Told returns an event that the keys of a store open, for a change that a test makes in its
// engine. It is zero if the engine fails.
func Told(e record.Engine) (told record.AdminEvent) {
	if list, err := cold.AdminEvents(ctx, e, 0, 1); err == nil && len(list) > 0 {
		told = list[0]
	}
	return told
}
