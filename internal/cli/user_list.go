package cli

import (
	"github.com/spf13/cobra"

	"pushbox/internal/admin"
)

func (a *app) userList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List every account, oldest first",
		Example: `  pushbox user list`,
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			users, err := administer(a, cmd, admin.UserList, admin.None{})
			if err != nil {
				return err
			}
			rows := [][]string{{"EMAIL", "CREATED", "STATE"}}
			for _, u := range users {
				rows = append(rows, []string{u.Email, stamp(u.CreatedAt, "-"), userState(u)})
			}
			return writeTable(a.stdout, rows)
		},
	}
}

func userState(u admin.User) string {
	switch {
	case u.Removing:
		return "being removed"
	case u.Disabled:
		return "disabled"
	default:
		return "active"
	}
}
