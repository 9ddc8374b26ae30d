package moving_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/moving"
	"pushbox/internal/pwpush"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// The dumps and the files were made by internal/pwpush/testdata/make.sh. They are from the first
// of August 2026.
const (
	testdata  = "../pwpush/testdata/"
	masterKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	formerKey = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
)

// newStore returns a store a day after the dumps were made.
func newStore(t *testing.T) *storetest.Fixture {
	t.Helper()
	f := storetest.New(t)
	f.Clock.Advance(time.Date(2026, 8, 2, 0, 0, 0, 0, time.UTC).Sub(f.Clock.Now()))
	return f
}

// A told collects what a run says.
type told struct{ leftOut, remarks []string }

// options returns the options of a run over a dump, and what it will say.
func options(t *testing.T, dump string) (moving.Options, *told) {
	t.Helper()
	text := env.Read(t, testdata+dump)
	keys := env.Must(pwpush.NewKeys(secret.New(masterKey), secret.New(formerKey+","+pwpush.DefaultMasterKey)))(t)
	files := env.Must(pwpush.OpenStorage(testdata + "storage"))(t)
	t.Cleanup(func() { _ = files.Close() })
	said := new(told)
	return moving.Options{
		Dump: bytes.NewReader(text), Keys: keys, Storage: files, Actor: storetest.Operator,
		Progress: func(int64, int64) {},
		LeftOut:  func(what string, why error) { said.leftOut = append(said.leftOut, fmt.Sprint(what, ": ", why)) },
		Remark:   func(what, remark string) { said.remarks = append(said.remarks, what+": "+remark) },
	}, said
}

// whole returns the text of a dump.
func whole(t *testing.T, o moving.Options) string {
	t.Helper()
	return string(env.Must(io.ReadAll(o.Dump))(t))
}

func mustRun(t *testing.T, f *storetest.Fixture, o moving.Options) moving.Result {
	t.Helper()
	return env.Must(moving.Run(t.Context(), f.Store, o))(t)
}

// retrieve returns the payload of a push by its old link, and its files.
func retrieve(t *testing.T, f *storetest.Fixture, link, passphrase string) (store.PushInfo, []string) {
	t.Helper()
	token := env.Must(store.ParseToken(link))(t)
	p, err := f.Store.Retrieve(t.Context(), storetest.Anonymous, token, secret.New(passphrase), nil)
	if err != nil {
		t.Fatalf("retrieve: %v", err)
	}
	var files []string
	for i, file := range p.Files {
		content, err := storetest.Download(f, p.Grant, i)
		if err != nil {
			t.Error(err)
		}
		files = append(files, fmt.Sprintf("%s %d", file.Name.Reveal(), len(content)))
	}
	return p, files
}

func TestEveryDumpBringsTheSame(t *testing.T) {
	t.Parallel()
	for _, dump := range []string{"v2.sqlite.sql", "v2.pg.sql", "v2.pg-inserts.sql", "v2.pg-columns.sql", "v2.mysql.sql"} {
		t.Run(dump, func(t *testing.T) {
			t.Parallel()
			f := newStore(t)
			o, said := options(t, dump)
			r := mustRun(t, f, o)
			want := moving.Result{
				Accounts: moving.Count{Came: 2}, Tokens: moving.Count{Came: 1}, Pushes: moving.Count{Came: 7}, Files: moving.Count{Came: 2},
				Entries: r.Entries, Ended: 1,
			}
			if r != want || r.Entries == 0 || len(said.leftOut) > 0 {
				t.Errorf("moved %+v; left out %q", r, said.leftOut)
			}
			if len(said.remarks) != 2 {
				t.Errorf("remarks: %q", said.remarks)
			}
			p, _ := retrieve(t, f, "ab12-cd34_ef", "pass phrase ü")
			if got := p.Payload.Reveal(); !strings.HasPrefix(got, `It's a \ test;`) || p.ViewsRemaining() != 2 {
				t.Errorf("the payload is %q, with %d views left", got, p.ViewsRemaining())
			}
			if _, files := retrieve(t, f, "z9y8x7w6v5u4t3s2r1q", ""); len(files) != 2 {
				t.Errorf("the files are %q", files)
			}
			if p, _ := retrieve(t, f, "url-token-00", ""); p.Kind != record.URL || p.Payload.Reveal() != "https://example.com/a?b=c#d" {
				t.Errorf("the URL is %q", p.Payload.Reveal())
			}
		})
	}
}

func TestWhatAnOwnerHadIsThere(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	o, _ := options(t, "v2.sqlite.sql")
	mustRun(t, f, o)
	ann, err := f.AccountByEmail(t.Context(), "ann@example.com")
	if err != nil || !ann.MFA() || !strings.HasPrefix(ann.PasswordHash, "$2a$") {
		t.Fatalf("the account is %d, with a second factor: %v; %v", ann.ID, ann.MFA(), err)
	}
	owner := store.Actor{Account: ann.ID}
	list := env.Must(f.Pushes(t.Context(), owner, true, 1))(t)
	i := slices.IndexFunc(list, func(p store.PushInfo) bool { return p.URLToken() == "ab12-cd34_ef" })
	if i < 0 || list[i].Note.Reveal() != "a note\nof two lines" {
		t.Fatalf("the list has %d pushes, without this one and its note", len(list))
	}
	if kinds := storetest.EntryKinds(t, f, owner, list[i]); !strings.HasPrefix(kinds, "creation view ") {
		t.Errorf("its log has %s", kinds)
	}
}

func TestTheTablesOfOlderVersionsCome(t *testing.T) {
	t.Parallel()
	for _, dump := range []string{"v1.sqlite.sql", "v1.pg.sql"} {
		f := newStore(t)
		o, said := options(t, dump)
		if r := mustRun(t, f, o); r.Pushes.Came == 0 || r.Pushes.LeftOut > 0 || r.Accounts.Came == 0 {
			t.Errorf("%s: moved %+v; left out %q", dump, r, said.leftOut)
		}
	}
}

func TestASecondRunAddsNothing(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	o, _ := options(t, "v2.pg.sql")
	first := mustRun(t, f, o)
	token := env.Must(store.ParseToken("older-key-00"))(t)
	env.Must(f.DeletePush(t.Context(), storetest.Anonymous, token))(t)
	f.Clock.Advance(2 * 24 * time.Hour) // longer than other anonymous pushes stay
	f.SweepAll()
	second := mustRun(t, f, o)
	if second.Pushes.Came+second.Accounts.Came+second.Tokens.Came+second.Files.Came > 0 || second.Pushes.There != first.Pushes.Came {
		t.Errorf("first %+v, then %+v", first, second)
	}
	if p, _ := retrieve(t, f, "older-key-00", ""); p.Live() {
		t.Error("a push that was deleted came back")
	}
}

func TestADryRunSaysTheSameAndChangesNothing(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	o, _ := options(t, "v2.pg.sql")
	o.DryRun = true
	dry := mustRun(t, f, o)
	if accounts, err := f.Accounts(t.Context()); err != nil || len(accounts) > 0 {
		t.Errorf("%d accounts, %v", len(accounts), err)
	}
	if dry != mustRun(t, f, o) {
		t.Error("a second dry run says something else")
	}
	o.DryRun = false
	wet := mustRun(t, f, o)
	if dry.Entries = wet.Entries; dry != wet {
		t.Errorf("it said %+v, and %+v came", dry, wet)
	}
}

func TestKeysThatOpenNothingEndARunBeforeItChangesAnything(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	o, _ := options(t, "v2.pg.sql")
	keys := env.Must(pwpush.NewKeys(secret.New(strings.Repeat("ab", 32)), secret.Text{}))(t)
	o.Keys = keys
	if _, err := moving.Run(t.Context(), f.Store, o); !errors.Is(err, pwpush.ErrSealed) {
		t.Error(err)
	}
	if accounts, err := f.Accounts(t.Context()); err != nil || len(accounts) > 0 {
		t.Errorf("%d accounts, %v", len(accounts), err)
	}
}

func TestWhatCannotComeIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*moving.Options)
		says   string
		pushes int
	}{
		"no storage": {func(o *moving.Options) { o.Storage = nil }, "its files are in the storage directory", 1},
		"another key": {func(o *moving.Options) {
			o.Keys, _ = pwpush.NewKeys(secret.New(masterKey), secret.Text{})
		}, "payload: none of the master keys opens it", 2},
	} {
		f := newStore(t)
		o, said := options(t, "v2.pg.sql")
		c.change(&o)
		if r := mustRun(t, f, o); r.Pushes.LeftOut != c.pushes || !strings.Contains(strings.Join(said.leftOut, "\n"), c.says) {
			t.Errorf("%s: %+v, %q", name, r, said.leftOut)
		}
		if strings.Contains(strings.Join(append(said.leftOut, said.remarks...), "\n"), "z9y8x7w6v5u4t3s2r1q") {
			t.Errorf("%s: a link is named", name)
		}
	}
}

func TestACutDumpIsAnErrorAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	o, _ := options(t, "v2.pg.sql")
	all, text := o.Dump, whole(t, o)
	o.Dump = strings.NewReader(text[:len(text)-200])
	if _, err := moving.Run(t.Context(), f.Store, o); !errors.As(err, new(*pwpush.DumpError)) {
		t.Errorf("cut: %v", err)
	}
	o.Dump = all
	if r := mustRun(t, f, o); r.Pushes.Came != 7 {
		t.Errorf("afterwards %+v", r)
	}
}
