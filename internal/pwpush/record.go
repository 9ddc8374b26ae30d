package pwpush

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"pushbox/internal/secret"
)

// A RowError says why a row means nothing. Its text has nothing of the row but its number.
type RowError struct {
	Line   int
	Table  string
	ID     int64 // 0: not known
	Column string
	Err    error

	Push     Ref         // that the row belongs to; zero: none
	URLToken secret.Text // of a row that is a push; empty: it cannot be read
}

// Error says which row, and why.
func (e *RowError) Error() string {
	return fmt.Sprintf("line %d, table %s, row %d: %s %v", e.Line, e.Table, e.ID, e.Column, e.Err)
}

// Unwrap returns why.
func (e *RowError) Unwrap() error { return e.Err }

// A record is a row as the dump has it. Its methods return the value of a column, and keep the
// first error. A column that the table does not have is NULL.
type record struct {
	table  string
	line   int
	names  []string
	values []value
	err    *RowError

	of    Ref         // the push that it belongs to
	lost  bool        // which push that is cannot be read
	token secret.Text // of a push
}

func (r *record) row() (Row, error) {
	row := tables[r.table].row(r)
	if r.err != nil {
		r.err.ID, _ = strconv.ParseInt(r.get("id").text, 10, 64)
		r.err.Push, r.err.URLToken = r.of, r.token
		if r.lost { // without it the push would come, and this view of it be forgotten
			return nil, &DumpError{r.line, r.table, fmt.Errorf("row %d does not say which push it belongs to", r.err.ID)}
		}
		return nil, r.err
	}
	return row, nil
}

func (r *record) get(column string) value {
	i := slices.Index(r.names, column)
	if i < 0 {
		return value{null: true}
	}
	v := r.values[i]
	if v.err != nil {
		r.wrong(column, v.err)
		return value{null: true}
	}
	return v
}

func (r *record) wrong(column string, err error) {
	if r.err == nil {
		r.err = &RowError{Line: r.line, Table: r.table, Column: column, Err: err}
	}
}

func (r *record) text(column string) string {
	v := r.get(column)
	if !utf8.ValidString(v.text) {
		r.wrong(column, errors.New("is not text in UTF-8"))
		return ""
	}
	return v.text
}

func (r *record) secret(column string) secret.Text { return secret.New(r.text(column)) }

func (r *record) sealed(column string) Sealed {
	return Sealed{table: r.table, column: column, text: r.text(column)}
}

func (r *record) int(column string) int64 {
	v := r.get(column)
	if v.null {
		return 0
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil {
		r.wrong(column, errors.New("is not a whole number"))
	}
	return n
}

func (r *record) id(column string) int64 {
	n := r.int(column)
	if n <= 0 {
		r.wrong(column, errors.New("is not the number of a row"))
	}
	return n
}

func (r *record) count(column string) int {
	n := r.int(column)
	if n < 0 || n > 1<<31-1 {
		r.wrong(column, errors.New("is out of bounds"))
		return 0
	}
	return int(n)
}

func (r *record) bool(column string) bool {
	v := r.get(column)
	switch v.text {
	case "1", "t", "true", "TRUE":
		return true
	case "0", "f", "false", "FALSE":
		return false
	}
	if !v.null {
		r.wrong(column, errors.New("is neither true nor false"))
	}
	return false
}

// belongs notes the push that the row belongs to, and reports whether the column names one.
// Nothing else of the row is read before.
func (r *record) belongs(table, column string) bool {
	n := r.int(column)
	if r.lost = r.lost || r.err != nil; n > 0 {
		r.of = Ref{table, n}
	}
	return n > 0
}

func (r *record) time(column string) time.Time {
	v := r.get(column)
	if v.null {
		return time.Time{}
	}
	t, err := time.Parse(time.DateTime, v.text) // also with a fraction
	if err != nil || t.Year() < 1970 {
		r.wrong(column, errors.New("is not a time"))
		return time.Time{}
	}
	return t
}
