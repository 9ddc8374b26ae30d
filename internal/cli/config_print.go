package cli

import "github.com/spf13/cobra"

func (a *app) config() *cobra.Command {
	return group("config", "Look at the configuration", a.configPrint())
}

func (a *app) configPrint() *cobra.Command {
	return &cobra.Command{
		Use:     "print",
		Short:   "Print what is in force and where each value comes from",
		Long:    `Print every setting as YAML, with where its value comes from. Secrets are redacted.`,
		Example: `  pushbox config print --config /etc/pushbox.yaml`,
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
