package pwpush

import "slices"

func (r *Reader) create() {
	t := r.next()
	if t.is(";") {
		return
	}
	if !t.is("TABLE") {
		r.finish()
		return
	}
	for _, optional := range []string{"", "IF", "NOT", "EXISTS"} {
		if optional == "" || t.is(optional) {
			t = r.next()
		}
	}
	switch table, t := r.tableName(t); {
	case t.is(";"):
	case !t.is("(") || !matters(table):
		r.finish()
	default:
		r.define(table)
	}
}

func (r *Reader) define(table string) {
	var names []string
	begins := true
	for depth := 1; depth > 0 && r.broken == nil; {
		switch t := r.next(); {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 1:
			begins = true
			continue
		case begins && r.isColumn(t):
			names = r.withName(names, t)
		}
		begins = false
	}
	r.columns[table] = names
	r.finish()
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
