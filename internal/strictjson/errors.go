package strictjson

import (
	"errors"
	"fmt"
)

// Errors of reading a value. After ErrKind and ErrTooLong decoding can continue.
var (
	// ErrSyntax says that the text is not strict JSON; it comes as a *SyntaxError.
	ErrSyntax = errors.New("the text is not strict JSON")
	// ErrKind says that the value has the wrong type. It was not consumed.
	ErrKind = errors.New("the value has the wrong type")
	// ErrTooLong says that a string is longer than the caller allows. It was
	// consumed, and is well formed.
	ErrTooLong = errors.New("the string is too long")
)

// A SyntaxError is an ErrSyntax that says where and why. It never holds any of the
// text.
type SyntaxError struct {
	Offset int64  // in bytes from the start of the text
	Reason string // one of the fixed texts below
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset)
}

// Unwrap returns ErrSyntax.
func (*SyntaxError) Unwrap() error { return ErrSyntax }

// The reasons of a SyntaxError.
const (
	reasonEnd       = "the text ends too soon"
	reasonValue     = "a value was expected"
	reasonSecond    = "a second value"
	reasonSeparator = "a comma or a closing bracket was expected"
	reasonKey       = "a key was expected"
	reasonColon     = "a colon was expected"
	reasonDepth     = "the nesting is too deep"
	reasonDuplicate = "a key appears twice in an object"
	reasonMembers   = "an object has too many members"
	reasonKeyLength = "the keys are too long"
	reasonLiteral   = "a number or word is not valid"
	reasonControl   = "a control character in a string"
	reasonUTF8      = "the text is not valid UTF-8"
	reasonEscape    = "an escape is not valid"
	reasonSurrogate = "an incomplete surrogate pair"
)
