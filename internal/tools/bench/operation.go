package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
)

// The operations. The first is all that happens to most secrets after their create.
const (
	lastView      = "last view" // the one view of a push: it ends the push
	plainView     = "view"      // of a push that allows more
	createPush    = "create"
	deletePush    = "delete"
	lastFileView  = "last view of a file"
	plainFileView = "view of a file"
	wrongWord     = "wrong passphrase"
	rightWord     = "right passphrase"
)

// operationNames are the operations in the order of the report.
var operationNames = []string{lastView, plainView, createPush, deletePush, lastFileView, plainFileView, wrongWord, rightWord}

const (
	manyViews = 100_000 // the view limit of pushes that are measured by views: the greatest that pushbox allows
	fewViews  = 5       // the view limit of other pushes

	mostSlow = 16 // connections for slow operations

	passphrase = "right"
	rightQuery = "?passphrase=" + passphrase
	wrongQuery = "?passphrase=wrong"
)

// An operation is a request that is repeated on a subject.
type operation struct {
	subject *subject
	name    string
	beside  string                 // the operation with which a report compares it; "": none
	next    func() (request, bool) // may be called concurrently; false when the stock is empty
	stock   *stock                 // the pushes that it ends; nil: it ends none
	check   func(answer []byte) error
	slow    bool // a core is busy with one request for long, so that more connections only wait
}

// operations returns the operations to measure, in the order of the report.
func (s *subject) operations(o options) []operation {
	p := push{payload: payload(o.payload), views: fewViews}
	if s.name == bareWord {
		return []operation{{subject: s, name: bareWord, next: always(s.api.create(p)), check: checkBare}}
	}
	once, file, many := p, p, p
	once.views, many.views = 1, manyViews
	file.views, file.file = 1, true
	created := func(answer []byte) error {
		_, err := s.api.tokenIn(answer)
		return err
	}
	viewed := func(answer []byte) error { return s.api.checkView(answer, p.payload) }
	refused := func([]byte) error { return nil } // the status says it

	all := []operation{ends(lastView, plainView, s.create(once), s.api.view, viewed)}
	if s.api.plain {
		all = append(all, operation{name: plainView, next: oneOf(s.tokens, s.api.view), check: viewed})
	}
	all = append(all, operation{name: createPush, next: always(s.create(p)), check: created})
	if s.api.deletes {
		all = append(all, ends(deletePush, plainView, s.create(many), s.remove, created))
	}
	if s.path != "" {
		all = append(all,
			ends(lastFileView, plainFileView, s.create(file), s.api.view, viewed),
			operation{name: plainFileView, next: oneOf(s.files, s.api.view), check: viewed},
			operation{name: wrongWord, beside: rightWord, next: oneOf(s.locked, s.api.viewWith(wrongQuery, http.StatusUnauthorized)), check: refused, slow: true},
			operation{name: rightWord, next: oneOf(s.locked, s.api.viewWith(rightQuery, http.StatusOK)), check: viewed, slow: true})
	}
	measured := all[:0]
	for _, op := range all {
		if op.subject = s; o.measures(op.name) {
			measured = append(measured, op)
		}
	}
	return measured
}

// ends makes an operation of which each request ends a push that create has made.
func ends(name, beside string, create request, end func(token string) request, check func([]byte) error) operation {
	st := &stock{create: create}
	return operation{name: name, beside: beside, stock: st, check: check, next: func() (request, bool) {
		token, ok := st.take()
		return end(token), ok
	}}
}

// always makes the same request.
func always(r request) func() (request, bool) { return func() (request, bool) { return r, true } }

// oneOf makes a request for one of the pushes, at random.
func oneOf(tokens []string, of func(token string) request) func() (request, bool) {
	return func() (request, bool) { return of(tokens[rand.IntN(len(tokens))]), true }
}

func checkBare(answer []byte) error {
	if len(answer) != bareLength {
		return fmt.Errorf("the bare handler answered %d bytes", len(answer))
	}
	return nil
}

// payload is a text of n letters.
func payload(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return string(b)
}
