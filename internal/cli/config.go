package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/daemon"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/rights"
)

func (a *app) configPrint() *cobra.Command {
	return &cobra.Command{
		Use:     "print",
		Short:   "Print the values in force and where each comes from",
		Long:    `Print every setting as YAML, with where its value comes from. Secrets are redacted.`,
		Example: `  pushbox config print --config /etc/pushbox/config.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := config.Load(a.source(cmd))
			if err != nil {
				return err
			}
			return loaded.Print(a.stdout)
		},
	}
}

func (a *app) configCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check the configuration and list every mistake",
		Long: `Read the settings as the server would, from the file, the environment and the flags,
and list every mistake. Nothing is changed, and no server is asked. The exit code is 0
if there is no mistake, and 2 otherwise.

Files that settings name are not read here: "pushbox doctor" examines them too.`,
		Example: `  pushbox config check --config /etc/pushbox/config.yaml && systemctl reload pushbox`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			src := a.source(cmd)
			loaded, err := config.Load(src)
			if err != nil {
				return err
			}
			if err := daemon.CheckDirectory(loaded.Config.LDAP); err != nil {
				return hint.With(&usageError{err}, "correct this setting; `pushbox config init FILE` writes a file that explains it")
			}
			if file := src.Path(); file != "" {
				return a.done(nil, "%s is valid", file)
			}
			return a.done(nil, "the configuration is valid; there is no file")
		},
	}
}

func (a *app) configInit() *cobra.Command {
	var short bool
	cmd := &cobra.Command{
		Use:   "init FILE",
		Short: "Write a new settings file",
		Long: `Write a new settings FILE that only its owner can read. It has every setting with its
default and what it means, each as a comment: remove the # before those that you
change. With --short it has the settings that most installations change. An existing file
is never replaced.`,
		Example: `  pushbox config init pushbox.yaml
  pushbox config init --short pushbox.yaml
  pushbox serve --config pushbox.yaml`,
		RunE: func(_ *cobra.Command, args []string) error {
			text := a.example
			if short {
				text = config.Short(text)
			}
			err := rights.Beside(args[0], func() error { return durable.NewFile(args[0], []byte(inComments(text))) })
			return a.done(nameAnother(err), "wrote %s: remove the # before each setting that you change, and before its section", args[0])
		},
	}
	cmd.Flags().BoolVar(&short, "short", false, "write the settings that most installations change")
	return cmd
}

// inComments puts # before each line of a settings file that is a setting or a section.
func inComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "#") {
			b.WriteString("#")
		}
		b.WriteString(line)
	}
	return strings.Replace(b.String(), "Keep those that you change.", "Remove the # before those that you change.", 1)
}

const (
	dataDirFlag = "data-dir"
	listenFlag  = "listen"
)

// settings loads the configuration, under the flags that cmd was given. Then a command of root works with the rights of
// the user to whom the data directory belongs.
func (a *app) settings(cmd *cobra.Command) (cfg config.Config, err error) {
	err = rights.AsCaller(func() error {
		loaded, err := config.Load(a.source(cmd))
		if err == nil {
			cfg = loaded.Config
		}
		return err
	})
	if err == nil {
		err = rights.Take(cfg.DataDir)
	}
	return cfg, err
}

// configured returns the function of a command that needs the settings.
func (a *app) configured(run func(cmd *cobra.Command, args []string, cfg config.Config) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := a.settings(cmd)
		if err != nil {
			return err
		}
		return run(cmd, args, cfg)
	}
}

// source is where the configuration is read from. If neither a file nor a data directory is
// named, it is the file of the packaged service, if there is one: otherwise a command would
// work on a second, empty installation in the current directory.
func (a *app) source(cmd *cobra.Command) config.Source {
	flags := givenFlags(cmd, dataDirFlag, listenFlag)
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

// givenFlags returns those of the flags that cmd was given, by the keys of their settings.
func givenFlags(cmd *cobra.Command, names ...string) map[string]config.Flag {
	flags := make(map[string]config.Flag)
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			flags[strings.ReplaceAll(name, "-", "_")] = config.Flag{Name: "--" + name, Value: f.Value.String()}
		}
	}
	return flags
}
