package pwpush

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Errors of a dump as a whole. A *DumpError says where.
var (
	// ErrDump is a file that is not a dump that Reader knows.
	ErrDump = errors.New("this is not a complete plain SQL dump of SQLite, PostgreSQL or MySQL")

	// ErrCharset is a dump whose texts have another character set, or none that it says.
	ErrCharset = errors.New("the dump does not declare its texts as UTF-8")

	// ErrCut is a dump that ends before its end.
	ErrCut = errors.New("the dump is not complete: its end is missing")

	errRolledBack = errors.New("sqlite3 could not read the whole database when it made this dump")
	errSyntax     = errors.New("this is not SQL as the dump program writes it")
	errColumns    = errors.New("the table has more than 2000 columns")
	errNoColumns  = errors.New("the dump does not say which columns the table has")
)

// maxColumns is how many columns a table may have. SQLite allows no more.
const maxColumns = 2000

// A DumpError says why a dump cannot be read on. Its text has nothing of the dump's rows.
type DumpError struct {
	Line  int    // where it was noticed
	Table string // empty: outside of the tables that matter
	Err   error
}

// Error says where the dump cannot be read on, and why.
func (e *DumpError) Error() string {
	if e.Table == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d, table %s: %v", e.Line, e.Table, e.Err)
}

// Unwrap returns why.
func (e *DumpError) Unwrap() error { return e.Err }

// A Reader reads the rows of a dump, one after the other, in the order of the dump. It holds
// one row at a time.
type Reader struct {
	s       *scanner
	columns map[string][]string // of the tables that matter, by CREATE TABLE
	table   string              // whose rows follow; empty: none
	names   []string            // its columns
	copies  bool                // its rows are lines
	broken  error               // of the statement that is being read
	failed  error               // once the dump cannot be read on
}

// NewReader returns a Reader of a dump.
func NewReader(dump io.Reader) *Reader {
	s := &scanner{r: bufio.NewReaderSize(dump, 64<<10), line: 1}
	return &Reader{s: s, columns: make(map[string][]string)}
}

// Next returns the next row of the tables that Row names, and io.EOF at the end of a complete
// dump. After a *RowError the next row can be read; after a *DumpError nothing can.
func (r *Reader) Next() (Row, error) {
	for {
		rec, err := r.record()
		if err != nil {
			return nil, err
		}
		row, err := rec.row()
		if errors.As(err, new(*DumpError)) {
			r.failed = err
		}
		if row != nil || err != nil {
			return row, err
		}
	}
}

// record reads the next row unchanged.
func (r *Reader) record() (*record, error) {
	for r.failed == nil {
		line := r.s.line
		values, err := r.advance(&line)
		switch {
		case errors.Is(err, io.EOF) && r.s.ended:
			r.failed = io.EOF
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			err = ErrCut
			if r.s.dialect == unknown {
				err = ErrDump
			}
			r.failed = r.where(err)
		case err != nil:
			r.failed = r.where(err)
		case values != nil:
			return &record{table: r.table, line: line, names: r.names, values: values}, nil
		}
	}
	return nil, r.failed
}

// where adds the line and the table to an error. It names no table that is not Password
// Pusher's: the name could be any text.
func (r *Reader) where(err error) error {
	if !matters(r.table) {
		return &DumpError{Line: r.s.line, Err: err}
	}
	return &DumpError{r.s.line, r.table, err}
}

// advance reads a row of a statement that was begun, or a statement without rows. It sets line
// to where the row begins.
func (r *Reader) advance(line *int) ([]value, error) {
	r.s.row()
	switch {
	case r.table == "":
		return nil, r.statement()
	case r.copies:
		return r.copied()
	}
	t := r.next()
	switch *line = r.s.line; {
	case t.is("("):
		return r.tuple(), r.broken
	case t.is(";"):
		r.table = ""
	case !t.is(","):
		r.wrong()
	}
	return nil, r.broken
}

// next reads a token within a statement. After an error, which stays in broken, it returns a token
// that is nothing.
func (r *Reader) next() token {
	if r.broken != nil {
		return token{}
	}
	t, err := r.s.next()
	r.broken = within(err)
	return t
}

// wrong says that the last token is a wrong one, unless it could not be read.
func (r *Reader) wrong() { r.broken = cmp.Or(r.broken, errSyntax) }

// expect reads tokens that must come.
func (r *Reader) expect(all ...string) {
	for _, want := range all {
		if !r.next().is(want) {
			r.wrong()
		}
	}
}

// statement reads a statement, or the beginning of one that has rows.
func (r *Reader) statement() error {
	t, err := r.s.next()
	switch {
	case err != nil:
		return err
	case r.s.dialect == unknown && t.is("PRAGMA"):
		r.s.dialect = sqlite
	case r.s.dialect == unknown:
		return ErrDump
	case t.is("\\"): // a command to psql
		return r.s.skipLine() // it may be the last line
	}
	r.s.begun = true
	switch {
	case t.is(";"):
	case t.is("CREATE"):
		r.create()
	case t.is("INSERT"):
		r.insert()
	case t.is("COPY"):
		r.copy()
	case t.is("SET"):
		r.set()
	case t.is("ROLLBACK"):
		return errRolledBack
	case t.is("REPLACE"): // rows that must not be lost, in a form that only an option asks for
		return errSyntax
	default:
		r.s.ended = r.s.ended || r.s.dialect == sqlite && t.is("COMMIT")
		r.finish()
	}
	return r.broken
}

// set reads a setting, and records the character set. MySQL has it in a comment.
func (r *Reader) set() {
	t := r.next()
	if t.is(";") {
		return
	}
	if t.is("client_encoding") {
		r.expect("=")
		r.s.charset = r.next().text
	}
	r.finish()
}

func (r *Reader) finish() {
	r.s.skip = true
	defer func() { r.s.skip = false }()
	for !r.next().is(";") && r.broken == nil {
	}
}

func (r *Reader) tableName(t token) (string, token) {
	for {
		if t.kind == mark || t.kind == text {
			r.wrong()
			return "", t
		}
		table, next := strings.ToLower(t.text), r.next()
		if !next.is(".") {
			return table, next
		}
		t = r.next()
	}
}

func (r *Reader) insert() {
	r.expect("INTO")
	table, t := r.tableName(r.next())
	if !matters(table) {
		r.finish()
		return
	}
	names := r.columns[table]
	if t.is("(") {
		names, t = r.nameList()
	}
	if !t.is("VALUES") {
		r.wrong()
	}
	r.begin(table, names, false)
}

func (r *Reader) copy() {
	table, t := r.tableName(r.next())
	names := r.columns[table]
	if t.is("(") {
		names, _ = r.nameList()
	}
	if r.finish(); r.broken == nil {
		r.broken = within(r.s.skipLine())
	}
	r.begin(table, names, true)
}

func (r *Reader) begin(table string, names []string, copies bool) {
	if r.broken != nil {
		return
	}
	r.table, r.names, r.copies = table, names, copies
	switch {
	case !matters(table):
	case r.s.dialect != sqlite && !strings.HasPrefix(strings.ToLower(r.s.charset), "utf8"):
		r.broken = ErrCharset
	case names == nil:
		r.broken = errNoColumns
	default:
		r.broken = missing(table, names)
	}
}

// nameList reads names up to the closing bracket, and the token behind it.
func (r *Reader) nameList() (names []string, after token) {
	for r.broken == nil {
		switch t := r.next(); {
		case t.is(")"):
			return names, r.next()
		case t.kind == word || t.kind == name:
			names = r.withName(names, t)
		case !t.is(","):
			r.wrong()
		}
	}
	return nil, token{}
}

func (r *Reader) withName(names []string, t token) []string {
	if len(names) == maxColumns {
		r.broken = cmp.Or(r.broken, errColumns)
		return names
	}
	return append(names, strings.ToLower(t.text))
}
