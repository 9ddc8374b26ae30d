package pwpush_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pushbox/internal/pwpush"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
)

// masterKey and previousKey are those of testdata/make.rb.
const (
	masterKey   = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	previousKey = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
)

func keys(t *testing.T, master string, previous ...string) pwpush.Keys {
	t.Helper()
	return env.Must(pwpush.NewKeys(secret.New(master), secret.New(strings.Join(previous, ","))))(t)
}

// rows returns the rows of a dump, and the error that ends it if that is not io.EOF.
func rows(dump io.Reader) (all []pwpush.Row, bad []*pwpush.RowError, err error) {
	for r := pwpush.NewReader(dump); ; {
		row, err := r.Next()
		wrong := (*pwpush.RowError)(nil)
		switch {
		case errors.Is(err, io.EOF):
			return all, bad, nil
		case errors.As(err, &wrong):
			bad = append(bad, wrong)
		case err != nil:
			return all, bad, err
		default:
			all = append(all, row)
		}
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return env.Read(t, "testdata/"+name)
}

// wholeFixture returns the rows of a dump without a damage.
func wholeFixture(t *testing.T, name string) []pwpush.Row {
	t.Helper()
	all, bad, err := rows(bytes.NewReader(fixture(t, name)))
	if err != nil || bad != nil {
		t.Fatalf("%s: %v, %v", name, bad, err)
	}
	return all
}

// shown returns rows as sorted lines, with their secrets.
func shown(t *testing.T, k pwpush.Keys, all []pwpush.Row) string {
	t.Helper()
	open := func(s pwpush.Sealed) string {
		plain := env.Must(k.Open(s))(t)
		return plain.Reveal()
	}
	var lines []string
	for _, row := range all {
		line := fmt.Sprintf("%T %+v", row, row)
		switch row := row.(type) {
		case pwpush.User:
			line = fmt.Sprintf("User %d %s %s %q admin=%v locked=%v %s mfa=%v %q %v", row.ID, row.Email, row.Password.Reveal(), row.Token.Reveal(),
				row.Admin, row.Locked, row.Language, row.MFA, open(row.TOTP), row.CreatedAt)
		case pwpush.Push:
			line = fmt.Sprintf("Push %v %s %s user=%d %v %v days=%d views=%d expired=%v %v deleted=%v deletable=%v step=%v name=%q payload=%q note=%q passphrase=%q",
				row.Ref, row.Kind, row.URLToken.Reveal(), row.UserID, row.CreatedAt, row.UpdatedAt, row.Days, row.Views, row.Expired, row.ExpiredAt, row.Deleted,
				row.DeletableByViewer, row.RetrievalStep, row.Name.Reveal(), open(row.Payload), open(row.Note), open(row.Passphrase))
		}
		lines = append(lines, strings.TrimPrefix(line, "pwpush.")+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func TestAllDumpProgramsGiveTheSameRows(t *testing.T) {
	t.Parallel()
	for version, programs := range map[string][]string{
		"v2": {"sqlite", "pg", "pg-inserts", "pg-columns", "mysql"},
		"v1": {"sqlite", "pg"},
	} {
		for _, program := range programs {
			t.Run(version+"."+program, func(t *testing.T) {
				t.Parallel()
				all := wholeFixture(t, version+"."+program+".sql")
				golden.File(t, "testdata/"+version+".rows.txt", shown(t, keys(t, masterKey, previousKey, pwpush.DefaultMasterKey), all))
			})
		}
	}
}

// TestDumpsFromWindowsGiveTheSameRows reads dumps with the line ends of Windows, as a redirected pg_dump has
// them there.
func TestDumpsFromWindowsGiveTheSameRows(t *testing.T) {
	t.Parallel()
	k := keys(t, masterKey, previousKey, pwpush.DefaultMasterKey)
	dump := bytes.ReplaceAll(fixture(t, "v2.pg.sql"), []byte("\n"), []byte("\r\n"))
	all, bad, err := rows(bytes.NewReader(dump))
	if err != nil || bad != nil || shown(t, k, all) != shown(t, k, wholeFixture(t, "v2.pg.sql")) {
		t.Errorf("%d rows, %v, %v", len(all), bad, err)
	}
}

func TestADumpMayEndWithoutALineEnd(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"v2.sqlite.sql", "v2.pg.sql", "v2.mysql.sql"} {
		if _, bad, err := rows(bytes.NewReader(bytes.TrimSpace(fixture(t, name)))); bad != nil || err != nil {
			t.Errorf("%s: %v, %v", name, bad, err)
		}
	}
}

// A disk that fails is not a dump that was cut.
func TestAnErrorOfTheFileIsPassedOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is broken")
	for _, n := range []int{0, 10, 5000, 10000} {
		dump := io.MultiReader(bytes.NewReader(fixture(t, "v2.sqlite.sql")[:n]), iotest.ErrReader(broken))
		if _, _, err := rows(dump); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// endOf is the length of a dump up to the beginning of the line that tells its end.
func endOf(t *testing.T, dump []byte) int {
	t.Helper()
	for _, end := range []string{"\nCOMMIT;", "\n-- PostgreSQL database dump complete", "\n-- Dump completed"} {
		if i := bytes.LastIndex(dump, []byte(end)); i >= 0 {
			return i + 1
		}
	}
	t.Fatal("the dump has no end")
	return 0
}

func TestADumpThatIsCutAnywhereIsNotComplete(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"v1.sqlite.sql", "v1.pg.sql", "v2.pg-columns.sql", "v2.mysql.sql"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dump := fixture(t, name)
			whole := len(wholeFixture(t, name))
			end := endOf(t, dump)
			for n := 0; n <= end; n += 199 {
				all, _, err := rows(bytes.NewReader(dump[:n]))
				want := pwpush.ErrCut
				if n < 300 && errors.Is(err, pwpush.ErrDump) { // it may end before the dump program says its name
					want = pwpush.ErrDump
				}
				if !errors.Is(err, want) || len(all) > whole {
					t.Fatalf("%d bytes: %d rows, %v", n, len(all), err)
				}
			}
			_, _, err := rows(bytes.NewReader(dump[:end]))
			env.ErrorIs(t, "without its end", err, pwpush.ErrCut)
		})
	}
}

// small makes a dump of SQLite with a table and statements.
func small(statements ...string) string {
	return "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n" +
		`CREATE TABLE "active_storage_blobs" ("id" integer, "key" varchar, "filename" varchar DEFAULT (''), "byte_size" bigint, PRIMARY KEY ("id"));` +
		"\n" + strings.Join(statements, "\n") + "\nCOMMIT;\n"
}

const smallRow = `INSERT INTO active_storage_blobs VALUES(1,'key','name',5);`

func TestWhatDamagesADumpIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dump, want string }{
		{"", "line 1: this is not a complete"},
		{"SQLite format 3\x00\x01\x02", "line 1: this is not a complete"},
		{"PGDMP\x01\x0e", "line 1: this is not a complete"},
		{"INSERT INTO users VALUES(1);", "line 1: this is not a complete"},
		{small(smallRow, "ROLLBACK; -- due to errors"), "line 5: sqlite3 could not read the whole database"},
		{small(`INSERT INTO active_storage_blobs VALUES(1,'key','name');`), "line 4, table active_storage_blobs: a row has 3 values for 4 columns"},
		{small(`INSERT INTO active_storage_blobs VALUES(1,'key','name',5,6);`), "line 4, table active_storage_blobs: this is not SQL"},
		{small(`INSERT INTO active_storage_blobs VALUES(1,'key','name',(5));`), "line 4, table active_storage_blobs: this is not SQL"},
		{small(`INSERT INTO active_storage_blobs VALUES[1];`), "line 4, table active_storage_blobs: this is not SQL"},
		{small(`INSERT INTO active_storage_blobs VALUES(1,unistr('\u12'),'name',5);`), "this is not SQL"},
		{small(`INSERT INTO active_storage_blobs VALUES(1,replace('a','b',char(300)),'name',5);`), "this is not SQL"},
		{small(`REPLACE INTO active_storage_blobs VALUES(1,'key','name',5);`), "line 4: this is not SQL"},
		{small(`INSERT IGNORE INTO active_storage_blobs VALUES(1,'key','name',5);`), "line 4: this is not SQL"},
		{small(`INSERT INTO active_storage_blobs SELECT 1;`), "line 4: this is not SQL"},
		{small(`INSERT INTO users VALUES(1);`), "line 4, table users: the dump does not say which columns"},
		{small(`INSERT INTO users ("id","email") VALUES(1,'');`), "line 4, table users: there is no column encrypted_password"},
		{small(`INSERT INTO active_storage_blobs VALUES(1,'key`), "the dump is not complete"},
		{strings.Replace(small(), "COMMIT;", "", 1), "line 6: the dump is not complete"},
	} {
		_, bad, err := rows(strings.NewReader(c.dump))
		where := (*pwpush.DumpError)(nil)
		if !errors.As(err, &where) || !strings.Contains(err.Error(), c.want) || bad != nil {
			t.Errorf("%q: %v, %v; want %q", c.dump, err, bad, c.want)
		}
	}
}

func TestAfterTheEndOrAnErrorNothingIsRead(t *testing.T) {
	t.Parallel()
	r := pwpush.NewReader(strings.NewReader(small(smallRow, "ROLLBACK;", smallRow)))
	if row, err := r.Next(); err != nil {
		t.Fatal(row, err)
	}
	_, first := r.Next()
	if row, again := r.Next(); row != nil || first == nil || !errors.Is(again, first) {
		t.Errorf("after %v came %v, %v", first, row, again)
	}
	r = pwpush.NewReader(strings.NewReader(small()))
	for range 2 {
		if row, err := r.Next(); row != nil || !errors.Is(err, io.EOF) {
			t.Errorf("after the end came %v, %v", row, err)
		}
	}
}

func TestADamagedRowIsNamedAndTheNextOnesAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, damaged, want string }{
		{"'o''hara@example.com'", "'o''hara\xff@example.com'", "table users, row 2: email is not text in UTF-8"},
		{"'2026-08-01 10:03:30.123456',NULL,7,5", "'2026-08-01',NULL,7,5", "table pushes, row 3: created_at is not a time"},
		{"'2026-08-01 10:03:30.123456',NULL,7,5", "NULL,NULL,7,5", "table pushes, row 3: created_at is not a time"},
		{"'2026-08-01 10:03:30.123456',NULL,7,5", "'2026-08-01 10:03:30.123456',NULL,'seven',5", "table pushes, row 3: expire_after_days is not a whole number"},
		{"'2026-08-01 10:03:30.123456',NULL,7,5", "'2026-08-01 10:03:30.123456',NULL,2147483648,5", "table pushes, row 3: expire_after_days is out of bounds"},
		{"'2026-08-01 10:03:30.123456',NULL,7,5,0,NULL,2", "'2026-08-01 10:03:30.123456',NULL,7,5,0,NULL,4", "table pushes, row 3: kind is a number"},
		{"'2026-08-01 10:03:30.123456',NULL,7,5,0,NULL,2", "'2026-08-01 10:03:30.123456',NULL,7,5,2,NULL,2", "table pushes, row 3: expired is neither true nor false"},
		{"'url-token-00'", "'url/token'", "table pushes, row 3: url_token is not a url_token"},
		{"'url-token-00'", "NULL", "table pushes, row 3: url_token is not a url_token"},
		{"'url-token-00'", "'" + strings.Repeat("x", 256) + "'", "table pushes, row 3: url_token is not a url_token"},
		{"INSERT INTO active_storage_blobs VALUES(2,1024", "INSERT INTO active_storage_blobs VALUES(2,-1", "table active_storage_blobs, row 2: byte_size is negative"},
		{"INSERT INTO active_storage_blobs VALUES(2,", "INSERT INTO active_storage_blobs VALUES(0,", "table active_storage_blobs, row 0: id is not the number of a row"},
	} {
		whole := string(fixture(t, "v2.sqlite.sql"))
		dump := strings.Replace(whole, c.old, c.damaged, 1)
		all, bad, err := rows(strings.NewReader(dump))
		if dump == whole {
			t.Fatalf("the dump has no %s", c.old)
		}
		if err != nil || len(bad) != 1 || !strings.Contains(bad[0].Error(), c.want) {
			t.Errorf("%q: %v, %v", c.damaged, bad, err)
		} else if want := len(wholeFixture(t, "v2.sqlite.sql")) - 1; len(all) != want {
			t.Errorf("%q: %d rows, not %d", c.damaged, len(all), want)
		}
		if line := 1 + strings.Count(whole[:strings.Index(whole, c.old)], "\n"); bad != nil && (bad[0].Line > line || bad[0].Line < line-3) {
			t.Errorf("%q is in line %d, not %d", c.damaged, line, bad[0].Line)
		}
	}
	long := strings.Replace(string(fixture(t, "v2.sqlite.sql")), "'url-token-00'", "'"+strings.Repeat("x", 255)+"'", 1)
	if _, bad, err := rows(strings.NewReader(long)); bad != nil || err != nil {
		t.Errorf("a url_token of 255 characters: %v, %v", bad, err)
	}
}

func TestTextsOfSQLiteAreRead(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		`'it''s'`:                       "it's",
		`'a\nb'`:                        `a\nb`,
		`replace('a\nb','\n',char(10))`: "a\nb",
		`replace(replace('a\rb\n','\r',char(13)),'\n',char(10))`:                                 "a\rb\n",
		`replace('a(\n0)b','(\n0)',char(10))`:                                                    "a\nb",
		`replace(replace(replace(replace('','a',char(9)),'b',char(9)),'c',char(9)),'d',char(9))`: "",
		`unistr('a\u000ab\\n\U0001f389\+01f389')`:                                                "a\nb\\n🎉🎉",
		`NULL`: "",
		`12`:   "12",
	} {
		all, bad, err := rows(strings.NewReader(small("INSERT INTO active_storage_blobs VALUES(1,'key'," + written + ",5);")))
		if err != nil || bad != nil || len(all) != 1 || all[0].(pwpush.Blob).Filename != want {
			t.Errorf("%s: %v, %v, %v", written, all, bad, err)
		}
	}
	deep := "INSERT INTO active_storage_blobs VALUES(1,'key'," + strings.Repeat("replace(", 5) + "'x'" + strings.Repeat(",'a',char(9))", 5) + ",5);"
	if _, bad, err := rows(strings.NewReader(small(deep))); err != nil || len(bad) != 1 {
		t.Errorf("calls within calls, five deep: %v, %v", bad, err)
	}
}

// filler is a reader of a long text.
type filler struct{ left int64 }

func (f *filler) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n := int(min(f.left, int64(len(p))))
	for i := range p[:n] {
		p[i] = 'x'
	}
	f.left -= int64(n)
	return n, nil
}

// A row that is too long is left out, and the next one is read.
func TestRowsOf32MebibytesAreRead(t *testing.T) {
	t.Parallel()
	const (
		most   = 32 << 20
		copied = "-- PostgreSQL database dump\nSET client_encoding = 'UTF8';\nCOPY public.active_storage_blobs (id, key, filename, byte_size) FROM stdin;\n" +
			"1\tkey\t|\t5\n2\tkey\tname\t5\n\\.\n-- PostgreSQL database dump complete\n"
	)
	inserted := func(table string) string {
		return small("INSERT INTO "+table+" VALUES(1,'key','|',5);", "INSERT INTO "+table+" VALUES(2,'key','name',5);")
	}
	for _, c := range []struct {
		text      string
		extra     int64
		rows, bad int
	}{
		{inserted("active_storage_blobs"), 0, 2, 0},
		{inserted("active_storage_blobs"), 1, 1, 1},
		{inserted("active_storage_blobs"), 4 << 20, 1, 1},
		{copied, 0, 2, 0},
		{copied, 4 << 20, 1, 1},
		{inserted("of_another_program"), most, 0, 0},
	} {
		before, after, _ := strings.Cut(c.text, "|")
		all, bad, err := rows(io.MultiReader(strings.NewReader(before), &filler{most + c.extra - int64(len("1"+"key"+"5"))}, strings.NewReader(after)))
		if err != nil || len(all) != c.rows || len(bad) != c.bad {
			t.Errorf("%.60q, %d bytes too many: %d rows, %v, %v", c.text, c.extra, len(all), bad, err)
		}
		for _, b := range bad {
			if b.ID != 1 || !strings.HasSuffix(b.Error(), " is longer than 32 MiB") {
				t.Errorf("%.60q, %d bytes too many: %v", c.text, c.extra, b)
			}
		}
	}
}

// A value that Password Pusher cannot have written spoils its row, and not the dump.
func TestAValueThatIsNoTextSpoilsItsRow(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		`X'616263'`:             "filename is not a text, but a BLOB",
		`char(0)`:               "filename is an expression",
		`'a'||char(0)||'b'`:     "filename is an expression",
		`CAST(X'00' AS TEXT)`:   "filename is an expression",
		`hex((1),'(',"a")||'b'`: "filename is an expression",
	} {
		all, bad, err := rows(strings.NewReader(small("INSERT INTO active_storage_blobs VALUES(1,'key',"+written+",5);", strings.Replace(smallRow, "(1", "(2", 1))))
		if err != nil || len(all) != 1 || len(bad) != 1 || bad[0].ID != 1 || !strings.Contains(bad[0].Error(), want) {
			t.Errorf("%s: %v, %v, %v", written, all, bad, err)
		}
	}
	for _, cut := range []string{`char(0`, `char(0;`, `'a'|'b'`, `'a'||`} {
		if _, _, err := rows(strings.NewReader(small("INSERT INTO active_storage_blobs VALUES(1,'key'," + cut + ");"))); !errors.As(err, new(*pwpush.DumpError)) {
			t.Errorf("%s: %v", cut, err)
		}
	}
}

func TestADumpInAnotherCharacterSetIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dump, old, charset string }{
		{"v2.mysql.sql", "SET NAMES utf8mb4", "SET NAMES latin1"},
		{"v2.mysql.sql", "/*!40101 SET NAMES utf8mb4 */;", ""}, // with --compatible or --skip-set-charset
		{"v2.pg.sql", "client_encoding = 'UTF8'", "client_encoding = 'LATIN1'"},
		{"v2.pg.sql", "client_encoding = 'UTF8'", "client_encoding = 'SQL_ASCII'"},
		{"v2.pg-inserts.sql", "SET client_encoding = 'UTF8';", ""},
	} {
		dump := strings.Replace(string(fixture(t, c.dump)), c.old, c.charset, 1)
		if all, _, err := rows(strings.NewReader(dump)); !errors.Is(err, pwpush.ErrCharset) || all != nil {
			t.Errorf("%s with %q: %d rows, %v", c.dump, c.charset, len(all), err)
		}
	}
	older := strings.Replace(string(fixture(t, "v2.mysql.sql")), "/*!40101 SET NAMES utf8mb4", "/*!50503 SET NAMES utf8", 1)
	if _, bad, err := rows(strings.NewReader(older)); bad != nil || err != nil {
		t.Errorf("utf8: %v, %v", bad, err)
	}
}

// An entry of an audit log may be a view. It counts by its push and its kind. If it has no kind, its
// push is named; if it has no push, nothing is read on.
func TestNoEntryIsForgotten(t *testing.T) {
	t.Parallel()
	counted := func(text string) (n int, bad []*pwpush.RowError, err error) {
		all, bad, err := rows(strings.NewReader(text))
		for _, row := range all {
			if e, ok := row.(pwpush.Entry); ok && e.Counts() {
				n++
			}
		}
		return n, bad, err
	}
	first, file := pwpush.Ref{Table: "pushes", ID: 1}, pwpush.Ref{Table: "file_pushes", ID: 1}
	for _, c := range []struct {
		dump, old, damaged string
		push               pwpush.Ref // that is named; none: the entry counts
		fails              string
	}{
		{dump: "v2.sqlite.sql", old: "'203.0.113.7',1,1,'https://example.com/?q=''x'''", damaged: "'\xff',1,1,X'ff'"},
		{dump: "v2.sqlite.sql", old: "(3,'2026-08-01 10:22:30.123456'", damaged: "(3,NULL"},
		{dump: "v2.mysql.sql", old: "(3,'2026-08-01 10:22:30.123456'", damaged: "(3,'0000-00-00 00:00:00'"},
		{dump: "v1.sqlite.sql", old: "NULL,1,'2026-08-01 10:10:30.123456'", damaged: "'\xfc',1,NULL"},
		{dump: "v2.sqlite.sql", old: "'203.0.113.7',1,1,", damaged: "'203.0.113.7',9,1,", push: first},
		{dump: "v2.sqlite.sql", old: "'203.0.113.7',1,1,", damaged: "'203.0.113.7',X'31',1,", push: first},
		{dump: "v1.sqlite.sql", old: "NULL,1,'2026-08-01 10:13:30.123456'", damaged: "NULL,'yes','2026-08-01 10:13:30.123456'", push: file},
		{dump: "v2.sqlite.sql", old: "'203.0.113.7',1,1,", damaged: "'203.0.113.7',1,'one',", fails: "table audit_logs: row 3 does not say which push it belongs to"},
		{dump: "v1.sqlite.sql", old: "VALUES(4,NULL", damaged: "VALUES(4,X'01'", fails: "table views: row 4 does not say which push it belongs to"},
		{dump: "v2.sqlite.sql", old: "'files',2,'Push'", damaged: "'files','x','Push'", fails: "table active_storage_attachments: row 1 does not say which push it belongs to"},
	} {
		whole := string(fixture(t, c.dump))
		text := strings.Replace(whole, c.old, c.damaged, 1)
		want, _, _ := counted(whole)
		n, bad, err := counted(text)
		switch {
		case text == whole:
			t.Errorf("%s has no %s", c.dump, c.old)
		case c.fails != "":
			if !errors.As(err, new(*pwpush.DumpError)) || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: %v", c.damaged, err)
			}
		case err != nil:
			t.Errorf("%q: %v", c.damaged, err)
		case c.push == (pwpush.Ref{}):
			if n != want || bad != nil {
				t.Errorf("%q: %d entries count, not %d: %v", c.damaged, n, want, bad)
			}
		case len(bad) != 1 || bad[0].Push != c.push:
			t.Errorf("%q: %v", c.damaged, bad)
		}
	}
}

func TestTablesOf2000ColumnsAreRead(t *testing.T) {
	t.Parallel()
	for n, ok := range map[int]bool{2000: true, 2001: false} {
		columns := strings.Repeat(`,"x"`, n-4)
		for _, statement := range []string{
			`CREATE TABLE "users" ("id","email","encrypted_password","admin"` + columns + `);`,
			`INSERT INTO "users" ("id","email","encrypted_password","admin"` + columns + `) VALUES (1,'','',0` + strings.Repeat(",1", n-4) + ");",
		} {
			if _, _, err := rows(strings.NewReader(small(statement))); (err == nil) != ok {
				t.Errorf("%d columns: %v", n, err)
			}
		}
	}
}

// FuzzReader checks that no text makes a Reader fail in another way than by an error that
// tells a line of the text.
func FuzzReader(f *testing.F) {
	for _, name := range []string{"v1.sqlite.sql", "v1.pg.sql", "v2.pg-columns.sql", "v2.mysql.sql"} {
		dump := fixture(f, name)
		for i := 0; i < len(dump); i += len(dump)/20 + 1 {
			head := min(400, len(dump))
			f.Add(slices.Concat(dump[:head], []byte("\n"), dump[i:min(i+2000, len(dump))]))
		}
	}
	f.Add([]byte(small(smallRow, `INSERT INTO active_storage_blobs VALUES(1,replace('a\nb','\n',char(10)),unistr('\u000a'),5);`)))
	f.Fuzz(func(t *testing.T, dump []byte) {
		all, bad, err := rows(bytes.NewReader(dump))
		where, lines := (*pwpush.DumpError)(nil), 1+bytes.Count(dump, []byte("\n"))
		if err != nil && (!errors.As(err, &where) || where.Line < 1 || where.Line > lines) {
			t.Fatalf("%v in %d lines", err, lines)
		}
		for _, b := range bad {
			if b.Line < 1 || b.Line > lines {
				t.Fatalf("%v in %d lines", b, lines)
			}
		}
		if len(all)+len(bad) > len(dump) {
			t.Fatalf("%d rows from %d bytes", len(all)+len(bad), len(dump))
		}
	})
}
