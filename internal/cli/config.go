package cli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"pushbox/config"
)

func (a *app) config() *cobra.Command {
	return group("config", "Make, check and show the configuration", a.configInit(), a.configCheck(), a.configPrint())
}

func (a *app) configPrint() *cobra.Command {
	return &cobra.Command{
		Use:     "print",
		Short:   "Print the values in force and where each comes from",
		Long:    `Print every setting as YAML, with where its value comes from. Secrets are redacted.`,
		Example: `  pushbox config print --config /etc/pushbox/config.yaml`,
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := a.settings(cmd)
			if err != nil {
				return err
			}
			return loaded.Print(a.stdout)
		},
	}
}

const (
	dataDirFlag = "data-dir"
	listenFlag  = "listen"
)

// settings loads the configuration, under the flags that cmd was given.
func (a *app) settings(cmd *cobra.Command) (*config.Loaded, error) {
	return config.Load(a.source(cmd))
}

// source is where the configuration is read from. If neither a file nor a data directory is
// named, it is the file of the packaged service, if there is one: otherwise a command would
// work on a second, empty installation in the current directory.
func (a *app) source(cmd *cobra.Command) config.Source {
	flags := make(map[string]config.Flag)
	for name, key := range map[string]string{dataDirFlag: "data_dir", listenFlag: "listen"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			flags[key] = config.Flag{Name: "--" + name, Value: f.Value.String()}
		}
	}
	src := config.Source{File: a.configFile, Environ: a.environ, Flags: flags}
	if _, named := flags["data_dir"]; named || src.NamesPlace() || a.packaged == "" {
		return src
	}
	if _, err := os.Lstat(a.packaged); errors.Is(err, fs.ErrNotExist) {
		return src
	}
	src.File = a.packaged
	if !a.toldPackaged {
		a.say("using " + a.packaged + "; for another installation, name its file with --config or its directory with --data-dir")
		a.toldPackaged = true
	}
	return src
}
