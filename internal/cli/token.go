package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) token() *cobra.Command {
	return group("token", "Manage API tokens", a.tokenCreate(), a.tokenList(), a.tokenRevoke())
}

// A lifetime is a flag that takes a number of days, such as 90d, or what
// time.ParseDuration takes.
type lifetime time.Duration

const (
	day         = 24 * time.Hour
	maxLifetime = 36500 * day
)

var errLifetime = errors.New("must be a length of time such as 90d or 12h, more than 0 and at most 36500d")

// Set reads the flag's value.
func (l *lifetime) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * day
	}
	if err != nil || d <= 0 || d > maxLifetime {
		return errLifetime
	}
	*l = lifetime(d)
	return nil
}

// String is the value shown as the default: none.
func (*lifetime) String() string { return "" }

// Type is what help calls the value.
func (*lifetime) Type() string { return "duration" }
