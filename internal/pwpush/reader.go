package pwpush

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Errors of a dump as a whole. A *DumpError says where.
var (
	// ErrDump is a file that is not a dump that Reader knows.
	ErrDump = errors.New("this is not a dump of SQLite, PostgreSQL or MySQL as plain SQL, from its first line on")

	// ErrCharset is a dump whose texts have another character set, or none that it says.
	ErrCharset = errors.New("the dump does not say that its texts are in UTF-8")

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
	failed  error               // once the dump cannot be read on
}

// NewReader returns a Reader of a dump.
func NewReader(dump io.Reader) *Reader {
	return &Reader{s: newScanner(dump), columns: make(map[string][]string)}
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

// record reads the next row as it is.
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
			return newRecord(r.table, line, r.names, values), nil
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
	t, err := r.s.next()
	*line = r.s.line
	switch {
	case err != nil:
		return nil, within(err)
	case t.is(","):
		return nil, nil
	case t.is(";"):
		r.table = ""
		return nil, nil
	case !t.is("("):
		return nil, errSyntax
	}
	return r.tuple()
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
		return nil
	case t.is("CREATE"):
		return r.create()
	case t.is("INSERT"):
		return r.insert()
	case t.is("COPY"):
		return r.copy()
	case t.is("SET"):
		return r.set()
	case t.is("ROLLBACK"):
		return errRolledBack
	case t.is("REPLACE"): // rows that must not be lost, in a form that only an option asks for
		return errSyntax
	}
	r.s.ended = r.s.ended || r.s.dialect == sqlite && t.is("COMMIT")
	return r.finish()
}

// set reads a setting, and notes that of the character set. MySQL has it in a comment.
func (r *Reader) set() error {
	t, err := r.s.next()
	if err != nil || t.is(";") {
		return within(err)
	}
	if t.is("client_encoding") {
		if err := r.expect("="); err != nil {
			return err
		}
		if t, err = r.s.next(); err != nil {
			return within(err)
		}
		r.s.charset = t.text
	}
	return r.finish()
}

func (r *Reader) finish() error {
	r.s.skip = true
	defer func() { r.s.skip = false }()
	for {
		if t, err := r.s.next(); err != nil || t.is(";") {
			return within(err)
		}
	}
}

func (r *Reader) tableName(t token) (string, token, error) {
	for {
		table := strings.ToLower(t.text)
		if t.kind == mark || t.kind == text {
			return "", t, errSyntax
		}
		next, err := r.s.next()
		if err != nil || !next.is(".") {
			return table, next, within(err)
		}
		if t, err = r.s.next(); err != nil {
			return "", t, within(err)
		}
	}
}

func (r *Reader) insert() error {
	into, err := r.s.next()
	if err != nil || !into.is("INTO") {
		return wrong(err)
	}
	t, err := r.s.next()
	if err != nil {
		return within(err)
	}
	table, t, err := r.tableName(t)
	if err != nil {
		return err
	}
	if !matters(table) {
		return r.finish()
	}
	names := r.columns[table]
	if t.is("(") {
		if names, t, err = r.nameList(); err != nil {
			return err
		}
	}
	if !t.is("VALUES") {
		return errSyntax
	}
	return r.begin(table, names, false)
}

func (r *Reader) copy() error {
	t, err := r.s.next()
	if err != nil {
		return within(err)
	}
	table, t, err := r.tableName(t)
	if err != nil {
		return err
	}
	names := r.columns[table]
	if t.is("(") {
		if names, _, err = r.nameList(); err != nil {
			return err
		}
	}
	if err := r.finish(); err != nil {
		return err
	}
	if err := r.s.skipLine(); err != nil {
		return within(err)
	}
	return r.begin(table, names, true)
}

func (r *Reader) begin(table string, names []string, copies bool) error {
	r.table, r.names, r.copies = table, names, copies
	if !matters(table) {
		return nil
	}
	if r.s.dialect != sqlite && !strings.HasPrefix(strings.ToLower(r.s.charset), "utf8") {
		return ErrCharset
	}
	if names == nil {
		return errNoColumns
	}
	return missing(table, names)
}

// nameList reads names up to the closing bracket, and the token behind it.
func (r *Reader) nameList() (names []string, after token, err error) {
	for {
		t, err := r.s.next()
		switch {
		case err != nil:
			return nil, t, within(err)
		case t.is(")"):
			after, err = r.s.next()
			return names, after, within(err)
		case t.kind == word || t.kind == name:
			if names, err = withName(names, t); err != nil {
				return nil, t, err
			}
		case !t.is(","):
			return nil, t, errSyntax
		}
	}
}

func withName(names []string, t token) ([]string, error) {
	if len(names) == maxColumns {
		return nil, errColumns
	}
	return append(names, strings.ToLower(t.text)), nil
}

func wrong(err error) error {
	if err != nil {
		return within(err)
	}
	return errSyntax
}
