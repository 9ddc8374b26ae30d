package pwpush

import "slices"

func (r *Reader) create() error {
	t, err := r.s.next()
	if err != nil {
		return within(err)
	}
	if t.is(";") {
		return nil
	}
	if !t.is("TABLE") {
		return r.finish()
	}
	for _, optional := range []string{"", "IF", "NOT", "EXISTS"} {
		if optional == "" || t.is(optional) {
			if t, err = r.s.next(); err != nil {
				return within(err)
			}
		}
	}
	table, t, err := r.tableName(t)
	switch {
	case err != nil:
		return err
	case t.is(";"):
		return nil
	case !t.is("(") || !matters(table):
		return r.finish()
	}
	return r.define(table)
}

func (r *Reader) define(table string) error {
	var names []string
	begins := true
	for depth := 1; depth > 0; {
		t, err := r.s.next()
		if err != nil {
			return within(err)
		}
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 1:
			begins = true
			continue
		case begins && r.isColumn(t):
			if names, err = withName(names, t); err != nil {
				return err
			}
		}
		begins = false
	}
	r.columns[table] = names
	return r.finish()
}

// isColumn reports whether a definition is that of a column, by its first token. PostgreSQL
// quotes only some names, and puts only checks beside columns.
func (r *Reader) isColumn(t token) bool {
	if t.kind == name {
		return true
	}
	others := []string{"CONSTRAINT"}
	if r.s.dialect != postgres {
		others = append(others, "PRIMARY", "UNIQUE", "KEY", "CHECK", "FOREIGN", "INDEX", "FULLTEXT")
	}
	return t.kind == word && !slices.ContainsFunc(others, t.is)
}
