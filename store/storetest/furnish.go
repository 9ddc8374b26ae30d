package storetest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// Passphrase is that of each furnished push that has one.
const Passphrase = "open sesame, please"

// A Furnished is a store with something of every kind, and what its users know of it.
type Furnished struct {
	*Fixture
	T       testing.TB
	Members []Member // after Furnish: one with a second factor, one without, and a disabled one
	Sent    []Sent
}

// A Member is an account, with what its user knows.
type Member struct {
	Email, Password string
	TOTP            string   `json:",omitempty"` // the secret of the second factor
	Recovery        []string `json:",omitempty"`
	Session         string   `json:",omitempty"`
	Sessions        int
	Token           string // of the API
	Revoked         string `json:",omitempty"` // a token that was revoked
	Disabled        bool
	Subject         string `json:",omitempty"` // by which a sign-in provider knows the account
}

// External is what the provider says of the account's user.
func (m Member) External() store.External {
	return store.External{
		Identity: record.Identity{Issuer: "https://id.example.com", Subject: m.Subject}, Provider: "Golden",
		Email: m.Email, Verified: true, Link: true,
	}
}

// A Sent is a push as its sender knows it.
type Sent struct {
	What       string // a description for people
	Token      string
	Owner      string `json:",omitempty"` // address
	Kind       string
	State      record.State
	Payload    string `json:",omitempty"`
	Passphrase string `json:",omitempty"`
	Name, Note string `json:",omitempty"`
	Views      int    // counted
	Audit      string // kinds of its entries; of owned ones
	Files      []File `json:",omitempty"`
	Grant      string `json:",omitempty"`

	Over bool `json:"-"` // nothing more may be delivered
}

// A File is Content(Seed, Size).
type File struct {
	Name string
	Seed uint64
	Size int
}

// Link is the token of the push.
func (s Sent) Link() store.Token {
	token, err := store.ParseToken(s.Token)
	if err != nil {
		panic(err)
	}
	return token
}

// Contents are the bytes of the files.
func (s Sent) Contents() (files [][]byte) {
	for _, f := range s.Files {
		files = append(files, Content(f.Seed, f.Size))
	}
	return files
}

// By returns the account of that address as an actor; Anonymous for "".
func (f *Fixture) By(t testing.TB, address string) store.Actor {
	t.Helper()
	for _, a := range env.Must(f.Accounts(ctx))(t) {
		if a.Email == address {
			return store.Actor{Account: a.ID, Client: "192.0.2.1", IP: "192.0.2.1", UserAgent: "Browser/1.0"}
		}
	}
	return Anonymous
}

// Furnish adds accounts, pushes of every kind in every state, and an upload that was cut
// off. The same random numbers give the same file.
func (f *Furnished) Furnish() {
	f.T.Helper()
	f.accounts()
	for _, owner := range []string{"", Email} {
		f.pushes(owner)
	}
	f.files()
	u := f.NewUpload(f.Policy("")) // not closed, as when the process is killed
	env.OK(f.T, u.Add(ctx, bytes.NewReader(Content(9, 20_000))))
}

func (f *Furnished) accounts() {
	for _, m := range []Member{{Email: Email}, {Email: "bob@example.com"}, {Email: "carol@example.com", Disabled: true}} {
		m.Password = Password
		AddMember(f.T, f.Fixture, m.Email)
		session := env.Must(f.SignIn(ctx, Anonymous, m.Email, secret.New(Password)))(f.T)
		switch {
		case m.Email == Email:
			totp, recovery := EnableTOTP(f.T, f.Fixture, &session)
			m.TOTP = totp.Reveal()
			for _, code := range recovery {
				m.Recovery = append(m.Recovery, code.Reveal())
			}
			SignIn(f.T, f.Fixture) // and leave the session pending
			env.OK(f.T, f.RevokeToken(ctx, Operator, f.token(&m.Revoked, m.Email)))
		case !m.Disabled:
			m.Subject = "0123456789"
			env.Must(f.SignInAs(ctx, Anonymous, m.External()))(f.T)
		}
		f.token(&m.Token, m.Email)
		if m.Disabled {
			env.OK(f.T, f.SetDisabled(ctx, Operator, m.Email, true))
		} else {
			m.Session = session.Secret.Reveal()
		}
		f.Members = append(f.Members, m)
	}
}

func (f *Furnished) token(text *string, address string) record.TokenID {
	n := env.Must(f.CreateToken(ctx, Operator, address, store.TokenTerms{Label: "laptop", Lifetime: 300 * 24 * time.Hour}))(f.T)
	*text = n.Secret.Reveal()
	return n.ID
}

// Send creates a push, which change may alter first, and keeps what is known of it.
func (f *Furnished) Send(s Sent, change func(*store.NewPush)) store.PushInfo {
	f.T.Helper()
	f.Clock.Advance(time.Millisecond)
	if s.Payload == "" && len(s.Files) == 0 {
		s.Payload = fmt.Sprintf("the secret of push %d", len(f.Sent))
	}
	if s.Owner != "" {
		s.Name, s.Note = fmt.Sprintf("push number %d", len(f.Sent)), fmt.Sprintf("the note of push %d", len(f.Sent))
	}
	by := f.By(f.T, s.Owner)
	fill := func(in *store.NewPush) {
		in.Payload, in.Passphrase = secret.New(s.Payload), secret.New(s.Passphrase)
		in.Name, in.Note = secret.New(s.Name), secret.New(s.Note)
		if change != nil {
			change(in)
		}
	}
	var made store.PushInfo
	if len(s.Files) > 0 {
		made = PushFiles(f.T, f.Fixture, by, fill, s.Contents()...)
	} else {
		made = Push(f.T, f.Fixture, by, fill)
	}
	s.Token, s.Kind = made.Token.Reveal(), made.Kind.String()
	f.Sent = append(f.Sent, s)
	return made
}

// pushes creates pushes of every kind but files, in every state.
func (f *Furnished) pushes(owner string) {
	f.Send(Sent{What: "a text", Owner: owner}, nil)
	f.Send(Sent{What: "with a passphrase", Owner: owner, Passphrase: Passphrase}, nil)
	f.Send(Sent{What: "a URL", Owner: owner, Payload: "https://example.com/a"}, func(in *store.NewPush) { in.Kind = record.URL })
	f.Send(Sent{What: "a QR code", Owner: owner}, func(in *store.NewPush) { in.Kind = record.QR })
	f.Send(Sent{What: "long", Owner: owner, Payload: strings.Repeat("a secret of several pages. ", 400)}, nil)
	gone := f.Send(Sent{What: "deleted", Owner: owner, Over: true}, nil)
	late := f.Send(Sent{What: "expired by time", Owner: owner, Over: true}, func(in *store.NewPush) { in.Lifetime = time.Minute })
	seen := f.Send(Sent{What: "viewed up", Owner: owner, Over: true}, func(in *store.NewPush) { in.Views = new(1) })
	env.Must(f.DeletePush(ctx, f.By(f.T, owner), gone.Token))(f.T)
	Retrieve(f.T, f.Fixture, Anonymous, seen)
	f.Clock.Advance(2 * time.Minute)
	env.Must(f.Look(ctx, late.Token))(f.T)
}

// files creates a push that is not retrieved, one with a grant, and one whose last view
// left its files to its grant.
func (f *Furnished) files() {
	f.Send(Sent{What: "files", Owner: Email, Payload: "and a text", Files: []File{{"file 0.bin", 1, 1000}, {"file 1.bin", 2, seal.ChunkSize + 5000}}}, nil)
	f.granted(f.Send(Sent{What: "files with a grant", Owner: Email, Files: []File{{"file 0.bin", 3, 3000}}}, nil))
	f.granted(f.Send(Sent{What: "files of a last view", Owner: "bob@example.com", Files: []File{{"file 0.bin", 4, 2000}}, Over: true},
		func(in *store.NewPush) { in.Views = new(1) }))
}

func (f *Furnished) granted(p store.PushInfo) {
	f.Sent[len(f.Sent)-1].Grant = Grant(f.T, f.Fixture, Anonymous, p).Grant.Reveal()
}
