//go:build unix

package instance

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pushbox/internal/testkit/env"
)

// The service runs as the owner of the directories, and root may run a command before it
// starts for the first time.
func TestWhatRootMakesBelongsToTheOwnerOfItsDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const service = 65534
	owned := func(uid int) string {
		dir := t.TempDir()
		env.OK(t, os.Chown(dir, uid, uid))
		return dir
	}
	for name, test := range map[string]struct {
		keys string // directory of the key file; empty: the data directory
		want uint32
	}{
		"the key beside the data":                {"", service},
		"the key in a directory of the service":  {owned(service), service},
		"the key in a directory of root's alone": {owned(0), 0},
	} {
		cfg := settingsFor(owned(service))
		if test.keys != "" {
			cfg.MasterKeyFile = filepath.Join(test.keys, "master.key")
		}
		closed(t, opened(t, cfg))
		for path, want := range map[string]uint32{cfg.KeyFile(): test.want, Database(cfg): service} {
			info := env.Must(os.Stat(path))(t)
			if got := info.Sys().(*syscall.Stat_t).Uid; got != want {
				t.Errorf("%s: %s belongs to %d, want %d", name, filepath.Base(path), got, want)
			}
		}
	}
}
