// Package hint lets an error carry what its reader should do next.
package hint

import (
	"errors"
	"fmt"
)

type hinted struct {
	error
	next string
}

func (h *hinted) Unwrap() error { return h.error }

// With returns err with the next step, which the format and its arguments make.
func With(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// Of returns the next step that err carries: the outermost one. It is empty if there
// is none.
func Of(err error) string {
	if h := (*hinted)(nil); errors.As(err, &h) {
		return h.next
	}
	return ""
}
