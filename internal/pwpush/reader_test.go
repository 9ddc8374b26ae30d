package pwpush_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pushbox/internal/pwpush"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/golden"
)

// masterKey and previousKey are those of testdata/make.rb.
const (
	masterKey   = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	previousKey = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
)

func keys(t *testing.T, master string, previous ...string) pwpush.Keys {
	t.Helper()
	k, err := pwpush.NewKeys(secret.New(master), secret.New(strings.Join(previous, ",")))
	if err != nil {
		t.Fatal(err)
	}
	return k
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
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
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
		plain, err := k.Open(s)
		if err != nil {
			t.Fatal(err)
		}
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
			if _, _, err := rows(bytes.NewReader(dump[:end])); !errors.Is(err, pwpush.ErrCut) {
				t.Errorf("without its end: %v", err)
			}
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
		{"", "line 1: this is not a dump"},
		{"SQLite format 3\x00\x01\x02", "line 1: this is not a dump"},
		{"PGDMP\x01\x0e", "line 1: this is not a dump"},
		{"INSERT INTO users VALUES(1);", "line 1: this is not a dump"},
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
	if _, _, err := rows(strings.NewReader(small(deep))); err == nil {
		t.Error("calls within calls were read five deep")
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

func TestRowsOf32MebibytesAreRead(t *testing.T) {
	t.Parallel()
	const most = 32 << 20
	for extra, table := range map[int64]string{0: "active_storage_blobs", 1: "active_storage_blobs", most: "of_another_program"} {
		before, after, _ := strings.Cut(small("INSERT INTO "+table+" VALUES(1,'key','|',5);"), "|")
		dump := io.MultiReader(strings.NewReader(before), &filler{most + extra - int64(len("1"+"key"+"5"))}, strings.NewReader(after))
		all, _, err := rows(dump)
		if table != "active_storage_blobs" {
			if err != nil || all != nil {
				t.Errorf("another table: %v", err)
			}
		} else if (err == nil) != (extra == 0) || extra == 0 && len(all) != 1 || extra > 0 && !strings.Contains(err.Error(), "longer than 32 MiB") {
			t.Errorf("%d bytes too many: %d rows, %v", extra, len(all), err)
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
