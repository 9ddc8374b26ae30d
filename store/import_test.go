package store_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

const dayLong = 24 * time.Hour

// oldToken is a url_token of another server.
func oldToken(t *testing.T, s string) store.Token {
	t.Helper()
	token, err := store.ParseToken(s)
	env.OK(t, err)
	return token
}

// fromElsewhere returns a push to import, which is ten days old and has one of three views left.
func fromElsewhere(t *testing.T, f *storetest.Fixture, owner record.AccountID) store.ImportedPush {
	created := f.Clock.Now().Add(-10 * dayLong)
	entry := func(k record.EntryKind, hours time.Duration) store.LogEntry {
		return store.LogEntry{Kind: k, At: created.Add(hours * time.Hour), IP: "192.0.2.7", UserAgent: "curl/8", Referrer: secret.New("https://example.com/")}
	}
	return store.ImportedPush{
		Token: oldToken(t, "abc123-xyz"), Owner: owner, Kind: record.Text,
		Payload: secret.New("the secret"), Name: secret.New("a name"), Note: secret.New("a note"),
		CreatedAt: created, Days: 365, Views: 3, RetrievalStep: true, DeletableByViewer: true,
		Log: []store.LogEntry{
			entry(record.EntryCreation, 0), entry(record.EntryView, 1), entry(record.EntryFailedPassphrase, 2), entry(record.EntryView, 3),
		},
	}
}

// errInvalid represents every *record.InvalidError.
var errInvalid = new(record.InvalidError)

func fails(err, want error) bool {
	if want == errInvalid {
		return errors.As(err, new(*record.InvalidError))
	}
	return errors.Is(err, want)
}

func mustImport(t *testing.T, f *storetest.Fixture, in store.ImportedPush) {
	t.Helper()
	env.OK(t, f.ImportPush(ctx, storetest.Operator, in))
}

func TestAnImportedPushGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account(email)
	in := fromElsewhere(t, f, ann.Account)
	mustImport(t, f, in)
	f.Reopen()

	list, err := f.Pushes(ctx, ann, true, 1)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d pushes, %v", len(list), err)
	}
	p := list[0]
	if p.URLToken() != "abc123-xyz" || p.Name.Reveal() != "a name" || p.Note.Reveal() != "a note" || p.Views != 2 || p.ViewsRemaining() != 1 ||
		p.Days != 365 || !p.CreatedAt.Equal(in.CreatedAt) || !p.ExpiresAt.Equal(in.CreatedAt.Add(365*dayLong)) || !p.RetrievalStep || !p.DeletableByViewer {
		t.Errorf("the push is %+v", p)
	}
	if got := storetest.Retrieve(t, f, storetest.Anonymous, p); got != "the secret" {
		t.Errorf("its payload is %q", got)
	}
	if got := storetest.Retrieve(t, f, storetest.Anonymous, p); got != "" {
		t.Error("it was delivered beyond its limit")
	}
	if list, err = f.Pushes(ctx, ann, false, 1); err != nil || len(list) != 1 {
		t.Fatalf("%d expired pushes, %v", len(list), err)
	}
	log, err := f.Audit(ctx, ann, list[0].Handle(), 1)
	env.OK(t, err)
	var kinds []string
	for _, e := range log {
		kinds = append(kinds, e.Kind.String())
	}
	if got := strings.Join(kinds, " "); got != "creation view failed_passphrase view view failed_view" {
		t.Errorf("its log has %s", got)
	}
	if e := log[1]; e.IP != "192.0.2.7" || e.UserAgent != "curl/8" || e.Referrer.Reveal() != "https://example.com/" || !e.At.Equal(in.Log[1].At) {
		t.Errorf("an entry is %+v", e)
	}
}

func TestAPushIsImportedOnce(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*storetest.Fixture, store.ImportedPush){
		"live": func(*storetest.Fixture, store.ImportedPush) {},
		"ended and swept": func(f *storetest.Fixture, in store.ImportedPush) {
			if _, err := f.DeletePush(ctx, storetest.Anonymous, in.Token); err != nil {
				t.Error(err)
			}
			f.Clock.Advance(200 * dayLong)
			f.SweepAll()
		},
	} {
		f := storetest.New(t)
		in := fromElsewhere(t, f, 0)
		mustImport(t, f, in)
		end(f, in)
		if err := f.ImportPush(ctx, storetest.Operator, in); !errors.Is(err, record.ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
		if there, err := f.Imported(ctx, in.Token); err != nil || !there {
			t.Errorf("%s: imported is %v, %v", name, there, err)
		}
	}
}

func TestTheRecordOfAnImportedPushGoesAfterItsTimeLimit(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	in := fromElsewhere(t, f, 0)
	mustImport(t, f, in)
	if _, err := f.DeletePush(ctx, storetest.Anonymous, in.Token); err != nil {
		t.Fatal(err)
	}
	f.Clock.Advance(355*dayLong + 25*time.Hour) // it was ten days old
	f.SweepAll()
	if there, err := f.Imported(ctx, in.Token); err != nil || there {
		t.Errorf("imported is %v, %v", there, err)
	}
	if err := f.ImportPush(ctx, storetest.Operator, in); !errors.Is(err, store.ErrEnded) {
		t.Error(err)
	}
}

func TestWhatCannotBeImported(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	views := func(n int) func(*store.ImportedPush) {
		return func(in *store.ImportedPush) { in.Views = n }
	}
	failedViews := func(n int) func(*store.ImportedPush) {
		return func(in *store.ImportedPush) {
			in.Log = slices.Repeat([]store.LogEntry{{Kind: record.EntryFailedView, At: in.CreatedAt}}, n)
		}
	}
	texts := func(payload, name, note, passphrase int) func(*store.ImportedPush) { // beyond the bounds
		of := func(n int) secret.Text { return secret.New(strings.Repeat("x", n)) }
		return func(in *store.ImportedPush) {
			in.Payload, in.Name = of(store.MaxText+payload), of(store.MaxName+name)
			in.Note, in.Passphrase = of(store.MaxNote+note), of(store.MaxPassphrase+passphrase)
		}
	}
	for name, c := range map[string]struct {
		change func(*store.ImportedPush)
		want   error
	}{
		"all views used":    {views(2), store.ErrEnded},
		"one view left":     {views(3), nil},
		"no views":          {views(0), errInvalid},
		"most views":        {views(1_000_000), nil},
		"too many views":    {views(1_000_001), errInvalid},
		"time over":         {func(in *store.ImportedPush) { in.Days = 9 }, store.ErrEnded},
		"a day left":        {func(in *store.ImportedPush) { in.Days = 11 }, nil},
		"too many days":     {func(in *store.ImportedPush) { in.Days = 36501 }, errInvalid},
		"no kind":           {func(in *store.ImportedPush) { in.Kind = 0 }, errInvalid},
		"no file":           {func(in *store.ImportedPush) { in.Kind = record.File }, errInvalid},
		"longest texts":     {texts(0, 0, 0, 0), nil},
		"too long a text":   {texts(1, 0, 0, 0), errInvalid},
		"too long a name":   {texts(0, 1, 0, 0), errInvalid},
		"too long a note":   {texts(0, 0, 1, 0), errInvalid},
		"too long a phrase": {texts(0, 0, 0, 1), errInvalid},
		"a token of ours":   {func(in *store.ImportedPush) { in.Token = store.NewToken(in.CreatedAt) }, record.ErrDenied},
		"unknown owner":     {func(in *store.ImportedPush) { in.Owner = 99 }, record.ErrToken},
		"longest log":       {failedViews(50_000), nil},
		"too long a log":    {failedViews(50_001), errInvalid},
		"unknown entry":     {func(in *store.ImportedPush) { in.Log[1].Kind = 99 }, errInvalid},
		"without a log":     {func(in *store.ImportedPush) { in.Log = nil }, nil},
		"of another server": {func(*store.ImportedPush) {}, nil},
	} {
		in := fromElsewhere(t, f, 0)
		in.Token = oldToken(t, "token-of-"+strings.ReplaceAll(name, " ", "-"))
		c.change(&in)
		if err := f.ImportPush(ctx, storetest.Operator, in); !fails(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	in := fromElsewhere(t, f, 0)
	if err := f.ImportPush(ctx, f.Account(email), in); !errors.Is(err, record.ErrDenied) {
		t.Errorf("by an account: %v", err)
	}
}

func TestImportedFilesAndPassphrase(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	in := fromElsewhere(t, f, f.Account(email).Account)
	content := storetest.Content(1, 200_000)
	in.Kind, in.Payload, in.Passphrase = record.File, secret.Text{}, secret.New("open sesame")
	in.Files = f.NewImportedUpload(in.Token)
	env.OK(t, in.Files.Add(ctx, bytes.NewReader(content)))
	in.Files.Describe("plan.pdf", "application/pdf")
	mustImport(t, f, in)
	env.OK(t, in.Files.Close(ctx))
	if _, err := f.Store.Retrieve(ctx, storetest.Anonymous, in.Token, secret.New("guess"), nil); !errors.Is(err, record.ErrPassphrase) {
		t.Errorf("a wrong passphrase: %v", err)
	}
	p, err := f.Store.Retrieve(ctx, storetest.Anonymous, in.Token, in.Passphrase, nil)
	if err != nil || len(p.Files) != 1 || p.Files[0].Name.Reveal() != "plan.pdf" {
		t.Fatalf("%d files, %v", len(p.Files), err)
	}
	if got, err := storetest.Download(f, p.Grant, 0); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestAnImportedAccountSignsInWithItsPassword(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	hash, err := bcrypt.GenerateFromPassword([]byte(storetest.Password), bcrypt.MinCost)
	env.OK(t, err)
	a, err := f.ImportAccount(ctx, storetest.Operator, store.ImportedAccount{Email: storetest.Email, Bcrypt: string(hash), CreatedAt: f.Clock.Now().Add(-dayLong)})
	env.OK(t, err)
	if _, err := f.ImportAccount(ctx, storetest.Operator, store.ImportedAccount{Email: storetest.Email, Bcrypt: string(hash)}); !errors.Is(err, record.ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	if _, err := f.Store.SignIn(ctx, storetest.Anonymous, storetest.Email, secret.New("another password")); !errors.Is(err, record.ErrCredentials) {
		t.Errorf("with another password: %v", err)
	}
	for range 2 {
		storetest.SignIn(t, f)
		b, err := cold.Account(ctx, f.Engine(), a.ID)
		if err != nil || !strings.HasPrefix(b.PasswordHash, "$argon2id$") {
			t.Errorf("after a sign-in its hash begins with %.9s, %v", b.PasswordHash, err)
		}
	}
}

func TestWhatIsNoHashOfAnAccount(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	costly, err := bcrypt.GenerateFromPassword([]byte("x"), bcrypt.MinCost)
	env.OK(t, err)
	costly = bytes.Replace(costly, []byte("$04$"), []byte("$16$"), 1)
	for _, hash := range []string{"", "$2a$", storetest.Password, string(costly)} {
		if _, err := f.ImportAccount(ctx, storetest.Operator, store.ImportedAccount{Email: email, Bcrypt: hash}); !fails(err, errInvalid) {
			t.Errorf("%.4s: %v", hash, err)
		}
	}
}

func TestAnImportedAccountKeepsItsSecondFactor(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	hash, err := bcrypt.GenerateFromPassword([]byte(storetest.Password), bcrypt.MinCost)
	env.OK(t, err)
	in := store.ImportedAccount{Email: storetest.Email, Bcrypt: string(hash)}
	for key, want := range map[string]error{
		strings.Repeat("A", 15): errInvalid, "not base32 at all!": errInvalid, strings.Repeat("A", 208): errInvalid,
		"jbswy3dpehpk3pxpjbswy3dpehpk3pxp": nil, // 20 bytes
	} {
		in.TOTP = secret.New(key)
		if err := in.Check(); !fails(err, want) {
			t.Errorf("%d characters: %v", len(key), err)
		}
	}
	in.TOTP = secret.New("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
	if _, err := f.ImportAccount(ctx, storetest.Operator, in); err != nil {
		t.Fatal(err)
	}
	pending := storetest.SignIn(t, f)
	n, err := f.SignInCode(ctx, storetest.Anonymous, pending.Secret, storetest.Code(t, f, in.TOTP, 0))
	if err != nil || !n.MFA {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestAnImportedAPITokenGoesOn(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	a := storetest.AddMember(t, f, email)
	token := secret.New("xY3-old_token")
	env.OK(t, f.ImportToken(ctx, storetest.Operator, a, token, "Password Pusher", f.Clock.Now()))
	if err := f.ImportToken(ctx, storetest.Operator, a, token, "Password Pusher", f.Clock.Now()); !errors.Is(err, record.ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	if got, _, err := f.Authenticate(ctx, storetest.Anonymous, token); err != nil || got.ID != a.ID {
		t.Errorf("account %d, %v", got.ID, err)
	}
}
