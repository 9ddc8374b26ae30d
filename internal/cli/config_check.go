package cli

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/daemon"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
)

func (a *app) configCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check the configuration and list every mistake",
		Long: `Read the settings as the server would, from the file, the environment and the flags,
and list every mistake. Nothing is changed, and no server is asked. The exit code is 0
if there is no mistake, and 2 otherwise.

Files that settings name are not read here: "pushbox doctor" examines them too.`,
		Example: `  pushbox config check --config /etc/pushbox/config.yaml && systemctl reload pushbox`,
		Args:    arguments(),
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
				a.say(file + " is valid")
			} else {
				a.say("the configuration is valid; there is no file")
			}
			return nil
		},
	}
}

func (a *app) configInit() *cobra.Command {
	var short bool
	cmd := &cobra.Command{
		Use:   "init FILE",
		Short: "Write a settings file to begin with",
		Long: `Write a new settings FILE that only its owner can read. It has every setting with its
default and what it means, each as a comment: remove the # before those that you
change. With --short it has the settings that most installations change. An existing file
is never replaced.`,
		Example: `  pushbox config init pushbox.yaml
  pushbox config init --short pushbox.yaml
  pushbox serve --config pushbox.yaml`,
		Args: arguments("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			text := a.example
			if short {
				text = config.Short(text)
			}
			err := durable.NewFile(args[0], []byte(inComments(text)))
			if errors.Is(err, fs.ErrExist) {
				return hint.With(err, "name a file that does not exist yet")
			}
			if err != nil {
				return err
			}
			a.say("wrote " + args[0] + ": remove the # before each setting that you change, and before its section")
			return nil
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
