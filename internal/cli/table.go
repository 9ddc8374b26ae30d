package cli

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pushbox/internal/client"
	"pushbox/internal/clientip"
	"pushbox/internal/endtoend"
	"pushbox/internal/humanize"
	"pushbox/internal/secret"
	"pushbox/server/display"
	"pushbox/store"
)

const (
	maxTable = 32 << 20 // bytes of a table of pushes
	maxRows  = 10_000
)

// columns are the columns that a table may have. Only text must be there.
var columns = []string{"text", "name", "mail", "passphrase", "days", "views", "networks", "recipient"}

// A tableRow is a push of a table, and where it begins there.
type tableRow struct {
	line int
	push client.NewPush
}

// label is the row in the table of links, without its link.
func (r tableRow) label() []string {
	return []string{display.EscapeFormulas(r.push.Name.Reveal()), display.EscapeFormulas(cmp.Or(r.push.MailTo.Reveal(), r.push.Recipient.Reveal()))}
}

// parseTable reads a table whose first line names its columns. Spreadsheets write a byte order mark,
// CRLF, and in some countries semicolons; all of that is taken.
func parseTable(b []byte, base client.NewPush, endToEnd bool) (rows []tableRow, err error) {
	if len(b) > maxTable {
		return nil, fmt.Errorf("it is longer than %s: split it", humanize.Size(maxTable))
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if !utf8.Valid(b) {
		bad := 0
		for size := 0; bad < len(b); bad += size {
			var r rune
			if r, size = utf8.DecodeRune(b[bad:]); r == utf8.RuneError && size == 1 {
				break
			}
		}
		return nil, fmt.Errorf("line %d: it is not text in UTF-8: save the table as CSV UTF-8", 1+bytes.Count(b[:bad], []byte("\n")))
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.Comma = separator(b)
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	}
	if err != nil {
		return nil, csvError(err)
	}
	if head, err = checkHead(head); err != nil {
		return nil, err
	}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, csvError(err)
		}
		line, _ := r.FieldPos(0)
		if !slices.ContainsFunc(cells, func(cell string) bool { return cell != "" }) {
			continue // spreadsheets write empty rows
		}
		if len(rows) == maxRows {
			return nil, fmt.Errorf("line %d: it has more than %d rows: split it", line, maxRows)
		}
		p, err := parseRow(head, cells, base, endToEnd)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		rows = append(rows, tableRow{line, p})
	}
	if len(rows) == 0 {
		return nil, errors.New("it has no row below the names of its columns")
	}
	return rows, nil
}

// separator is the first character of the first line that separates cells.
func separator(b []byte) rune {
	first, _, _ := bytes.Cut(b, []byte("\n"))
	if i := bytes.IndexAny(first, ",;\t"); i >= 0 {
		return rune(first[i])
	}
	return ','
}

// csvError leaves everything but the place and the kind out of an error.
func csvError(err error) error {
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("line %d: %w", parse.StartLine, parse.Err)
	}
	return err
}

func checkHead(cells []string) (head []string, err error) {
	for _, cell := range cells {
		name := strings.ToLower(strings.TrimSpace(cell))
		switch {
		case !slices.Contains(columns, name):
			return nil, fmt.Errorf("line 1: it must name the columns, which can be %s; it has another one", strings.Join(columns, ", "))
		case slices.Contains(head, name):
			return nil, fmt.Errorf("line 1: the column %s is there twice", name)
		}
		head = append(head, name)
	}
	if !slices.Contains(head, "text") {
		return nil, errors.New("line 1: the column text is missing")
	}
	return head, nil
}

// parseRow is the push of a row. A limit that the row does not have is that of the flags.
func parseRow(head, cells []string, p client.NewPush, endToEnd bool) (_ client.NewPush, err error) {
	number := func(of *int, name, cell string) {
		if cell = strings.TrimSpace(cell); cell == "" {
			return
		}
		n, bad := strconv.Atoi(cell)
		if bad != nil || n < 1 {
			err = errors.Join(err, fmt.Errorf("%s must be a whole number of 1 or more", name))
		}
		*of = n
	}
	for i, cell := range cells {
		switch head[i] {
		case "text":
			p.Payload = secret.New(cell)
		case "name":
			p.Name = secret.New(cell)
		case "mail":
			p.MailTo = secret.New(strings.TrimSpace(cell))
		case "recipient":
			p.Recipient = secret.New(strings.TrimSpace(cell))
		case "passphrase":
			p.Passphrase = secret.New(cell)
		case "days":
			number(&p.Days, head[i], cell)
			if strings.TrimSpace(cell) != "" {
				p.ExpiresAt = time.Time{} // of the flags
			}
		case "views":
			number(&p.Views, head[i], cell)
		case "networks":
			if _, bad := clientip.ParseNetworks(cell); bad != nil {
				err = errors.Join(err, fmt.Errorf("networks %w", bad))
			}
			p.Networks = cmp.Or(strings.TrimSpace(cell), p.Networks)
		}
	}
	longest := store.MaxText
	if endToEnd {
		longest = endtoend.MaxText
	}
	switch {
	case err != nil:
		return p, err
	case p.Payload.IsZero():
		return p, errors.New("it has no text")
	case p.Payload.Len() > longest:
		return p, fmt.Errorf("its text is longer than %d bytes", longest)
	case endToEnd && !p.MailTo.IsZero():
		return p, errors.New("it has a mail, but the server cannot mail a link that is encrypted end to end: it does not know its key")
	}
	return p, nil
}
