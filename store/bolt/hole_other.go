//go:build !linux

package bolt

import (
	"errors"
	"os"
)

// punch is not supported on this system.
func punch(*os.File, int64, int64) error { return errors.ErrUnsupported }
