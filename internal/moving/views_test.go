package moving_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/moving"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// Parts of v2.sqlite.sql: the two views of push 1, which may have five, and the beginning of push 3.
const (
	firstView  = "'2001:db8::7',1,1,'https://example.com/?q=''x'''"
	secondView = "'203.0.113.7',1,1,'https://example.com/?q=''x'''"
	ofFirst    = "INSERT INTO pushes VALUES(1,'2026-08-01 10:01:30.123456',1,7,5,"
	ofThird    = "(3,'2026-08-01 10:03:30.123456',NULL,7,5,0,NULL,2,'','','','"
)

// changed is options with a dump in which texts are replaced: each by the one behind it.
func changed(t *testing.T, dump string, pairs ...string) (moving.Options, *told) {
	t.Helper()
	o, said := options(t, dump)
	text := whole(t, o)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%s has no %s", dump, pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	o.Dump = strings.NewReader(text)
	return o, said
}

// here returns a push by its old link, or the error that there is none.
func here(t *testing.T, f *storetest.Fixture, link string) (store.PushInfo, error) {
	t.Helper()
	token := env.Must(store.ParseToken(link))(t)
	return f.Preview(t.Context(), token)
}

// A push that had used its views does not open again, whatever of the entries about them can be read.
func TestNoViewIsForgotten(t *testing.T) {
	t.Parallel()
	const used = "INSERT INTO pushes VALUES(1,'2026-08-01 10:01:30.123456',1,7,2,"
	for name, c := range map[string]struct {
		dump    string
		pairs   []string
		leftOut string // empty: the push had ended
	}{
		"whole":              {"v2.sqlite.sql", []string{ofFirst, used}, ""},
		"texts not in UTF-8": {"v2.sqlite.sql", []string{ofFirst, used, firstView, "'\xff',1,1,'\xff'"}, ""},
		"no text":            {"v2.sqlite.sql", []string{ofFirst, used, firstView, "X'00',1,1,char(0)"}, ""},
		"no time":            {"v2.sqlite.sql", []string{ofFirst, used, "(2,'2026-08-01 10:21:30.123456'", "(2,NULL"}, ""},
		"no kind":            {"v2.sqlite.sql", []string{ofFirst, used, firstView, "'',NULL,1,''"}, "push 1 of table pushes: line 32, table audit_logs, row 2: kind"},
		"before 1.56": {"v1.sqlite.sql", []string{
			"INSERT INTO passwords VALUES(1,7,5,", "INSERT INTO passwords VALUES(1,7,2,", "NULL,1,'2026-08-01 10:10:30.123456'", "'\xff',1,''",
		}, ""},
		"neither failed nor not": {"v1.sqlite.sql", []string{
			"INSERT INTO passwords VALUES(1,7,5,", "INSERT INTO passwords VALUES(1,7,2,", "NULL,1,'2026-08-01 10:10:30.123456'", "NULL,'x',''",
		}, "push 1 of table passwords: line 22, table views, row 1: successful"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStore(t)
			o, said := changed(t, c.dump, c.pairs...)
			mustRun(t, f, o)
			link := map[string]string{"v2.sqlite.sql": "ab12-cd34_ef", "v1.sqlite.sql": "old-text-0000"}[c.dump]
			_, err := here(t, f, link)
			env.ErrorIs(t, "the push came", err, record.ErrNotFound)
			if text := strings.Join(said.leftOut, "\n"); !strings.HasPrefix(text, c.leftOut) || (text == "") != (c.leftOut == "") {
				t.Errorf("left out %q", text)
			}
		})
	}
}

// Password Pusher counts failed views against the limit of a live push.
func TestAsManyViewsAreLeftAsAtPasswordPusher(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	o, _ := changed(t, "v2.sqlite.sql", secondView, "'203.0.113.7',2,1,''")
	mustRun(t, f, o)
	if p, err := here(t, f, "ab12-cd34_ef"); err != nil || p.Views != 1 || p.ViewsRemaining() != 3 {
		t.Errorf("%d views used, %d left, %v", p.Views, p.ViewsRemaining(), err)
	}
}

func TestARowThatMeansNothingMattersOnlyToItsPush(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pairs   []string
		leftOut string
	}{
		"an entry of a push that had ended": {[]string{"'203.0.113.7',1,5,", "'203.0.113.7',99,5,"}, ""},
		"a file":                            {[]string{"VALUES(1,1,'2026-08-01 10:03:30','files',2,'Push')", "VALUES(1,NULL,'2026-08-01 10:03:30','files',2,'Push')"}, "push 2 of table pushes: line 21, table active_storage_attachments, row 1: blob_id"},
		"a text of 40 MB":                   {[]string{ofThird, ofThird + strings.Repeat("x", 40_000_000)}, "a row: line 55, table pushes, row 3: payload_ciphertext is longer than 32 MiB"},
	} {
		f := newStore(t)
		o, said := changed(t, "v2.sqlite.sql", c.pairs...)
		r, lost := mustRun(t, f, o), 0
		if c.leftOut != "" {
			lost = 1
		}
		if text := strings.Join(said.leftOut, "\n"); r.Pushes != (moving.Count{Came: 7 - lost, LeftOut: lost}) || r.Ended != 1 || !strings.HasPrefix(text, c.leftOut) || (text == "") != (lost == 0) {
			t.Errorf("%s: moved %+v; left out %q", name, r, text)
		}
	}
}

// A dump of version 1.56 can have a push in an older table, too, without the views of the newer one.
func TestAnOlderRowDoesNotComeInPlaceOfOneThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const newer = `CREATE TABLE "pushes" ("id","kind","url_token","expire_after_days","expire_after_views","expired","created_at","user_id","payload_ciphertext");
INSERT INTO pushes VALUES(1,9,'old-text-0000',7,5,0,'2026-08-01 10:01:30.123456',1,'');
COMMIT;`
	f := newStore(t)
	o, said := changed(t, "v1.sqlite.sql", "COMMIT;", newer)
	mustRun(t, f, o)
	if _, err := here(t, f, "old-text-0000"); !errors.Is(err, record.ErrNotFound) || len(said.leftOut) != 1 {
		t.Errorf("the push came: %v; left out %q", err, said.leftOut)
	}
}

func TestADumpWithoutRowsIsAnError(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]string{
		"v2.sqlite.sql": `(?m)^INSERT .*\n`, "v1.sqlite.sql": `(?m)^INSERT INTO (users|passwords|file_pushes|urls) .*\n`, "v2.pg.sql": `(?ms)^COPY .*?^\\\.\n`,
	} {
		f := newStore(t)
		o, _ := options(t, name)
		o.Dump = strings.NewReader(regexp.MustCompile(rows).ReplaceAllString(whole(t, o), ""))
		_, err := moving.Run(t.Context(), f.Store, o)
		env.ErrorIs(t, name, err, moving.ErrEmpty)
	}
}

// A name or a note that is too long is cut, between characters, and the secret comes.
func TestALabelThatIsTooLongIsCut(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	long, note := strings.Repeat("x", store.MaxName-1)+"üü", strings.Repeat("n", store.MaxNote+1)
	third := strings.Replace(ofThird, "2,'','',", "2,'"+long+"','"+sealed(t, "pushes", "note_ciphertext", note)+"',", 1)
	o, said := changed(t, "v2.sqlite.sql", ofThird, third)
	if r := mustRun(t, f, o); r.Pushes.Came != 7 {
		t.Errorf("moved %+v; left out %q", r, said.leftOut)
	}
	for _, want := range []string{"push 3 of table pushes: its name is longer than 255 B, and was cut", "push 3 of table pushes: its note is longer than 10 KiB, and was cut"} {
		if !strings.Contains(strings.Join(said.remarks, "\n"), want) {
			t.Errorf("remarks: %q", said.remarks)
		}
	}
	owner := env.Must(f.AccountByEmail(t.Context(), "o'hara@example.com"))(t)
	list, err := f.Pushes(t.Context(), store.Actor{Account: owner.ID}, true, 1)
	if err != nil || len(list) != 1 || list[0].Name.Reveal() != long[:store.MaxName-1] || list[0].Note.Reveal() != note[:store.MaxNote] {
		t.Errorf("%d pushes, %v", len(list), err)
	}
	if p, _ := retrieve(t, f, "url-token-00", ""); p.Payload.Reveal() != "https://example.com/a?b=c#d" {
		t.Errorf("the URL is %q", p.Payload.Reveal())
	}
}

// sealed encrypts a text as Lockbox does.
func sealed(t *testing.T, table, column, text string) string {
	t.Helper()
	master := env.Must(hex.DecodeString(masterKey))(t)
	key := env.Must(hkdf.Key(sha512.New384, master, []byte(table), strings.Repeat("\xb4", 32)+column, 32))(t)
	block := env.Must(aes.NewCipher(key))(t)
	box := env.Must(cipher.NewGCM(block))(t)
	nonce := make([]byte, box.NonceSize())
	return base64.StdEncoding.EncodeToString(box.Seal(nonce, nonce, []byte(text), nil))
}

func TestAdministratorsStayAdministrators(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	o, said := options(t, "v2.sqlite.sql")
	mustRun(t, f, o)
	for address, want := range map[string]bool{"ann@example.com": true, "o'hara@example.com": false} {
		if a, err := f.AccountByEmail(t.Context(), address); err != nil || a.Administers() != want {
			t.Errorf("%s administers: %v, %v", address, a.Administers(), err)
		}
	}
	env.Contains(t, "remarks", strings.Join(said.remarks, "\n"), "account 1: it was an administrator, and stays one here")
	f = madeHere(t)
	o, said = options(t, "v2.sqlite.sql")
	o.Join = true
	mustRun(t, f, o)
	if a, err := f.AccountByEmail(t.Context(), "ann@example.com"); err != nil || a.Admin {
		t.Errorf("an account that was made here became an administrator's: %v", err)
	}
	if text := strings.Join(said.remarks, "\n"); !strings.Contains(text, "account 1: it was an administrator, but the account here is not: `pushbox user grant admin` makes it one") {
		t.Errorf("remarks: %q", text)
	}
}

// madeHere returns a store in which an account with Ann's address was made.
func madeHere(t *testing.T) *storetest.Fixture {
	t.Helper()
	f := newStore(t)
	env.Must(f.Store.AddAccount(t.Context(), storetest.Operator, "ann@example.com", secret.New("another password")))(t)
	return f
}

// What was Ann's is not given to the account of a person who may only know her address.
func TestAnAccountThatWasMadeHereGetsNothing(t *testing.T) {
	t.Parallel()
	for _, dry := range []bool{true, false} {
		f := madeHere(t)
		o, said := options(t, "v2.sqlite.sql")
		o.DryRun = dry
		r := mustRun(t, f, o)
		if r.Accounts != (moving.Count{Came: 1, LeftOut: 1}) || r.Tokens.Total() != 0 || r.Pushes.LeftOut == 0 || r.Pushes.There != 0 {
			t.Errorf("dry %v: moved %+v", dry, r)
		}
		if text := strings.Join(said.leftOut, "\n"); !strings.Contains(text, "account 1: an account with its address was made here") || !strings.Contains(text, "its account was left out") {
			t.Errorf("dry %v: left out %q", dry, said.leftOut)
		}
	}
}

func TestAnAccountThatWasMadeHereJoinsIfTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	f := madeHere(t)
	o, said := options(t, "v2.sqlite.sql")
	o.Join = true
	if r := mustRun(t, f, o); r.Accounts != (moving.Count{Came: 1, There: 1}) || r.Tokens.Came != 1 || r.Pushes.LeftOut != 0 || len(said.leftOut) > 0 {
		t.Errorf("moved %+v; left out %q", r, said.leftOut)
	}
	a, err := f.Store.AccountByEmail(t.Context(), "ann@example.com")
	if err != nil || a.MFA() {
		t.Errorf("the account has the second factor of the dump: %v", err)
	}
	o.Join = false
	env.Must(o.Dump.Seek(0, io.SeekStart))(t)
	if r := mustRun(t, f, o); r.Accounts != (moving.Count{There: 1, LeftOut: 1}) {
		t.Errorf("without the flag again: %+v", r)
	}
}

func TestAnAccountThatCouldNotBeUsedDoesNotCome(t *testing.T) {
	t.Parallel()
	text := env.Read(t, testdata+"v2.sqlite.sql")
	for change, came := range map[string]int{
		"0,NULL,NULL,NULL":           2, // nothing had to be confirmed
		"0,NULL,'sent','waits',NULL": 1,
		"0,NULL,'2026-08-01 10:02:30','was','2026-08-01 10:03:00'": 2,
	} {
		const before = "VALUES(2,0,NULL,NULL,NULL,NULL,"
		to := "VALUES(2," + change + ","
		if strings.Count(change, ",") == 3 {
			to = "VALUES(2," + change + ",NULL,"
		}
		changed := bytes.Replace(text, []byte(before), []byte(strings.Replace(to, "'sent'", "'2026-08-01 10:02:30'", 1)), 1)
		f := newStore(t)
		o, said := options(t, "v2.sqlite.sql")
		o.Dump = bytes.NewReader(changed)
		if r := mustRun(t, f, o); r.Accounts.Came != came || r.Accounts.LeftOut != 2-came {
			t.Errorf("%s: moved %+v; left out %q", change, r, said.leftOut)
		}
	}
}
