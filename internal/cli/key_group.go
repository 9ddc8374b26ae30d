package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/store"
)

func (a *app) key() *cobra.Command {
	return group("key", "Keep, move and replace the master key", a.keyExport(), a.keyImport(), a.keyRotate())
}

// credentialsVar names the directory in which systemd hands files over.
const credentialsVar = "CREDENTIALS_DIRECTORY="

// rootKeeper says where the master key is kept, and whether it can be replaced
// there: what systemd or a container hands over is a copy, which goes with the
// process, and a key that is in that copy alone would go with it.
func rootKeeper(cfg config.Config, environ []string) store.RootKeeper {
	if !cfg.MasterKey.IsZero() {
		return store.RootKeeper{Fixed: "the setting master_key"}
	}
	path, err := filepath.Abs(cfg.KeyFile())
	if err != nil {
		path = cfg.KeyFile()
	}
	lenders := []string{"/run/credentials", "/run/secrets"}
	for _, v := range environ {
		if dir, ok := strings.CutPrefix(v, credentialsVar); ok && dir != "" {
			lenders = append(lenders, dir)
		}
	}
	for _, dir := range lenders {
		if strings.HasPrefix(path, strings.TrimRight(dir, "/")+string(os.PathSeparator)) {
			return store.RootKeeper{Fixed: "a copy that was handed over, " + path}
		}
	}
	return store.RootKeeper{File: path}
}
