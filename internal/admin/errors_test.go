package admin

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

func TestEachErrorOfTheStoreHasOneCode(t *testing.T) {
	t.Parallel()
	file := env.Must(parser.ParseFile(token.NewFileSet(), "../../store/record/errors.go", nil, 0))(t)
	sentinels := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Err") {
			sentinels++
		}
		return true
	})
	ours := 2 // ErrUnknown and context.Canceled
	if len(codes()) != sentinels+ours {
		t.Errorf("there are %d codes for %d errors of the store and %d others", len(codes()), sentinels, ours)
	}
	names, errs := map[string]bool{}, map[error]bool{}
	for _, c := range codes() {
		if names[c.name] || errs[c.err] {
			t.Errorf("%s or its error is there twice", c.name)
		}
		names[c.name], errs[c.err] = true, true
	}
}

func TestAnErrorCrossesWithItsMeaningAndItsWords(t *testing.T) {
	t.Parallel()
	for _, c := range codes() {
		in := fmt.Errorf("some more words: %w", c.err)
		out := newFailure(in).error()
		if !errors.Is(out, c.err) || out.Error() != in.Error() {
			t.Errorf("%v became %v", in, out)
		}
	}
}

func TestAnErrorOfOneKindIsNotTakenForAnother(t *testing.T) {
	t.Parallel()
	for _, in := range []error{errors.New("disk on fire"), &record.LockedError{RetryAfter: time.Second}, &record.InvalidError{Fields: map[string][]string{"email": {"is odd"}}}} {
		out := newFailure(in).error()
		if out.Error() != in.Error() {
			t.Errorf("%v became %v", in, out)
		}
		for _, c := range codes() {
			if errors.Is(in, c.err) != errors.Is(out, c.err) {
				t.Errorf("%v became %v", in, out)
			}
		}
	}
}
